"""What an operation starts ends with the session, with all that it started itself."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.processes import PATIENCE, gone, text_when_there
from wulf.agent.kernel import LiveKernel
from wulf.agent.processes import children
from wulf.agent.session import Refused
from wulf.agent.unknown import Unknown


@pytest.fixture(autouse=True)
def _a_session_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "_ended", threading.Event())


def grandchild(path: Path) -> list[str]:
    return ["sh", "-c", f"sleep 600 & echo $! > {path}.new; mv {path}.new {path}; wait"]


def test_a_commands_status_and_words() -> None:
    done = children.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert children.run(["sh", "-c", "echo err >&2"], joined=True).stdout == "err\n"


def test_the_sessions_end_ends_children_and_theirs_and_nothing_starts_any_more(tmp_path: Path) -> None:
    done: list[subprocess.CompletedProcess[str]] = []
    thread = threading.Thread(target=lambda: done.append(children.run(grandchild(tmp_path / "pid"))))
    thread.start()
    pid = int(text_when_there(tmp_path / "pid"))
    children.end_all()
    thread.join(PATIENCE)
    assert done[0].returncode == -9
    assert gone(pid)
    with pytest.raises(Refused, match="the session is ending"):
        children.run(["true"])


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        children.run(grandchild(tmp_path / "pid"), timeout=0.5)
    assert not (tmp_path / "pid").exists() or gone(int((tmp_path / "pid").read_text()))


def test_output_is_read_up_to_a_bound_and_who_prints_on_is_ended() -> None:
    assert children.run(["echo", "short"], joined=True, timeout=PATIENCE, most=100).stdout == "short\n"
    endless = children.run(["yes"], joined=True, timeout=PATIENCE, most=1000)
    assert (len(endless.stdout), endless.returncode < 0) == (1000, True)


def test_bounded_output_has_its_time_too(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        children.run(grandchild(tmp_path / "pid"), joined=True, timeout=0.5, most=1000)
    assert not (tmp_path / "pid").exists() or gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("""echo '{"lldp": {}}'""", '{"lldp": {}}\n'),
        ("echo no socket >&2; exit 1", "lldpctl -f json failed: no socket"),
        ("head -c 2000000 /dev/zero", "printed more than 1048576 bytes"),
    ],
)
def test_neighbours_are_asked_of_lldpctl(does: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "lldpctl"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    try:
        assert LiveKernel().ask("neighbours") == said
    except Unknown as unknown:
        assert said in unknown.reason
