"""The search for METG as cells: it goes on from what the run holds, and ends by itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure.make_farm import DESIGN, farm_run
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import MPI
from wulf.workflow.mpi import farm as mpi_farm
from wulf.workflow.mpi.farm import FIRST_SPINS, MOST_SPINS, Search


class FakeRanks:
    """Makes cells as `workflow.mpi.probes.Ranks` does."""

    def cell(self, number: int, _: Any, name: str, params: Any, phase: str, *, within: bool = False) -> Cell:
        assert within == (number > 9)  # what is found one after the other does not get a launch a replicate
        return Cell(number, "n[1-4]", "n[1-4]", "", name, params, (), phase, program=MPI)


@dataclass
class FakeWriter:
    path: Path = Path()


def search(monkeypatch: pytest.MonkeyPatch, spins: tuple[float, ...]) -> tuple[Cell, ...]:
    """What is asked for after so many points."""
    monkeypatch.setattr(mpi_farm, "read_run", lambda _: farm_run(spins))
    under_way = Search(DESIGN, FakeWriter())  # type: ignore[arg-type]
    first = under_way.first(FakeRanks(), 7)  # type: ignore[arg-type]
    assert [cell.params["spin_seconds"] for cell in first] == list(FIRST_SPINS)
    assert [cell.id for cell in first] == [7, 8, 9]
    return under_way.extend([], 10)


def test_the_next_point_is_between_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    (cell,) = search(monkeypatch, FIRST_SPINS)
    assert cell.params["spin_seconds"] == pytest.approx((1e-5 * 1e-4) ** 0.5)
    assert (cell.id, cell.phase, cell.params["workers"], cell.params["batch"]) == (10, "metg", 3, 1)
    json.dumps(dict(cell.params))


def test_the_search_ends_when_it_is_close_or_has_gone_on_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search(monkeypatch, (1.4e-5, 1.7e-5)) == ()
    assert search(monkeypatch, tuple(1e-6 * (1 + i / 100) for i in range(MOST_SPINS))) == ()
    assert search(monkeypatch, ()) == ()
