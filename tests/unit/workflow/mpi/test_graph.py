"""Graphs of tasks over simulated ranks: METG by pattern, the search's end, and what the report shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.mpi_fakes import FakeWorld, launcher
from tests.unit.workflow.simulating import QUICK, simulator
from tests.wording import Wording
from wulf.measure.mpi.graph import DEPENDENCE, GRAPH, NEEDED
from wulf.measure.mpi.probes import mpi_probe
from wulf.model.farm.costs import CLOSE
from wulf.report.mpi.graph import graph_section, metgs
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.mpi import probes as mpi
from wulf.workflow.mpi.farm import MOST_SPINS
from wulf.workflow.mpi.graph import Graph
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.whole import choices

OVERHEAD = {"none": 1e-7, "stencil": 2.4e-5, "fft": 1.2e-5, "tree": 3e-6, "all": 1.0}
"""What a step costs beyond its task: METG(50 %) is as much; one of a second is out of the search's reach."""

Run = Callable[..., RunOutcome]


def answer(probe: str, params: Mapping[str, Any], _: int) -> dict[str, Any]:
    assert probe == "graph"
    task = params["task_seconds"]
    step = task + OVERHEAD[params["dependence"]]
    values = {"step": ("s", step), "overhead": ("s", step - task), "efficiency": ("1", task / step)}
    metrics = {name: {"unit": unit, "value": value} for name, (unit, value) in values.items()}
    return {"ok": True, "metrics": metrics, "info": {"steps": 100}}


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Run]:
    def run(*patterns: str) -> RunOutcome:
        worlds: list[FakeWorld] = []
        monkeypatch.setattr(mpi, "open_world", launcher(answer, worlds))
        options = {"launch": Launch(), "patterns": patterns, "params": {"bytes": 16}}
        return simulator(monkeypatch, tmp_path, Graph)("n[1-4]", options, effort=QUICK)

    yield run


def test_every_dependence_of_the_probe_has_words() -> None:
    assert choices(mpi_probe().pattern(GRAPH), DEPENDENCE) == tuple(NEEDED)


def test_metg_of_each_pattern_is_where_half_of_the_time_is_the_tasks(simulate: Run, wording: Wording) -> None:
    outcome = simulate("stencil", "fft", "none")
    found = metgs(outcome.run.records)
    assert list(found) == ["none", "stencil", "fft"]
    for pattern, one in found.items():
        assert one.value is not None and one.below is not None and one.above is not None
        assert one.below < OVERHEAD[pattern] <= one.above <= CLOSE * one.below
        assert one.value.value == pytest.approx(OVERHEAD[pattern], rel=0.02)
    (told,) = [finding for finding in outcome.run.findings if finding.kind == "graph"]
    wording(told.text)


def test_the_search_ends_where_half_is_out_of_reach(simulate: Run) -> None:
    outcome = simulate("all")
    spins = {record.params["task_seconds"] for record in outcome.run.records if record.metric == "efficiency"}
    assert 3 < len(spins) <= MOST_SPINS
    one = metgs(outcome.run.records)["all"]
    assert (one.value, one.above) == (None, None)
    assert one.below == max(float(str(spin)) for spin in spins)


def test_the_report_has_a_row_and_a_curve_for_each_pattern(simulate: Run) -> None:
    outcome = simulate("tree", "all")
    (section,) = graph_section(outcome.run)
    assert section.table is not None and section.plot is not None
    rows = [[str(cell) for cell in row] for row in section.table.rows]
    assert [row[0] for row in rows] == ["tree", "all"]
    assert rows[0][2].endswith("µs") and rows[1][2] == "–"
    tree, _ = section.plot.curves
    at = dict(zip(tree.x, tree.y, strict=True))
    assert at[1e-5] == pytest.approx(1e-5 / 1.3e-5)
    assert not section.lines, "the finding says it already"
