"""The farm's design, and its cells read back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.measure.make_farm import DESIGN, OVERHEAD, RTT, UNEVEN, UNIT, WOBBLE, farm_run
from wulf.core.errors import UsageError
from wulf.measure.mpi.farm import PROBE, Design, expected_seconds, points_of, uneven_cells
from wulf.measure.mpi.probes import mpi_probe


def test_the_design_crosses_workers_and_batches_and_has_a_serial_run() -> None:
    cells = DESIGN.table()
    assert [(cell["workers"], cell["batch"]) for cell in cells] == [
        (0, 1), (1, 1), (1, 10), (1, 100), (3, 1), (3, 10), (3, 100),
    ]  # fmt: skip
    assert {cell["units"] for cell in cells} == {1000}
    assert DESIGN.ranks == 4


def test_the_probe_takes_what_the_design_asks() -> None:
    spin = Design((2,), (1,), 10, {"unit": "spin", "spin_seconds": 1e-5}, "plain")
    for params in (*DESIGN.table(), *spin.table(), spin.metg(1e-6, 0.05)):
        assert mpi_probe().check("farm", "", params)["workers"] == params["workers"]


def test_workers_of_several_threads() -> None:
    alone, *crowd = Design((1, 2), (1,), 10, {"unit": "sha1", "bytes": 1000}, threads=4).table()
    assert "threads" not in alone, "the serial run has one"
    assert [mpi_probe().check("farm", "", cell)["threads"] for cell in crowd] == [4, 4]
    assert not any("threads" in cell for cell in DESIGN.table())


def test_workers_are_told_by_how_near_they_are() -> None:
    run = farm_run()
    far = points_of(run.plan, run.replicates)[-1].near["other node"]
    assert far.workers == 2
    assert far.trips == pytest.approx([RTT * wobble for wobble in WOBBLE])
    assert far.overheads == pytest.approx([OVERHEAD * wobble for wobble in WOBBLE])
    before = [{name: value for name, value in one.items() if name != "info"} for one in run.replicates]
    assert points_of(run.plan, before)[-1].near == {}


@pytest.mark.parametrize("trip", [[""], 3, [None]])
def test_what_no_worker_says_is_refused_by_name(trip: object) -> None:
    cells = [{"id": 0, "pattern": PROBE}]
    replicate = {"cell": 0, "ok": True, "metrics": {}, "info": {"nearness": ["node"], "trip": trip, "batches": [1]}}
    with pytest.raises(UsageError, match=r"a farm's replicate has no sound info\.trip"):
        points_of({"cells": cells}, [replicate])


def test_nobody_waits_for_ever_and_nobody_gives_up_too_soon() -> None:
    sha1 = {"unit": "sha1", "bytes": 32768, "units": 10_000, "batch": 1}
    assert expected_seconds(sha1) > 10_000 * 3e-4
    assert expected_seconds({**sha1, "units": 2**32 - 1}) == 600
    assert expected_seconds({"unit": "spin", "spin_seconds": 0, "units": 1, "batch": 1}) == 1


def test_points_have_every_replicate_that_had_a_value() -> None:
    run = farm_run((1e-5,))
    run.replicates[0] = {"cell": 0, "ok": False, "error": {}}
    run.replicates[1]["metrics"]["service"]["value"] = None
    points = points_of(run.plan, run.replicates)
    assert [(p.phase, p.workers, p.batch, p.spin) for p in points][-2:] == [
        ("farm", 3, 100, None),
        ("metg", 3, 1, 1e-5),
    ]
    assert len(points[0].values["seconds"]) == 5
    assert len(points[1].values["service"]) == 5
    assert points[0].values["seconds"][0] == 1000 * UNIT


def test_other_probes_cells_are_left_out() -> None:
    plan = {"cells": [{"id": 0, "pattern": "pingpong", "phase": "farm", "params": {}}]}
    assert points_of(plan, [{"cell": 0, "ok": True, "metrics": {}}]) == []


def test_units_of_several_kinds_are_measured_in_every_cell_with_workers() -> None:
    design = replace(DESIGN, kinds="1:0.5,10:0.5", seed=5)
    cells = design.uneven()
    assert [{**cell, "kinds": "", "seed": 0} for cell in cells] == [
        {**cell, "kinds": "", "seed": 0} for cell in design.table()[1:]
    ]
    assert {(cell["kinds"], cell["seed"]) for cell in cells} == {("1:0.5,10:0.5", 5)}
    assert mpi_probe().check("farm", "", cells[0])["kinds"] == "1:0.5,10:0.5"
    assert DESIGN.uneven() == []


def test_uneven_units_stand_beside_equal_ones_block_by_block() -> None:
    run = farm_run(design=replace(DESIGN, kinds="1:0.5,10:0.5"))
    lacking = next(one for one in run.replicates if one["cell"] == len(DESIGN.table()))
    lacking["ok"] = False
    cells = uneven_cells(run.plan, run.replicates)
    assert [(cell.workers, cell.batch) for cell in cells] == [(1, 1), (1, 10), (1, 100), (3, 1), (3, 10), (3, 100)]
    assert [len(cell.equal) for cell in cells] == [5, 6, 6, 6, 6, 6]
    for cell in cells:
        assert cell.uneven == pytest.approx([UNEVEN * seconds for seconds in cell.equal])
    assert uneven_cells(farm_run().plan, farm_run().replicates) == []
