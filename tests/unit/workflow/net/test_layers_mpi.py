"""MPI as the top layer: subtracted in the same blocks, on the same CPUs, or a row without a value that says why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.mpi_fakes import FakeWorld, launcher
from tests.unit.workflow.net.test_layers import added, costs, described, of
from tests.unit.workflow.simulating import simulator
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.simulated import cluster as simulated
from wulf.core.errors import UsageError
from wulf.measure.mpi.probes import BLOCKS, SHARED
from wulf.measure.net.layers import contrasts, layer_name, place
from wulf.report.net.layers import layer_table, row_cells
from wulf.workflow.engine import connect as connecting
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.study import Conditions
from wulf.workflow.mpi import probes as mpi
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import Ranks
from wulf.workflow.net.layers import Layers
from wulf.workflow.net.layers_mpi import MpiLayer

MPI_SECONDS = 25e-6
"""Where TCP on the wire takes 19 µs."""


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setattr(simulated, "WULF_NET", described())

    def answer(probe: str, params: Mapping[str, Any], ranks: int) -> float:
        return MPI_SECONDS * (1 + len(worlds) * 1e-6)

    worlds: list[FakeWorld] = []

    def run(error: Exception | None = None, shared: str = "", how: str = SHARED) -> tuple[RunOutcome, list[FakeWorld]]:
        monkeypatch.setattr(mpi, "open_world", launcher(answer, worlds, error))
        if shared:
            facts = {"kernel.boot_id": {"value": "one"}, "limits.cpus": {"value": shared}}
            monkeypatch.setattr(connecting, "facts_of", lambda sessions: {node: dict(facts) for node in sessions})

        def study(given: Conditions) -> Layers:
            top = MpiLayer(Ranks(Launch(WorldSpec(ranks=2, bind="none"), how)), "n1>n2")
            return Layers(given, "n1", "n2", {"bytes": 1, "seconds": 0.01}, top)

        return simulator(monkeypatch, tmp_path, study)("n[1-2]", value=costs()), worlds

    return run


def test_mpi_is_held_against_tcp_in_the_same_blocks(simulate: Any) -> None:
    outcome, worlds = simulate()
    assert outcome.exit_code == 0
    found = added(outcome)["mpi", "wire tcp"]
    assert found.value == pytest.approx(6e-6, rel=0.1)
    assert found.low < found.value < found.high
    blocks: dict[int, list[int]] = {}
    for replicate in outcome.run.replicates:
        blocks.setdefault(replicate["block"], []).append(replicate["cell"])
    assert [sorted(cells) for cells in blocks.values()] == [list(range(10))] * 6
    assert not worlds[0].session.asked  # two machines: nothing is to be bound
    (finding,) = [f for f in outcome.run.findings if f.kind == "layers"]
    assert "Mpi adds 6" in finding.text


def test_on_one_machine_both_have_two_cpus(simulate: Any) -> None:
    outcome, worlds = simulate(shared="0-3")
    assert outcome.exit_code == 0
    assert worlds[0].session.asked == [("bind", {"cpus": [3, 2]})]
    twin = [r for r in of(outcome, "rtt") if r.params.get("placement") == "two CPUs"]
    assert [(r.params["transport"], r.params["cpu"], r.params["server_cpu"]) for r in twin] == [("tcp", 3, 2)]
    assert ("mpi", "wire tcp, two CPUs") in added(outcome)
    assert any("were bound to CPUs 3 and 2" in f.text for f in outcome.run.findings)


def test_later_launches_are_bound_to_the_same_cpus(simulate: Any) -> None:
    _, worlds = simulate(shared="0-3", how=BLOCKS)
    assert worlds[0].launches == 6
    assert worlds[0].session.asked == [("bind", {"cpus": [3, 2]})]  # the last launch's


def test_one_cpu_alone_is_shared_and_said(simulate: Any) -> None:
    outcome, worlds = simulate(shared="0")
    assert not worlds[0].session.asked
    assert ("mpi", "wire tcp") in added(outcome)
    assert any("There is one CPU alone" in f.text for f in outcome.run.findings)


def test_without_an_mpi_the_row_says_why_and_the_run_is_complete(simulate: Any) -> None:
    outcome, worlds = simulate(error=UsageError("n[1-2]: no MPI is there"))
    assert outcome.exit_code == 0
    assert worlds == []
    (record,) = [r for r in of(outcome, "rtt") if r.probe == "mpi"]
    assert (record.value, record.reason) == (None, "n[1-2]: no MPI is there")
    table = layer_table(outcome.run)
    assert table is not None
    name, value, *_ = row_cells(table.rows[-1])
    assert (name, value.text) == ("mpi", "?")
    assert not any("mpi" in names for names in added(outcome))


def test_mpi_stands_on_top_and_against_shared_memory_within_a_node() -> None:
    names = ["mpi", layer_name("tcp", "a", "b", "two CPUs"), "wire tcp", "shm", "null"]
    assert sorted(names, key=place) == ["null", "shm", "wire tcp", "wire tcp, two CPUs", "mpi"]
    assert ("mpi", "shm") not in contrasts(sorted(names, key=place))
    within = ["null", "shm", "loopback tcp", "mpi"]
    assert contrasts(within)[-2:] == [("mpi", "loopback tcp"), ("mpi", "shm")]
