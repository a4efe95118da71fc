"""Which nodes are idle, by load or by Slurm; how a measurement becomes a job, and gives way."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.cluster.inventory import Inventory
from wulf.core.nodeset import names_in
from wulf.sentry.draining import SlurmNode
from wulf.sentry.plan import Idleness, Measure, read_plan
from wulf.sentry.state import Measurement
from wulf.workflow.sentry.children import COMPLAINED, LEAST, Job, limit, words
from wulf.workflow.sentry.idle import ByLoad, BySlurm
from wulf.workflow.sentry.run import slurm_way, was_preempted


def test_nodes_are_asked_for_their_load() -> None:
    inventory = Inventory.from_nodeset("n[1-3]", launcher="null")
    assert ByLoad(inventory, Idleness()).of(["n1", "n3"]) == {"n1", "n3"}


def test_slurm_s_idle_nodes_are_those_without_a_job_and_those_that_we_drained() -> None:
    nodes = {
        "n1": SlurmNode("n1", "idle"), "n2": SlurmNode("n2", "mixed"), "n3": SlurmNode("n3", "idle*"),
        "n4": SlurmNode("n4", "drained", "wulf: incident 3: slow"), "n5": SlurmNode("n5", "drained", "fan broken"),
        "n6": SlurmNode("n6", "draining", "wulf: incident 4: slow"),
        "n7": SlurmNode("n7", "drained", "wulf: incident 9: x"),
    }  # fmt: skip
    slurm = BySlurm(lambda: {("n4", 3), ("n6", 4)}, lambda: nodes)
    assert slurm.of([*nodes, "n8"]) == {"n1", "n4"}
    assert slurm.apart == {"n4"}


def test_a_job_has_the_plan_s_options_and_is_not_waited_for() -> None:
    assert slurm_way({"partition": "idle", "requeue": ""}) == [
        "--launcher", "slurm", "--slurm-option=job-name=wulf-sentry", "--slurm-option=immediate=60",
        "--slurm-option=partition=idle", "--slurm-option=requeue",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "state", "idle", "preempted"),
    [
        ("job 7 has n1\n", "PREEMPTED", True, True),
        ("job 7 waits in the queue: …\njob 7 has n1\n", "COMPLETED", False, False),
        ("error: Slurm gave no job: Requested nodes are busy\n", None, False, True),
        ("error: Slurm gave no job: invalid partition\n", None, True, False),
    ],
)
def test_a_measurement_gave_way_where_slurm_says_so(
    tmp_path: Path, said: str, state: str | None, idle: bool, preempted: bool
) -> None:
    (tmp_path / COMPLAINED).write_text(said)
    one = Measurement(1, "node", ("n1",), "due", "running", {}, 0.0, None, None, str(tmp_path), "")
    slurm = BySlurm(set, lambda: {"n1": SlurmNode("n1", "idle" if idle else "allocated")})
    assert was_preempted(one, slurm, lambda job: state if job == "7" else None) is preempted


def test_a_command_names_its_nodes_and_where_its_run_goes() -> None:
    nodes = ("n1", "n2", "n10")
    node = Measure(name="node", command=("node", "--quick"), every=1.0)
    said = words(Job(1, node, nodes, Path("/r/1"), 1.0), ["--lab", "x"])
    assert said[3:5] == ["node", "--quick"]
    assert names_in(said[said.index("--nodes") + 1]) == list(nodes)
    assert said[-4:] == ["--lab", "x", "--out", "/r/1"]
    check = Measure(name="check", command=("check",), every=1.0)
    assert words(Job(1, check, nodes, Path("/r/1"), 1.0), [])[-1] == "--json"


def test_a_measurement_may_take_ten_times_what_it_usually_does() -> None:
    assert limit(1.0, 1) == LEAST
    assert limit(60.0, 8) == 4800.0


def test_the_plan_to_start_from_is_one() -> None:
    from importlib.resources import files

    plan = read_plan(Path(str(files("wulf.sentry").joinpath("example.toml"))))
    assert [one.name for one in plan.measure] == ["check", "node", "pairs"]
    assert (plan.tell.webhook, plan.tell.syslog, plan.tell.drain) == ("", False, False)


def test_the_plan_of_the_examples_is_one() -> None:
    plan = read_plan(Path(__file__).parents[4] / "examples/operations/sentry/sentry.toml")
    assert plan.idle.by == "slurm"
    assert not plan.tell.drain
