"""A sentry under a real Slurm: idle nodes alone, jobs that give way, nodes that are drained and resumed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import slurm_of
from tests.lab.sentry.watching import WULF, differences, is_sound, rows
from tests.processes import wait_until
from wulf import lab as labs

pytestmark = [pytest.mark.lab, pytest.mark.full]
PATIENCE_S = 90.0

COMMON = """
nodes = "n[1-3]"
[idle]
by = "slurm"
options = { partition = "short" }
[budget]
node_minutes = 100000
at_once = 3
rest = 1
"""

TABLE = '[[check]]\nname = "scratch"\nkind = "writable"\nseconds = 10\npaths = ["/run/tmp/scratch"]\n'


@pytest.fixture(scope="module")
def slurm(netns: None) -> Iterator[labs.Lab]:
    with slurm_of(3) as made:
        yield made


def inside(lab: labs.Lab, node: str, *words: str) -> list[str]:
    return [*WULF, "lab", "exec", "--name", lab.name, node, "--", *words]


def on(lab: labs.Lab, *words: str, node: str = "n1") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        inside(lab, node, *words), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, check=False
    )


def sentry(lab: labs.Lab, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return on(lab, *WULF, "sentry", *map(str, words))


def jobs(lab: labs.Lab) -> list[str]:
    return on(lab, "squeue", "--noheader", "--format=%i %T %P").stdout.splitlines()


def measure(name: str, command: list[str], **more: object) -> str:
    fields = {"name": name, "command": command, "every": 3600, "seconds": 3, **more}
    return "[[measure]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())


def plan_of(folder: Path, *measures: str, tell: str = "") -> Path:
    path = folder / "plan.toml"
    head, rest = COMMON.split("[idle]")
    path.write_text(f"{head}{''.join(measures)}[idle]{rest}{tell}")
    return path


def slurm_says(lab: labs.Lab, node: str) -> tuple[str, str]:
    state, _, reason = (
        on(lab, "sinfo", "--noheader", f"--nodes={node}", "--partition=main", "--format=%T|%E")
        .stdout.strip()
        .partition("|")
    )
    return state, reason


def test_idle_nodes_alone_are_measured_each_as_a_job(slurm: labs.Lab, tmp_path: Path) -> None:
    state = tmp_path / "sentry.db"
    plan = plan_of(tmp_path, measure("syscall", ["node", "--probe", "syscall", "--quick"]))
    words = inside(slurm, "n1", "srun", "--partition=main", "--nodelist=n2", "-N1", "--exclusive", "sleep", "300")
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as busy:
        assert wait_until(lambda: any("RUNNING" in job for job in jobs(slurm)), PATIENCE_S)
        done = sentry(slurm, "once", plan, "--state", state, "--for", "1")
        assert done.returncode == 0, done.stderr
        assert sorted(rows(state, "SELECT node FROM measured")) == [("n1",), ("n3",)], done.stderr
        on(slurm, "scancel", "--user=root")
        busy.wait(PATIENCE_S)
    assert {where for (where,) in rows(state, "SELECT state FROM measurement")} == {"done"}
    assert differences(state, plan, at_rest=True) == []
    assert wait_until(lambda: jobs(slurm) == [], PATIENCE_S)


def test_a_measurement_that_gives_way_to_a_job_is_no_failure_and_made_later(slurm: labs.Lab, tmp_path: Path) -> None:
    state = tmp_path / "sentry.db"
    command = ["node", "--probe", "syscall", "--width", "0.001%", "--budget", "15s"]
    plan = plan_of(tmp_path, measure("syscall", command))
    with subprocess.Popen(
        inside(slurm, "n1", *WULF, "sentry", "once", str(plan), "--state", str(state), "--for", "1"),
        stderr=subprocess.PIPE, text=True,
    ) as watching:  # fmt: skip
        assert wait_until(lambda: len([job for job in jobs(slurm) if "RUNNING short" in job]) == 3, PATIENCE_S)
        runs = state.with_name("sentry-runs")
        assert wait_until(lambda: len(list(runs.glob("*/plan.json"))) == 3, PATIENCE_S)
        assert on(slurm, "srun", "--partition=main", "--nodelist=n3", "-N1", "--exclusive", "true").returncode == 0
        _, said = watching.communicate(timeout=PATIENCE_S)
    found = dict(rows(state, "SELECT nodes, state FROM measurement"))
    assert found == {'["n1"]': "done", '["n2"]': "done", '["n3"]': "preempted"}, said
    assert differences(state, plan, at_rest=True) == []
    again: list[str] = []

    def measured() -> bool:
        again.append(sentry(slurm, "once", plan, "--state", state, "--for", "1").stderr)
        return ("n3",) in rows(state, "SELECT node FROM measured")

    assert wait_until(measured, 150), again
    assert rows(state, "SELECT COUNT(*) FROM incident") == [(0,)]
    assert is_sound(state)
    assert wait_until(lambda: jobs(slurm) == [], PATIENCE_S)


def test_an_ill_node_is_drained_and_resumed_and_one_that_others_drained_is_left_alone(
    slurm: labs.Lab, tmp_path: Path
) -> None:
    state, table = tmp_path / "sentry.db", tmp_path / "checks.toml"
    table.write_text(TABLE)
    command = ["check", "--program", f"{sys.executable} -m wulf.cli.main", "--checks", str(table)]
    plan = plan_of(
        tmp_path, measure("check", command, every=1, nodes_at_once=3, on="any"),
        tell="[tell]\ndrain = true\ndrain_at_most = 1\n",
    )  # fmt: skip
    over = ["--state", state]
    try:
        on(slurm, "mkdir", "/run/tmp/scratch")
        on(slurm, "scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=fan broken")
        done = sentry(slurm, "once", plan, *over, "--for", "1")
        assert done.returncode == 1, done.stderr
        assert {node for (node,) in rows(state, "SELECT node FROM incident")} == {"n2", "n3"}
        drained, reason = slurm_says(slurm, "n2")
        assert (drained, reason.startswith("wulf: incident ")) == ("drained", True), done.stderr
        assert slurm_says(slurm, "n3") == ("drained", "fan broken")
        for node in ("n2", "n3"):
            on(slurm, "mkdir", "/run/tmp/scratch", node=node)
        done = sentry(slurm, "once", plan, *over, "--for", "1", "--now")  # it may not be due yet
        assert done.returncode == 0, done.stderr
        assert "Slurm: n2 is resumed: incident" in done.stderr
        assert wait_until(lambda: slurm_says(slurm, "n2")[0] == "idle", PATIENCE_S)
        assert slurm_says(slurm, "n3") == ("drained", "fan broken")
    finally:
        for node in ("n1", "n2", "n3"):
            on(slurm, "rmdir", "/run/tmp/scratch", node=node)
            on(slurm, "scontrol", "update", f"NodeName={node}", "State=RESUME")
    assert wait_until(lambda: slurm_says(slurm, "n1")[0] == "idle", PATIENCE_S)
    assert is_sound(state)
