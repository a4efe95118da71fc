"""Which cells a curve takes, and which of them prove its shape."""

from __future__ import annotations

import pytest

from tests.unit.report.make_run import record
from wulf.core.records import Record
from wulf.measure.engine.curve import (
    ARM,
    NET_ARMS,
    NET_SUSPECTS,
    PHASE,
    PROOF,
    SUSPECT,
    Shape,
    arms_of,
    curve_cells,
    proof_cells,
    shape_of,
)
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric

STREAM = Cell(0, "n1", "n2", "tcp", "stream", {"seconds": 0.1}, (Metric("throughput", "B/s", "higher"),))

RISING, FALLING = {1: 1.0, 2: 2.0, 4: 4.0, 8: 8.0}, {1: 1.0, 2: 9.7, 4: 10.0, 8: 9.6, 16: 8.0, 32: 6.0, 64: 7.0}


@pytest.mark.parametrize(
    ("medians", "shape"),
    [
        (RISING, Shape(best=8, first=8, last=8, fallen=None)),
        (FALLING, Shape(best=4, first=2, last=8, fallen=32)),
        ({1: 5.0, 2: 4.9, 4: 5.0, 8: 1.0, 16: 4.99}, Shape(best=1, first=1, last=4, fallen=8)),
        ({7: 3.0}, Shape(best=7, first=7, last=7, fallen=None)),
    ],
)
def test_shape(medians: dict[int, float], shape: Shape) -> None:
    assert shape_of(medians) == shape


def test_nothing_has_no_shape() -> None:
    assert shape_of({}) is None


def test_a_curve_holds_every_size_in_every_way_once() -> None:
    cells = curve_cells(STREAM, NET_ARMS, [1, 64])
    assert [cell.id for cell in cells] == list(range(8))
    asked = {(cell.params["direction"], cell.params["waiting"], cell.params["bytes"]) for cell in cells}
    assert asked == {(d, w, b) for d in ("out", "both") for w in ("block", "epoll") for b in (1, 64)}
    assert {cell.params["seconds"] for cell in cells} == {0.1}
    assert {cell.phase for cell in cells} == {PHASE}


def measured(arm: str, medians: dict[int, float]) -> list[Record]:
    return [
        record(
            "n1>n2", "throughput", value, unit="B/s", phase=PHASE, params={"transport": "tcp", ARM: arm, "bytes": size}
        )
        for size, value in medians.items()
    ]


def test_arms_stand_in_their_order_whichever_was_measured_first() -> None:
    records = [record for arm in reversed(NET_ARMS) for record in measured(arm.name, RISING)]
    assert list(arms_of(records)) == [arm.name for arm in NET_ARMS]


def test_what_has_fallen_is_proven_beside_each_suspect() -> None:
    cells = curve_cells(STREAM, NET_ARMS[:1], list(FALLING))
    proof = proof_cells(cells, measured(NET_ARMS[0].name, FALLING), NET_SUSPECTS)
    told = [(cell.params["bytes"], cell.about.get(SUSPECT)) for cell in proof]
    assert told == [(2, None), (4, None), (8, None), (32, None), (32, "pieces"), (32, "wake-ups"), (4, "cold memory")]
    assert [cell.id for cell in proof] == list(range(len(cells), len(cells) + 7))
    assert {cell.phase for cell in proof} == {PROOF}
    pieces = next(cell for cell in proof if cell.about.get(SUSPECT) == "pieces")
    assert pieces.params["call_bytes"] == 4, "calls of the best size"


def test_a_curve_that_rises_to_its_end_needs_no_proof() -> None:
    cells = curve_cells(STREAM, NET_ARMS[:1], list(RISING))
    assert proof_cells(cells, measured(NET_ARMS[0].name, RISING), NET_SUSPECTS) == []
