"""Cache sizes as records: whose edge is whose, what agrees with what is reported, and why there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.edges import curves
from bench.edges.curves import KIB, LAPTOP, MIB, SERVER, Machine

from tests.machines import tree
from wulf.core.records import Provenance, Record, Verdict
from wulf.measure.node.edges import assign, edge_records, reported_sizes, sigma_peaks
from wulf.stats.curves.edges import Edge
from wulf.stats.estimates import Interval

AT = "2026-11-21T12:00:00+00:00"
FACTS: dict[str, dict[str, Any]] = {
    "cpu.l1d_size": {"value": 32 << 10, "provenance": "reported"},
    "cpu.l2_size": {"value": 1 << 20, "provenance": "reported"},
    "cpu.l3_size": {"value": 32 << 20, "provenance": "reported"},
}


def record(samples: Sequence[float], *, metric: str = "latency", node: str = "n1", **params: Any) -> Record:
    return Record(
        run="r", subject=node, probe="node", metric=metric, unit="s", params={"pattern": "chase", **params},
        value=float(np.median(samples)), verdict=Verdict.OK, samples=list(samples), at=AT,
    )  # fmt: skip


def swept(machine: Machine, pages: str = "huge", node: str = "n1", most: float = 1e12) -> list[Record]:
    random = np.random.default_rng(1)
    replicates = curves.sweep(random, machine, curves.USUAL, curves.grid(4, machine), 8)
    return [
        record(values, node=node, bytes=int(size), pages=pages) for size, values in replicates.items() if size <= most
    ]


def by_level(records: Sequence[Record]) -> dict[Any, Record]:
    return {record.params["level"]: record for record in records}


def test_each_level_gets_its_edge_beside_what_is_reported() -> None:
    found = edge_records(swept(Machine("server", SERVER)), {"n1": FACTS}, "r")
    assert [entry.params["level"] for entry in found] == ["l1", "l2", "l3"]
    for entry, size in zip(found, SERVER, strict=True):
        assert (entry.probe, entry.metric, entry.unit, entry.subject, entry.at) == ("node", "edge", "B", "n1", AT)
        assert (entry.verdict, entry.provenance, entry.reason) == (Verdict.OK, Provenance.MEASURED, None)
        assert entry.low is not None and entry.value is not None and entry.high is not None
        assert entry.low <= entry.value <= entry.high
        assert entry.reported == size
        assert entry.agrees is True
        assert entry.row == f"mem.{entry.params['level']}.size"
        assert entry.half_rise["high"] >= entry.low
        assert entry.before < entry.after


def test_a_cache_of_which_half_can_be_used_does_not_agree() -> None:
    found = by_level(edge_records(swept(Machine("shared", (32 * KIB, MIB, 12 * MIB))), {"n1": FACTS}, "r"))
    assert found["l3"].agrees is False
    assert found["l3"].verdict is Verdict.OK
    assert found["l3"].value == pytest.approx(12 * MIB, rel=0.2)


def test_a_level_without_an_edge_is_null_with_the_reason() -> None:
    found = by_level(edge_records(swept(Machine("no third", (32 * KIB, MIB)), most=4 * MIB), {"n1": FACTS}, "r"))
    assert found["l3"].value is None
    assert "the sweep ends at 4194304 B" in str(found["l3"].reason)
    assert found["l3"].reported == 32 << 20


def test_a_level_that_the_kernel_does_not_have_has_no_record_but_its_edge_has() -> None:
    facts: dict[str, dict[str, Any]] = {
        **FACTS,
        "cpu.l3_size": {"value": None, "reason": "no cache of level 3 in /sys", "absent": True},
    }
    found = edge_records(swept(Machine("server", SERVER)), {"n1": facts}, "r")
    assert [entry.params["level"] for entry in found] == ["l1", "l2", None]
    assert not found[2].row
    assert found[2].reported is None


def test_without_facts_edges_are_named_by_their_order() -> None:
    found = by_level(edge_records(swept(Machine("server", SERVER)), {}, "r"))
    assert found["l2"].value == pytest.approx(MIB, rel=0.2)
    assert (found["l2"].agrees, found["l2"].reported) == (None, None)
    assert "lack cpu.l2_size" in found["l2"].reported_reason


def test_huge_pages_are_taken_where_they_reach_as_far() -> None:
    server = Machine("server", SERVER)
    small = swept(Machine("coloured", SERVER, curves.coloured), pages="small")
    assert {e.params["pages"] for e in edge_records([*small, *swept(server)], {"n1": FACTS}, "r")} == {"huge"}
    short = swept(server, most=2 * MIB)
    found = edge_records([*small, *short], {"n1": FACTS}, "r")
    assert {entry.params["pages"] for entry in found} == {"small"}
    assert all(entry.agrees for entry in found)


def test_strides_chains_and_other_nodes_are_no_part_of_a_sweep() -> None:
    server = swept(Machine("server", SERVER))
    plain = edge_records(server, {"n1": FACTS}, "r")
    odd = [
        record([1.0] * 8, bytes=1 << 14, pages="huge", stride=64),
        record([1.0] * 8, bytes=1 << 14, pages="huge", chains=8),
        record([1.0] * 8, bytes=1 << 14, metric="throughput"),
    ]
    assert edge_records([*server, *odd], {"n1": FACTS}, "r") == plain
    both = edge_records([*server, *swept(Machine("laptop", LAPTOP), node="n2")], {"n1": FACTS}, "r")
    assert [entry.subject for entry in both] == ["n1"] * 3 + ["n2"] * 3


def test_too_short_a_sweep_is_said_for_every_level() -> None:
    found = edge_records(swept(Machine("server", SERVER), most=3 * KIB), {"n1": FACTS}, "r")
    assert [entry.value for entry in found] == [None] * 3
    assert "5 such sizes are needed" in str(found[0].reason)


def test_no_sweep_no_record() -> None:
    assert edge_records([], {"n1": FACTS}, "r") == []


def test_the_caches_of_a_hybrid_processor_are_all_its_sizes() -> None:
    laptop = tree.expected("laptop-hybrid")
    assert reported_sizes(laptop, "cpu.l2") == ([5 << 18, 2 << 20], None)
    sizes = (48 * KIB, 1.25 * MIB, 24 * MIB)
    found = by_level(edge_records(swept(Machine("hybrid", sizes)), {"n1": laptop}, "r"))
    assert [found[level].reported for level in ("l1", "l2", "l3")] == list(sizes)


def edge(size: float, unresolved: str | None = None) -> Edge:
    place = Interval(size, size / 1.1, size * 1.1)
    return Edge(place, place, 1e-9, 4e-9, 1.0, unresolved)


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [
        ([32e3, 1e6, 32e6], {"l1": 32e3, "l2": 1e6, "l3": 32e6}),
        ([1e6, 32e6], {"l2": 1e6, "l3": 32e6}),
        ([32e3, 256e3, 1e6], {"l1": 32e3, "l2": 1e6}),  # the second is a TLB's
        ([32e3, 1e6, 3e6], {"l1": 32e3, "l2": 1e6}),  # too far from 32 MB to be its edge
        ([], {}),
    ],
)
def test_edges_go_to_the_level_that_they_are_nearest_to(sizes: list[float], levels: dict[str, float]) -> None:
    found = assign([edge(size) for size in sizes], {"l1": [32_000], "l2": [1_000_000], "l3": [32_000_000]})
    assert {level: each.left.value for level, each in found.items()} == levels


def test_of_two_edges_the_resolved_one_is_taken() -> None:
    found = assign([edge(0.95e6, "in doubt"), edge(1.1e6)], {"l2": [1_000_000]})
    assert found["l2"].unresolved is None


def test_the_peak_of_the_scatter_stands_beside_the_edge() -> None:
    chase = swept(Machine("server", SERVER))
    random = np.random.default_rng(4)
    rates = []
    for size in 2048 * 2.0 ** (np.arange(61) / 4):
        sigma = 1e-11 * np.exp(2 * np.exp(-(np.log2(size / MIB) ** 2) / 0.25) + 0.1 * random.normal(size=8))
        params: dict[str, Any] = {"bytes": int(size), "pattern": "cpu-rate"}
        rates += [record([1e-9] * 8, metric="time", **params), record(sigma.tolist(), metric="deviation", **params)]
    assert len(sigma_peaks(rates)) == 1
    found = by_level(edge_records([*chase, *rates], {"n1": FACTS}, "r"))
    assert found["l2"].sigma_peak["value"] == pytest.approx(MIB, rel=0.2)
    assert found["l1"].sigma_peak is None


def test_a_recorded_sweep_of_a_guest_whose_neighbours_take_the_last_cache() -> None:
    # Latencies in seconds by working set, huge pages, of a virtual machine with 32 KiB, 1 MiB and "32 MiB": loads are
    # at 14 ns or at 150 ns from 1.5 to 4 MiB, as others leave room or not. So the second edge has no end of its own.
    times = json.loads((Path(__file__).parents[1] / "recorded_sweeps/shared_last_cache.json").read_text())
    chase = [record(values, bytes=int(size), pages="huge") for size, values in times.items()]
    found = by_level(edge_records(chase, {"n1": FACTS}, "r"))
    assert (found["l1"].verdict, found["l1"].agrees) == (Verdict.OK, True)
    assert found["l1"].value == pytest.approx(32 * KIB, rel=0.1)
    assert found["l2"].verdict is Verdict.UNRESOLVED
    assert "without a plateau: several edges" in str(found["l2"].reason)
    assert found["l2"].agrees is None
    assert found["l3"].value is None
    assert "no edge of its own" in str(found["l3"].reason)


def test_a_vague_edge_is_marked_by_no_peak() -> None:
    times = {2048 * 2.0 ** (k / 4): 1e-9 * min(max(2.0 ** ((k - 20) / 4), 1.0), 64.0) for k in range(61)}
    chase = [record([value] * 8, bytes=int(size), pages="huge") for size, value in times.items()]
    rates = []
    for size in times:
        params: dict[str, Any] = {"bytes": int(size), "pattern": "cpu-rate"}
        sigma = 1e-10 if 4e5 < size < 5e5 else 1e-12
        rates += [record([1e-9] * 8, metric="time", **params), record([sigma] * 8, metric="deviation", **params)]
    (peak,) = sigma_peaks(rates)
    facts: dict[str, dict[str, Any]] = {**FACTS, "cpu.l2_size": {"value": 1 << 18}}
    found = by_level(edge_records([*chase, *rates], {"n1": facts}, "r"))["l2"]
    assert peak.resolved
    assert found.verdict is Verdict.UNRESOLVED
    assert found.low is not None and found.low < peak.size.value < found.half_rise["high"]
    assert found.sigma_peak is None
