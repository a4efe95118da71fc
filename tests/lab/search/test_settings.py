"""`wulf search` with settings of nodes on a lab: they are varied for a run alone, and restored whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.lab.conftest import ssh
from tests.processes import wait_until
from wulf import lab
from wulf.cli.main import cli

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

QUEUE = "/proc/sys/net/core/somaxconn"
HANGS_AT = 2345

MY = """
command = "sh -c 'echo is $(cat {queue}); {then}'"
figure = "is ([0-9]+)"
better = "higher"
[settings]
"net.somaxconn" = [{now}, 1234, {best}]
"""
"""A program whose figure is what the setting is: nothing else can win."""

RESTORED_SECONDS = 180.0
"""The lease, with time to spare: only a watchdog that is not there takes longer."""


def queue(made: lab.Lab) -> str:
    return ssh(made, "n1", f"cat {QUEUE}").stdout.strip()


def my(tmp_path: Path, now: str, best: int, then: str = "true") -> str:
    path = tmp_path / "my.toml"
    path.write_text(MY.format(queue=QUEUE, now=now, best=best, then=then))
    return str(path)


@pytest.mark.full
def test_a_setting_is_varied_and_restored(two_nodes: lab.Lab, tmp_path: Path) -> None:
    before = queue(two_nodes)
    best = int(before) + 1000
    words = ["search", my(tmp_path, before, best), "n1", "--lab", "running", "--quick", "--seed", "3"]
    plan = CliRunner().invoke(cli, words, standalone_mode=False)
    assert plan.exception is None, plan.exception
    assert f"now {before}; tried: {before}, 1234, {best}" in plan.output and queue(two_nodes) == before
    out = tmp_path / "run"
    done = CliRunner().invoke(cli, [*words, "--apply", "--out", str(out)], standalone_mode=False)
    assert done.exception is None, done.exception
    found = json.loads((out / "search.json").read_text())
    assert done.return_value == 0 and found["winner"] == {"net.somaxconn": best}
    assert found["value"]["value"] == best and not found["failed"]
    assert {figure for one in found["best"] for figure in one["figures"]} <= {float(before), 1234.0, float(best)}
    assert found["settings"]["same"] is True and not found["settings"]["leftovers"]
    assert queue(two_nodes) == before


@pytest.mark.full
def test_after_kill_9_the_node_restores_it_by_itself(two_nodes: lab.Lab, tmp_path: Path) -> None:
    before = queue(two_nodes)
    hangs = f"[ $(cat {QUEUE}) != {HANGS_AT} ] || sleep 611"
    words = [my(tmp_path, before, HANGS_AT, hangs), "n1", "--lab", "running", "--apply", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        [sys.executable, "-m", "wulf.cli.main", "search", *words], cwd=tmp_path, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        assert wait_until(
            lambda: process.poll() is not None or ssh(two_nodes, "n1", "pgrep -f -x 'sleep 611'").stdout != "",
            RESTORED_SECONDS,
        )
        assert process.poll() is None and queue(two_nodes) == str(HANGS_AT)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    assert wait_until(lambda: queue(two_nodes) == before, RESTORED_SECONDS)
