"""Rows that follow from others, and the records of rows without a figure."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.measure.node_records import record
from tests.wording import Wording
from wulf.measure.node.cells import Lack
from wulf.measure.node.derived import derived_records, lacking_records
from wulf.measure.node.rows import table


def info(before: float) -> dict[str, Any]:
    return {"clock_rate": {"unit": "Hz", "before": before, "after": before}}


def test_the_clock_rate_is_the_median_over_a_nodes_cells() -> None:
    rates = [2.9e9, 3.0e9, 3.0e9, 3.0e9, 3.1e9, 3.0e9, 3.0e9]
    records = [record("n1", "os.syscall.null", 1e-7, info=info(rate)) for rate in rates]
    (clock,) = derived_records(records, {}, "r")
    assert (clock.subject, clock.metric, clock.unit, clock.value, clock.row) == ("n1", "clock", "Hz", 3e9, "cpu.clock")  # type: ignore[attr-defined]
    assert clock.low == 2.8e9, "a step of what the figures show below the least"
    assert derived_records(records[:5], {}, "r") == []


def test_parallelism_is_how_much_faster_loads_are_at_best() -> None:
    times = {1: 100e-9, 2: 50e-9, 4: 25e-9, 8: 20e-9, 16: 21e-9}
    points = [
        record("n1", "", value, "s", curve="mem.chains", params={"chains": chains}) for chains, value in times.items()
    ]
    (found,) = derived_records(points, {}, "r")
    assert found.value == pytest.approx(5.0)
    assert found.params["chains"] == 8
    assert found.low is not None
    assert found.high is not None
    assert found.low < 5.0 < found.high


def test_rows_without_a_figure_have_a_record_with_the_reason(wording: Wording) -> None:
    rows = table().by_name
    there = [record("n1", "os.syscall.null", 1e-7)]
    wanted = ["os.syscall.null", "mem.l3.latency", "cpu.clock", "noise.detour.worst"]
    lacks = [Lack("n1", rows["mem.l3.latency"], "no cache of level 3 in /sys")]
    found = {one.row: one for one in lacking_records(there, lacks, wanted, ["n1"], "r")}  # type: ignore[attr-defined]
    assert found["mem.l3.latency"].reason == "no cache of level 3 in /sys"
    assert "not measured" in str(found["cpu.clock"].reason)
    wording(str(found["cpu.clock"].reason))
    assert found["noise.detour.worst"].reason == "detour gave no figure of the kind"
    assert all(one.value is None and not one.supported for one in found.values())
    assert len(found) == 3


def test_cache_edges_fill_the_rows_of_their_levels_or_say_why_not() -> None:
    facts = {
        "n1": {f"cpu.{name}_size": {"value": size} for name, size in (("l1d", 32768), ("l2", 1 << 20), ("l3", 1 << 24))}
    }
    points = [
        record("n1", "", 1e-9, "s", curve="mem.chase.huge", samples=[1e-9] * 8, replicates=8,
               params={"pattern": "chase", "bytes": size, "pages": "huge", "stride": 0, "chains": 1})
        for size in (4096, 8192, 16384)
    ]  # fmt: skip
    found = {one.row: one for one in derived_records(points, facts, "r")}  # type: ignore[attr-defined]
    assert set(found) == {"mem.l1.size", "mem.l2.size", "mem.l3.size"}
    assert all(one.value is None and one.reason and not one.supported for one in found.values())
