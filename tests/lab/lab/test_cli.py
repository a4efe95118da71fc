"""`wulf lab` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.lab.conftest import left_of
from wulf import lab

pytestmark = pytest.mark.lab


def wulf(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wulf.cli.main", "lab", *words], capture_output=True, text=True, timeout=60, check=False
    )


def test_the_whole_story(netns: None, lab_name: str) -> None:
    named = ("--name", lab_name)
    up = wulf("up", "--nodes", "3", "--rate", "1gbit", *named)
    assert up.returncode == 0, up.stderr
    assert f"ssh -F {lab.find(lab_name).ssh_config} n1" in up.stdout

    assert wulf("set", "n3", "--rate", "200mbit", *named).returncode == 0
    (shown,) = json.loads(wulf("status", "--json", *named).stdout)
    assert [node["rate"] for node in shown["nodes"]] == ["1gbit", "1gbit", "200mbit"]
    assert all(node["up"] for node in shown["nodes"])
    assert "200mbit" in wulf("status", *named).stdout

    ran = wulf("exec", *named, "n2", "--", "sh", "-c", "hostname; exit 3")
    assert (ran.returncode, ran.stdout) == (3, "n2\n")

    again = wulf("up", *named)
    assert (again.returncode, "up already" in again.stderr) == (2, True)
    assert wulf("down", *named).stdout == "The lab is down.\n"
    assert left_of(lab_name) == []


@pytest.mark.parametrize(
    "words, text",
    [
        (["up", "--nodes", "0"], "can't have 0 nodes"),
        (["up", "--nodes", "201"], "can't have 201 nodes"),
        (["up", "--rate", "0"], "n1: tc can't shape a link to 0"),
        (["up", "--backend", "vmware"], "no backend 'vmware'"),
        (["set", "n1", "--rate", "1gbit"], "is not up"),
        (["exec", "n1", "--", "true"], "is not up"),
    ],
)
def test_bad_input_is_exit_2_with_the_reason(lab_name: str, words: list[str], text: str) -> None:
    words.insert(1, f"--name={lab_name}")
    ran = wulf(*words)
    assert ran.returncode == 2
    assert text in ran.stderr
    assert "Traceback" not in ran.stderr
    assert lab.find(lab_name) is None


def test_down_without_a_lab_is_well(lab_name: str) -> None:
    ran = wulf("down", "--name", lab_name)
    assert (ran.returncode, ran.stdout) == (0, f"The lab {lab_name!r} is not up.\n")
