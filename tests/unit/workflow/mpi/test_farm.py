"""The search for METG as cells: it goes on from what the run holds, and ends by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.measure.make_farm import DESIGN, farm_run
from wulf.cluster.inventory import Inventory
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import MPI
from wulf.measure.mpi.probes import mpi_probe
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Conditions
from wulf.workflow.mpi import farm as mpi_farm
from wulf.workflow.mpi.farm import FIRST_SPINS, MOST_SPINS, Farm, fitting_launch
from wulf.workflow.mpi.launching import Launch

TABLE = len(DESIGN.table())


class FakeRanks:
    """Makes cells as `workflow.mpi.probes.Ranks` does."""

    places = ("n1", "n2", "n3", "n4")

    def cell(self, number: int, _: Any, name: str, params: Any, phase: str, *, within: bool = False) -> Cell:
        # what is found one after the other does not get a launch a replicate
        assert within == (number >= TABLE + len(FIRST_SPINS))
        return Cell(number, "n[1-4]", "n[1-4]", "", name, params, (), phase, program=MPI)


def search(monkeypatch: pytest.MonkeyPatch, spins: tuple[float, ...]) -> Sequence[Cell]:
    """What is asked for after so many points."""
    monkeypatch.setattr(mpi_farm, "read_run", lambda _: farm_run(spins))
    writer: Any = SimpleNamespace(path=Path(), id="run")
    given = Conditions(Inventory.from_nodeset("n[1-4]"), Effort(), writer, 1)
    farm = Farm(given, Launch(), DESIGN, search=True)
    farm.ranks = FakeRanks()  # type: ignore[assignment]
    first = farm.shared(mpi_probe())[TABLE:]
    assert [cell.params["spin_seconds"] for cell in first] == list(FIRST_SPINS)
    assert [cell.id for cell in first] == [TABLE, TABLE + 1, TABLE + 2]
    return farm.extend([], TABLE + 3)


def test_the_next_point_is_between_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    (cell,) = search(monkeypatch, FIRST_SPINS)
    assert cell.params["spin_seconds"] == pytest.approx((1e-5 * 1e-4) ** 0.5)
    assert (cell.id, cell.phase, cell.params["workers"], cell.params["batch"]) == (TABLE + 3, "metg", 3, 1)
    json.dumps(dict(cell.params))


def test_the_search_ends_when_it_is_close_or_has_gone_on_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search(monkeypatch, (1.4e-5, 1.7e-5)) == ()
    assert search(monkeypatch, tuple(1e-6 * (1 + i / 100) for i in range(MOST_SPINS))) == ()
    assert search(monkeypatch, ()) == ()


def test_ranks_of_several_threads_are_not_bound() -> None:
    assert fitting_launch(Launch(), 1) == Launch()
    assert fitting_launch(Launch(), 2).spec.bind == "none"
