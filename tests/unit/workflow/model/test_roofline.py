"""Roofs from a node's rates."""

from __future__ import annotations

import pytest

from tests.unit.rates.making import AT
from wulf.core.errors import UsageError
from wulf.measure.node.rows import table
from wulf.rates.rate import Rate
from wulf.workflow.model.roofline import MEMORIES, PEAKS, roofs_of


def rate(name: str, value: float | None, unit: str = "B/s", **more: str) -> Rate:
    low, high = (None, None) if value is None else (value * 0.99, value * 1.01)
    verdict, reason = ("ok", None) if value is not None else ("unresolved", "no FMA here")
    return Rate(name, value, unit, low, high, 0.95, AT, "measured", verdict, reason)


FULL = {
    name: rate(name, 1e10)
    for name in [*PEAKS.values(), *(rate for scope in MEMORIES.values() for rate in scope.values())]
}


def test_every_rate_is_a_row_of_the_node_survey() -> None:
    assert set(FULL) <= set(table().by_name)


def test_one_cpu_and_all() -> None:
    roofs, lacking = roofs_of(FULL)
    assert [roof.name for roof in roofs] == ["one CPU", "all CPUs"]
    assert [one.name for one in roofs[0].ceilings] == ["L1", "L2", "L3", "memory, read", "memory, triad"]
    assert roofs[0].peak.low == pytest.approx(0.99e10)
    assert lacking == []


def test_what_was_not_measured_is_told_with_its_reason() -> None:
    some = {k: v for k, v in FULL.items() if k != "mem.l3.read"}
    some["cpu.fma.double.all"] = rate("cpu.fma.double.all", None, "flop/s")
    roofs, lacking = roofs_of(some)
    assert [roof.name for roof in roofs] == ["one CPU"]
    assert lacking == ["mem.l3.read was not measured", "cpu.fma.double.all: no FMA here"]


def test_nothing_to_draw_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"cpu.fma.double was not measured") as error:
        roofs_of({})
    assert "wulf rates publish" in error.value.next_step
