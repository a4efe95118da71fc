"""MPI's commands over simulated nodes and ranks: cells in one launch or each in its own, failures, all pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.mpi_fakes import Answer, FakeWorld, launcher
from tests.unit.workflow.simulating import QUICK, simulator
from tests.wording import Wording, lacking
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError, UsageError
from wulf.core.records import Record
from wulf.measure import tools
from wulf.measure.engine.plan import Cell
from wulf.measure.mpi.farm import Design
from wulf.measure.mpi.probes import BLOCKS, EACH, SHARED, mpi_probe
from wulf.workflow.engine import connect as connecting
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.study import Conditions, Study
from wulf.workflow.mpi import probes as mpi
from wulf.workflow.mpi.farm import Farm
from wulf.workflow.mpi.launching import Launch, Turns, launch_finding, middle, ranks_text
from wulf.workflow.mpi.probes import Ranks, RanksProbe
from wulf.workflow.mpi.whole import Collectives, Onesided, Pairs, SizeSweep, looks_for
from wulf.workflow.net.like import Repeat, Wanted, measured

Run = Callable[..., tuple[RunOutcome, FakeWorld]]


def steady(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
    return 1e-5 * (1 + len(str(params)) / 1e4)


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Run]:
    """Makes a study: `simulate(study, "n[1-2]", answer, launch=…, effort=…, options of the study)`."""

    def run(
        study: Callable[..., Study], nodes: str = "n[1-2]", answer: Answer = steady, launch: Launch | None = None,
        cluster: Mapping[str, Any] | None = None, error: Exception | None = None, effort: Effort = QUICK,
        **options: Any,
    ) -> tuple[RunOutcome, FakeWorld]:  # fmt: skip
        worlds: list[FakeWorld] = []
        monkeypatch.setattr(mpi, "open_world", launcher(answer, worlds, error))
        options["launch"] = launch or Launch()
        outcome = simulator(monkeypatch, tmp_path, study)(nodes, options, effort=effort, **(cluster or {}))
        return outcome, worlds[0]

    yield run


def main(outcome: RunOutcome, metric: str) -> list[Record]:
    return [record for record in outcome.run.records if record.metric == metric]


pingpong = partial(RanksProbe, name="pingpong", params={"bytes": 8, "seconds": 0.01})


def test_a_pingpong_is_a_record_of_two_nodes_that_says_what_launched_it(simulate: Run, wording: Wording) -> None:
    outcome, world = simulate(pingpong, cluster={"page": True})
    (record,) = main(outcome, "rtt")
    assert outcome.exit_code == 0
    assert (record.subject, record.probe, record.replicates) == ("n1>n2", "mpi", 6)
    assert record.params == {
        "pattern": "pingpong", "bytes": 8, "seconds": 0.01,
        "mpi": "openmpi 4.1.4", "ranks": 2, "per_node": 1, "launch": "shared",
    }  # fmt: skip
    assert world.ran == [("pingpong", {"bytes": 8, "seconds": 0.01})] * 6
    assert world.launches == 1
    (launch,) = [f for f in outcome.run.findings if f.kind == "launch"]
    assert lacking(launch.text, "Open MPI 4.1.4: 2 ranks, 0 on n1, 1 on n2", "within one launch") == []
    wording(launch.text)
    assert any(f.text == "a note of the launch" for f in outcome.run.findings)
    assert (outcome.run.path / "report.html").exists()


def test_each_replicate_has_a_launch_of_its_own_where_that_is_asked_for(simulate: Run) -> None:
    outcome, world = simulate(pingpong, launch=Launch(how=EACH))
    assert world.launches == 6
    assert main(outcome, "rtt")[0].params["launch"] == "each"
    (launch,) = [f for f in outcome.run.findings if f.kind == "launch"]
    assert "Every replicate had a launch of its own (6)" in launch.text


def test_a_figure_alone_is_the_middle_of_three_runs_in_each_launch(simulate: Run) -> None:
    values = iter([1e-5, 9e-5, 2e-5] * 6)
    outcome, world = simulate(pingpong, answer=lambda *_: next(values), launch=Launch(how=BLOCKS))
    assert (world.launches, len(world.ran)) == (6, 18)
    (record,) = main(outcome, "rtt")
    assert record.samples == [2e-5] * 6, "launches are the unit, not runs"
    assert (record.params["launch"], record.params["runs"]) == ("blocks", 3)
    assert outcome.run.replicates[0]["info"]["runs"] == {"rtt": [1e-5, 9e-5, 2e-5]}
    (launch,) = [f for f in outcome.run.findings if f.kind == "launch"]
    assert "Every block of replicates had a launch of its own (6)" in launch.text


def test_blocks_of_many_cells_have_a_launch_each_that_measures_every_cell_once(simulate: Run) -> None:
    work = partial(Collectives, sizes=(8,), ops=("bcast", "reduce"))
    outcome, world = simulate(work, launch=Launch(how=BLOCKS))
    assert world.launches == 6
    assert [len(cells) for cells in blocks_of(outcome).values()] == [2] * 6
    assert len(world.ran) == 12, "no cell is repeated within a launch where others share it"


def test_a_launch_that_dies_costs_its_block_one_replicate(simulate: Run) -> None:
    calls: list[int] = []

    def dies_once(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        calls.append(1)
        return NodeError("n1", "rank 1 on n2 was killed") if len(calls) == 3 else 1e-5

    work = partial(Collectives, sizes=(8,), ops=("bcast", "reduce"))
    outcome, world = simulate(work, answer=dies_once, launch=Launch(how=BLOCKS))
    assert outcome.exit_code == 0
    assert sorted(r.failed_replicates for r in main(outcome, "time")) == [0, 1]
    assert world.launches in (7, 8)


def test_what_is_kept_within_ends_no_launch() -> None:
    turns = Turns(BLOCKS)
    turns.keep("farm", {"spin": 1})
    assert [turns.over("farm", {"spin": spin}) for spin in (1, 2, 1, 3, 2, 3, 1)] == [
        False, False, False, False, True, False, False,
    ]  # fmt: skip
    each = Turns(EACH)
    assert [each.over("farm", {"spin": spin}) for spin in (1, 2)] == [False, True]
    shared = Turns(SHARED)
    assert not any(shared.over("farm", {}) for _ in range(3))


def test_the_middle_run_is_each_metrics_own_and_counters_add_up() -> None:
    def one(rtt: float | None, lost: float) -> dict[str, Any]:
        metrics = {"rtt": {"unit": "s", "value": rtt}, "lost": {"unit": "1", "value": lost}}
        return {"ok": True, "metrics": metrics, "counters": {"client": {"sent": 2}}, "seconds": 0.1, "info": {"a": 1}}

    found = middle([one(3.0, 0.2), one(1.0, 0.3), one(2.0, 0.1)])
    assert {name: answer["value"] for name, answer in found["metrics"].items()} == {"rtt": 2.0, "lost": 0.2}
    assert (found["counters"], found["seconds"]) == ({"client": {"sent": 6}}, pytest.approx(0.3))
    assert found["info"] == {"a": 1, "runs": {"rtt": [3.0, 1.0, 2.0], "lost": [0.2, 0.3, 0.1]}}
    assert middle([one(None, 0.0), one(1.0, 0.0), one(None, 0.0)])["metrics"]["rtt"]["value"] == 1.0
    assert middle([one(None, 0.0)] * 3)["metrics"]["rtt"]["value"] is None


def test_a_rank_that_dies_ends_a_shared_launch_and_is_named(simulate: Run) -> None:
    def dies(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        return NodeError("n1", "rank 1 on n2 was killed")

    outcome, world = simulate(pingpong, answer=dies)
    assert outcome.exit_code == 3
    (record,) = main(outcome, "rtt")
    assert record.verdict == "failed"
    assert "rank 1 on n2 was killed" in (record.reason or "")
    assert world.closed == 1
    assert len(world.ran) == 1


def test_a_launch_that_dies_costs_one_replicate_where_each_has_its_own(simulate: Run) -> None:
    calls: list[int] = []

    def dies_once(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        calls.append(1)
        return NodeError("n1", "rank 1 on n2 was killed") if len(calls) == 2 else 1e-5

    outcome, world = simulate(pingpong, answer=dies_once, launch=Launch(how=EACH))
    (record,) = main(outcome, "rtt")
    assert outcome.exit_code == 0
    assert record.replicates == 6
    assert record.failed_replicates == 1
    assert world.launches == 7


def test_a_refused_replicate_leaves_the_ranks_alone(simulate: Run) -> None:
    def refuses(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        return RequestError("n1", "run", "limit", "not enough memory on rank 1")

    outcome, world = simulate(pingpong, answer=refuses)
    assert outcome.exit_code == 3
    assert world.closed == 0
    assert "not enough memory on rank 1" in (main(outcome, "rtt")[0].reason or "")


def test_too_few_ranks_are_refused_before_any_node_is_touched(simulate: Run) -> None:
    with pytest.raises(UsageError, match="pingpong needs 2 ranks, and got 1"):
        simulate(pingpong, nodes="n1")


def test_a_rank_beyond_the_last_is_refused_with_the_next_step(simulate: Run) -> None:
    with pytest.raises(UsageError, match="rank 7 is asked for, and there are 2"):
        simulate(partial(RanksProbe, name="pingpong", params={"b": 7}))


def test_an_mpi_that_cannot_be_launched_is_the_commands_error(simulate: Run) -> None:
    with pytest.raises(UsageError, match="the nodes have different MPIs"):
        simulate(pingpong, error=UsageError("the nodes have different MPIs: n1 has …"))


def test_a_node_that_is_down_leaves_the_ranks_of_the_others(simulate: Run) -> None:
    work = partial(RanksProbe, name="collective", params={"op": "allreduce", "bytes": 8})
    outcome, world = simulate(work, nodes="n[1-3]", cluster={"unreachable": {"n2": "no route to host"}})
    assert outcome.exit_code == 3
    assert world.places == ("n1", "n3")
    assert main(outcome, "time")[0].subject == "n1>n3"


def blocks_of(outcome: RunOutcome) -> dict[int, list[int]]:
    blocks: dict[int, list[int]] = {}
    for replicate in outcome.run.replicates:
        blocks.setdefault(replicate["block"], []).append(replicate["cell"])
    return blocks


def test_collectives_hold_every_operation_at_every_size_in_every_block(simulate: Run) -> None:
    work = partial(Collectives, sizes=(8, 1024), ops=("barrier", "bcast", "reduce"), params={"seconds": 0.01})
    outcome, _ = simulate(work, nodes="n[1-3]", launch=Launch(WorldSpec(per_node=2)))
    assert outcome.exit_code == 0
    records = main(outcome, "time")
    asked = {(r.params["op"], r.params["bytes"]) for r in records}
    assert asked == {("barrier", 0), *((op, size) for op in ("bcast", "reduce") for size in (8, 1024))}
    assert {r.subject for r in records} == {"n[1-3]"}
    assert {r.params["ranks"] for r in records} == {6}
    assert all(sorted(cells) == list(range(5)) for cells in blocks_of(outcome).values())


@pytest.mark.parametrize(("factor", "violated"), [(3.0, True), (1.0, False)])
def test_a_guideline_that_is_violated_is_a_finding(simulate: Run, factor: float, violated: bool) -> None:
    """Allreduce takes `factor` times what Reduce and Bcast take together."""

    def times(probe: str, params: Mapping[str, Any], ranks: int) -> float:
        return 1e-5 * (2 * factor if params["op"] == "allreduce" else 1)

    effort = replace(QUICK, quick=False)
    outcome, _ = simulate(partial(Collectives, sizes=(1024,)), answer=times, effort=effort)
    found = [f for f in outcome.run.findings if f.kind == "guideline"]
    assert any("allreduce of 1 KiB takes 3 ×" in f.text for f in found) == violated
    assert all(sorted(cells) == list(range(len(cells))) for cells in blocks_of(outcome).values())


def test_a_quick_run_says_that_it_cannot_tell(simulate: Run) -> None:
    outcome, _ = simulate(partial(Collectives, sizes=(8, 64)))
    assert any("replicates are too few to tell" in f.text for f in outcome.run.findings)


@pytest.mark.parametrize(("least", "looks"), [(6, (8, 11, 16, 24)), (10, (11, 16, 24)), (30, (30,))])
def test_looks_begin_where_a_guideline_can_be_told(least: int, looks: tuple[int, ...]) -> None:
    assert looks_for(least) == looks


def test_an_operation_that_there_is_not_is_refused(simulate: Run) -> None:
    with pytest.raises(UsageError, match="no such collective"):
        simulate(partial(Collectives, ops=("allsum",)))


def test_the_first_ranks_alone_are_what_the_record_says(simulate: Run) -> None:
    work = partial(RanksProbe, name="collective", params={"ranks": 3})
    outcome, _ = simulate(work, nodes="n[1-4]")
    (record,) = main(outcome, "time")
    assert (record.subject, record.params["ranks"]) == ("n[1-3]", 3)


def test_all_pairs_are_one_launch_and_a_slow_node_stands_out(simulate: Run) -> None:
    def matrix(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        values = [[1e-5 * (9 if 4 in (a, b) else 1) for b in range(a + 1, ranks)] for a in range(ranks - 1)]
        return {"ok": True, "metrics": {"rtt": {"unit": "s", "value": 1e-5}}, "info": {"matrix": values}}

    outcome, world = simulate(
        partial(Pairs, params={"bytes": 8}), nodes="n[1-6]", answer=matrix, cluster={"page": True}
    )
    found = [r for r in main(outcome, "rtt") if ">" in r.subject]
    assert len(found) == 15
    assert world.launches == 1
    assert outcome.exit_code == 1
    (slow,) = [f for f in outcome.run.findings if f.kind == "node"]
    assert slow.subject == "n5"
    assert "MPI round trip" in slow.text
    assert 'id="pairs-0"' in (outcome.run.path / "report.html").read_text()


def test_onesided_goes_through_every_way_of_synchronising(simulate: Run) -> None:
    outcome, world = simulate(partial(Onesided, sizes=(8, 64)), answer=lambda *_: 1e9)
    assert outcome.exit_code == 0
    asked = {(probe, params["sync"], params["bytes"]) for probe, params in world.ran}
    (ways,) = (spec.choices for spec in mpi_probe().pattern("put").params if spec.name == "sync")
    assert len(ways) > 2
    assert asked == {(p, way, b) for p in ("put", "get") for way in ways for b in (8, 64)}


def test_a_sweep_finds_the_bend_of_the_rendezvous(simulate: Run) -> None:
    def bent(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        size = params["bytes"]
        return 2 * (1e-5 + size * 1e-9 if size <= 4096 else 4e-5 + size * 1e-9)

    outcome, _ = simulate(partial(SizeSweep, most=65536), answer=bent)
    (curve,) = [f for f in outcome.run.findings if f.kind == "curve"]
    assert "It bends between" in curve.text
    assert "rendezvous" in curve.text
    latency = [r for r in outcome.run.records if r.metric == "latency"]
    assert latency[0].value == pytest.approx(1e-5, rel=0.02)
    assert {r.probe for r in latency} == {"mpi"}


def test_ranks_are_told_by_node() -> None:
    assert ranks_text(["n1", "n1", "n2"]) == "0-1 on n1, 2 on n2"
    many = [f"n{i}" for i in range(1, 21)]
    assert ranks_text(many).endswith("6 on n7 … 19 on n20")
    finding = launch_finding("MPICH 4.0.2", ["n1"], 1, how=SHARED)
    assert finding.text.startswith("MPICH 4.0.2: 1 rank, 0 on n1.")


def like(tool: str, pattern: str) -> Callable[..., Repeat]:
    def study(given: Conditions, launch: Launch) -> Repeat:
        cell = Cell(0, "", "", "", pattern, {}, mpi_probe().pattern(pattern).metrics)
        return Repeat(given, cell, tools.find_mpi(tool, pattern), Wanted(most=4), Ranks(launch))

    return study


def test_a_tool_that_counts_messages_counts_empty_ones(simulate: Run) -> None:
    def exchange(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        none = {"unit": "B/s", "value": None, "reason": "messages of 0 B carry nothing"}
        moved = {"unit": "B/s", "value": 1e6 * params["bytes"]} if params["bytes"] else none
        metrics = {"rate": {"unit": "Hz", "value": 1e6, "n": 100, "mean": 1e6}, "throughput": moved}
        return {"ok": True, "metrics": metrics, "seconds": 1e-4, "info": {}}

    outcome, _ = simulate(like("imb", "stream"), answer=exchange)
    assert outcome.exit_code == 0
    assert [record.params["bytes"] for record in main(outcome, "rate")] == [0, 1, 2, 4]
    assert {record.metric for record in outcome.run.records} == {"rate"}


def test_another_tools_loop_is_repeated_between_ranks(simulate: Run) -> None:
    def exchange(probe: str, params: Mapping[str, Any], ranks: int) -> Any:
        value = 2e-5 + params["bytes"] * 1e-9
        metric = {"unit": "s", "value": value, "n": 100, "mean": value, "min": value, "max": value}
        return {"ok": True, "metrics": {"rtt": metric}, "seconds": value * 100, "info": {"iterations": 100}}

    outcome, _ = simulate(like("osu7", "pingpong"), answer=exchange)
    trips = main(outcome, "rtt")
    assert [(r.subject, r.params["bytes"], r.params["mpi"]) for r in trips] == [
        ("n1>n2", size, "openmpi 4.1.4") for size in (1, 2, 4)
    ]
    (first, *_) = main(outcome, "latency")
    assert first.params["as"] == "osu7"
    assert first.probe == "mpi"
    assert tools.find_mpi("osu7", "pingpong").text(measured(outcome.run)).count("\n") >= 3


@pytest.mark.parametrize(
    ("cpus", "given", "start"), [("0-1", {}, "barrier"), ("0-3", {}, None), ("0", {"start": "none"}, "none")]
)
def test_more_ranks_than_cpus_begin_after_a_barrier_unless_told_otherwise(
    simulate: Run, monkeypatch: pytest.MonkeyPatch, cpus: str, given: dict[str, Any], start: str | None
) -> None:
    facts = {"kernel.boot_id": {"value": "one"}, "limits.cpus": {"value": cpus}}
    monkeypatch.setattr(connecting, "facts_of", lambda sessions: {node: dict(facts) for node in sessions})
    outcome, world = simulate(partial(RanksProbe, name="collective", params=given), nodes="n[1-4]")
    assert {params.get("start") for _, params in world.ran} == {start}
    assert any("more ranks than CPUs" in f.text for f in outcome.run.findings) == (start == "barrier")


def test_farms_over_two_networks_share_blocks_and_each_has_its_own_launches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    networks = ("10.0.0.0/24", "10.1.0.0/24")
    worlds: list[FakeWorld] = []
    given: list[tuple[str | None, bool]] = []
    enter = launcher(steady, worlds)

    def opened(access: Any, spec: WorldSpec, say: Any) -> Any:
        given.append((access.inventory.network, spec.tcp))
        return enter(access, spec, say)

    monkeypatch.setattr(mpi, "open_world", opened)
    design = Design((1,), (1, 10), 100, {"unit": "sha1", "bytes": 8}, networks=networks)
    options = {"launch": Launch(how=BLOCKS), "design": design}
    outcome = simulator(monkeypatch, tmp_path, Farm)("n[1-2]", options)
    assert given == [(network, True) for network in networks]
    assert len(design.table()) == 6 == len(outcome.run.plan["cells"])
    first, second = worlds
    assert Counter(str(ran) for ran in first.ran) == Counter(str(ran) for ran in second.ran)
    assert len(first.ran) == 3 * 6 and first.launches == second.launches == 6
    assert not any("network" in params for _, params in first.ran)
    assert {record.params["network"] for record in main(outcome, "seconds")} == set(networks)
    orders = {tuple(r["cell"] for r in outcome.run.replicates if r["block"] == block) for block in range(6)}
    assert len(orders) > 1
