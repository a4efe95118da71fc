"""The agent's requests and its words by hand, through real processes; nothing of this machine is changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HANGS = 60.0


def run(folder: Path, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WULF_STATE": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "wulf.agent", *arguments]
    return subprocess.run(
        command, env=environment, input=said, capture_output=True, text=True, timeout=HANGS, check=False
    )


def ask(folder: Path, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps({"id": number, **each}) + "\n" for number, each in enumerate(requests))
    answers = [json.loads(line) for line in run(folder, said=lines).stdout.splitlines()[1:]]
    return sorted(answers, key=lambda answer: answer["id"])


KEY = {"name": "a.b", "mechanism": "sysctl", "target": {"key": "net.ipv4.wulf_has_no_such_key"}, "place": ""}
GOOD = {"op": "change_apply", "campaign": "c1", "settings": [{**KEY, "value": 1}]}
BAD = [
    ({**GOOD, "campaign": ""}, "campaign"),
    ({**GOOD, "confirm": 0}, "confirm"),
    ({**GOOD, "confirm": True}, "confirm"),
    ({**GOOD, "lease": 1e9}, "lease"),
    ({**GOOD, "settings": []}, "settings"),
    ({**GOOD, "settings": [KEY]}, "value"),
    ({**GOOD, "settings": [{**KEY, "value": 1, "mechanism": "magic"}]}, "mechanism"),
    ({**GOOD, "settings": [{**KEY, "value": 1, "target": {"path": "x"}}]}, "target"),
    ({**GOOD, "settings": [{**KEY, "value": 1, "place": None}]}, "place"),
    ({**GOOD, "settings": [{**KEY, "value": 1, "resets": [{"name": "x"}]}]}, "mechanism"),
    ({"op": "change_confirm", "campaign": "c1", "change": "1"}, "change"),
    ({"op": "change_renew", "campaign": 5}, "campaign"),
    ({"op": "change_keep", "campaign": "c1", "names": "a.b"}, "names"),
    ({"op": "change_revert", "names": [1]}, "names"),
    ({"op": "change_revert", "places": "eth0"}, "places"),
    ({"op": "change_revert", "campaign": 3}, "campaign"),
    ({"op": "change_end", "campaign": None}, "campaign"),
]


def test_requests_that_are_not_understood(tmp_path: Path) -> None:
    errors = [answer["error"] for answer in ask(tmp_path, *(request for request, _ in BAD))]
    assert [(error["code"], error["field"]) for error in errors] == [("bad-parameter", field) for _, field in BAD]
    assert list(tmp_path.iterdir()) == [] or [path.name for path in (tmp_path / "changes").iterdir()] == ["guard"]


def test_what_is_not_there_is_refused_before_anything_is_begun(tmp_path: Path) -> None:
    (answer,) = ask(tmp_path, GOOD)
    assert answer["error"]["code"] == "preflight"
    assert "a.b: no /proc/sys/net/ipv4/wulf_has_no_such_key" in answer["error"]["message"]
    assert list((tmp_path / "changes").iterdir()) == []


def test_a_node_that_was_never_changed(tmp_path: Path) -> None:
    found, back = ask(tmp_path, {"op": "change_status"}, {"op": "change_revert"})
    assert (found["lock"], found["open"], found["problems"], back["results"]) == (None, [], [], [])
    for arguments in (["--changes"], ["--revert"], ["--revert", "c1"]):
        done = run(tmp_path, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert "nothing is changed here" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_journal_by_hand(tmp_path: Path) -> None:
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/journal.jsonl").write_text("a word\n")
    shown = run(tmp_path, "--changes")
    assert shown.returncode == 1
    assert "journal line 1: a word\nproblem: " in shown.stdout
    back = run(tmp_path, "--revert")
    assert (back.returncode, back.stdout) == (3, "")
    assert "journal.jsonl, line 1, is damaged: " in back.stderr
    assert ask(tmp_path, {"op": "change_revert"})[0]["error"]["code"] == "journal"


@pytest.mark.parametrize("arguments", [["--changes", "c1"], ["--revert", "c1", "c2"], ["--watchdog", "now"]])
def test_words_that_are_not_understood(tmp_path: Path, arguments: list[str]) -> None:
    assert run(tmp_path, *arguments).returncode == 2
