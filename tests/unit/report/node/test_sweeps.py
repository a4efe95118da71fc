"""Curves over the working set, cache edges, matrices within a node, and noise: data for the charts."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.unit.report.make_node import (
    SIZES,
    bandwidth_records,
    core_records,
    edge_records,
    measured,
    node_facts,
    node_run,
    numa_records,
    sweep_records,
)
from tests.wording import Wording, lacking
from wulf.core.records import Param, Record, Verdict
from wulf.report.kit.view import Cell, Columns, Drawing, Note, SideBySide, walk
from wulf.report.node.grid import readable
from wulf.report.node.matrices import CORES, matrices, matrix_chart, matrix_section, numa_places
from wulf.report.node.noise import noise_section, panel_chart, share_scale, shown_nodes
from wulf.report.node.sweeps import (
    bandwidth_chart,
    bandwidth_curves,
    edge_lines,
    latency_chart,
    latency_curves,
    marks,
    size_ticks,
    sweep_table,
    threads_text,
    unresolved_edges,
)

SWEEP = sweep_records("n1", random.Random(1))


def chase(size: int, value: float | None, **params: Param) -> Record:
    why: dict[str, Any] = {"reason": "no huge pages"} if value is None else {}
    return measured(
        "n1", "latency", value, {"pattern": "chase", "bytes": size, **params}, unit="s", phase="curve", **why
    )


def test_latency_has_a_curve_for_each_kind_of_pages_smallest_size_first() -> None:
    curves = latency_curves(list(reversed(SWEEP)))
    assert [curve.name for curve in curves] == ["small pages", "huge pages"]
    assert [size for size, _ in curves[0].points] == SIZES


def test_strides_and_several_chains_are_no_points_of_the_curve() -> None:
    records = [chase(2**e, 1e-9) for e in range(12, 15)]
    more = [chase(2**20, 5e-9, stride=128), chase(2**20, 5e-9, chains=4)]
    (curve,) = latency_curves(records + more)
    assert [size for size, _ in curve.points] == [4096, 8192, 16384]
    assert latency_curves(records[:1]) == []
    for record in records:
        record.phase = "row"
    assert latency_curves(records) == []  # rows of the table, joined by a line, would be no curve


def test_the_panels_share_an_axis_from_latency_to_rate() -> None:
    chart = latency_chart(SWEEP, {})
    assert chart is not None
    assert [panel["title"].partition(",")[0] for panel in chart["panels"]] == [
        "latency of a load", "σ of cpu-rate", "cpu-rate",
    ]  # fmt: skip
    assert [panel["series"][0]["style"] for panel in chart["panels"]] == ["band", "band", "bars"]
    for panel in chart["panels"]:
        for one in panel["series"]:
            assert len(one["x"]) == len(one["y"]) == len(one["low"]) == len(one["hover"])
            assert all(low < y < high for low, y, high in zip(one["low"], one["y"], one["high"], strict=True))
    assert latency_chart([], {}) is None


def test_a_size_without_a_value_is_a_gap_that_says_why() -> None:
    records = [chase(4096, 1e-9), chase(8192, None), chase(16384, 1e-9)]
    chart = latency_chart(records, {})
    assert chart is not None
    (series,) = chart["panels"][0]["series"]
    assert series["y"] == [1e-9, None, 1e-9]
    assert "no huge pages" in series["hover"][1]


def test_a_sweep_without_any_value_has_no_chart_and_keeps_its_table() -> None:
    records = [chase(4096, None), chase(8192, None)]
    assert latency_chart(records, {}) is None
    assert sweep_table(records).rows[0][4] == Cell("unresolved: no huge pages", "unresolved")


def test_edges_are_marked_beside_what_the_system_reports(wording: Wording) -> None:
    facts = {"cpu.l1d_size": {"value": 1}, "cpu.l3_size": {"value": 1 << 25}, "cpu.l2_size": {"value": None}}
    found = marks(edge_records("n1"), facts)
    assert [(mark.name, mark.found) for mark in found] == [
        ("L1", True), ("L1", False), ("L2", True), ("L2", False), ("L3", False), ("?", True),
    ]  # fmt: skip
    assert found[1].bytes == 48 << 10  # the record knows better than the fact
    lines = edge_lines(edge_records("n1"), facts)
    assert lacking(lines[0], "L1 ends at 46.1 KiB (40.8–53.8 KiB)", " 62.4 KiB", "system reports 48 KiB") == []
    assert lines[2] == "L3: the system reports 32 MiB"
    assert lacking(lines[3], "by no reported cache", "at 5.76 MiB") == []
    (unresolved,) = unresolved_edges(edge_records("n1"))
    assert lacking(unresolved, "L3: ", "L3 and memory", "not told apart") == []
    wording("\n".join((*lines, unresolved)))


def test_a_chart_has_the_marks_within_its_axis_alone() -> None:
    records = [chase(size, 1e-9) for size in (1 << 20, 2 << 20, 4 << 20)]
    chart = latency_chart(records + edge_records("n1"), {})
    assert chart is not None
    assert [mark["name"] for mark in chart["marks"]] == ["L2", "L2"]


def test_bandwidth_has_a_panel_for_each_number_of_threads_and_dashes_for_nontemporal_stores() -> None:
    records = [readable(record) for record in bandwidth_records("n1", random.Random(1))]
    curves = bandwidth_curves(records)
    assert list(curves) == ["one CPU", "all CPUs"]
    assert [curve.name for curve in curves["one CPU"]][:3] == ["read", "write", "write, non-temporal"]
    chart = bandwidth_chart(records)
    assert chart is not None
    series = chart["panels"][0]["series"]
    assert [one["dashed"] for one in series[:3]] == [False, False, True]
    assert series[1]["colour"] == series[2]["colour"]
    assert bandwidth_chart(SWEEP) is None
    assert [threads_text(threads) for threads in (0, 1, None, 4)] == ["all CPUs", "one CPU", "one CPU", "4 CPUs"]


def test_ticks_of_sizes_are_powers_of_two_and_few() -> None:
    ticks = size_ticks([3000, 200_000_000])
    assert len(ticks) <= 9
    assert all(float(size).is_integer() and int(size).bit_count() == 1 for size, _ in ticks)
    assert size_ticks([]) == []


def test_the_table_holds_every_point_that_is_drawn() -> None:
    rows = sweep_table(SWEEP).rows
    assert len(rows) == len(SWEEP)
    assert {row[0] for row in rows} == {
        "latency, small pages", "latency, huge pages", "σ per operation, cpu-rate", "rate, cpu-rate",
    }  # fmt: skip


@pytest.mark.parametrize("cpus", [2, 8, 16])
def test_a_matrix_of_cores_has_every_pair_and_prints_them_all(cpus: int) -> None:
    ((kind, matrix),) = matrices("n1", 0, core_records("n1", cpus, random.Random(1)), {})
    chart = matrix_chart(kind, matrix)
    assert kind is CORES
    assert chart["nodes"] == [str(cpu) for cpu in range(cpus)]
    assert all(chart["z"][i][i] is None for i in range(cpus))
    assert chart["z"][0][1] is not None
    assert chart["z"][1][0] == chart["z"][0][1]
    assert chart["yellowHigh"] is True
    elements = list(walk(matrix_section(kind, matrix).elements))
    (table,) = (one for one in elements if isinstance(one, Columns))
    assert [len(row) for row in table.rows] == [1 + cpus] * cpus
    if cpus > 3:
        assert "CPU 0 and CPU 3" in chart["hover"][0][3]
        assert "not in this process" in chart["hover"][3][0]
        _, missing = (one.text for one in elements if isinstance(one, Note))
        assert lacking(missing, "CPU 0 and CPU 3: ", "CPU 3 is not in this process") == []


def test_more_cores_are_drawn_and_not_printed_and_too_many_are_said() -> None:
    rng = random.Random(1)
    ((kind, matrix),) = matrices("n1", 0, core_records("n1", 24, rng), {})
    assert [type(one) for one in matrix_section(kind, matrix).body] == [Note, Drawing, Note]
    ((kind, matrix),) = matrices("n1", 0, core_records("n1", 130, rng), {})
    assert [type(one) for one in matrix_section(kind, matrix).body] == [Note, Note]


def test_numa_has_rows_by_the_cpus_node_and_columns_by_the_memorys() -> None:
    assert numa_places(node_facts("n1"))[5] == "1"
    unknown = {"value": None, "reason": "?"}
    assert numa_places({"numa.0.cpus": {"value": "none"}, "numa.1.cpus": unknown, "numa.2.cpus": {"value": "x"}}) == {}
    by_name = measured("n1", "latency", 9e-8, {"pattern": "numa", "cpu": 0, "memory_node": "near"}, unit="s")
    found = matrices("n1", 0, [*numa_records("n1"), by_name], node_facts("n1"))
    assert [matrix.metric for _, matrix in found] == ["latency", "throughput"]
    latency, bandwidth = (matrix_chart(kind, matrix) for kind, matrix in found)
    assert latency["text"] == [["88.0", "141"], ["141", "88.0"]]
    assert bandwidth["yellowHigh"] is False
    assert "CPUs of node 0, memory of node 1" in latency["hover"][0][1]
    assert matrices("n1", 0, numa_records("n1"), {}) == []  # which CPU is where is not known: nothing is guessed


def noise(node: str, value: float | None, **fields: Any) -> Record:
    return measured(node, "lost", value, {"pattern": "detour"}, unit="1", **fields)


def test_noise_has_a_panel_a_figure_and_a_point_a_node() -> None:
    elements, charts = parts(node_run(("n1", "n2", "n3")).records)
    (panels,) = (one for one in elements if isinstance(one, SideBySide))
    assert [one.heading for one in panels.sections][:2] == [
        "interruptions a second (selfish detour)", "longest interruption (selfish detour)",
    ]  # fmt: skip
    assert all(chart["names"] == ["n1", "n2", "n3"] for chart in charts)
    assert len(rows_in(elements)) == 3 * len(charts)
    assert noise_section([]) == []


def parts(records: list[Record]) -> tuple[list[Any], list[Any]]:
    """The elements of the section on noise, and its charts."""
    elements = list(walk(noise_section(records)))
    return elements, [one.make() for one in elements if isinstance(one, Drawing)]


def rows_in(elements: list[Any]) -> Any:
    return next(one.rows for one in elements if isinstance(one, Columns))


def test_noise_that_was_not_measured_is_a_row_with_its_reason_and_no_point() -> None:
    elements, charts = parts([noise("n1", None, reason="no tracefs"), noise("n2", 1e-3)])
    assert charts[0]["names"] == ["n2"]
    assert rows_in(elements)[0][4].text == "unresolved: no tracefs"


def test_of_many_nodes_the_noisiest_are_shown() -> None:
    nodes = {f"n{i}": noise(f"n{i}", i * 1e-5 + 1e-6) for i in range(1, 61)}
    assert shown_nodes(nodes) == [f"n{i}" for i in range(21, 61)]
    assert parts([noise("n1", None, reason="?")])[1] == []


def test_a_span_of_decades_is_logarithmic_and_a_zero_has_no_place_on_it() -> None:
    wide = panel_chart("lost", "detour", {"a": noise("a", 1e-5), "b": noise("b", 1e-2)})
    zero = panel_chart("lost", "detour", {"a": noise("a", 0.0), "b": noise("b", 1e-2)})
    assert (wide["log"], zero["log"]) == (True, False)
    assert wide["series"][0]["x"] == pytest.approx([0.001, 1.0])
    assert zero["series"][0]["x"] == [0.0, 1.0]


def test_shares_are_read_in_per_cent_or_millionths() -> None:
    assert share_scale(0.002, "1") == (0.01, "%")
    assert share_scale(5e-6, "1") == (1e-6, "ppm")
    assert share_scale(4e-5, "s") == (1e-6, "µs")


def test_noisy_points_are_told_apart() -> None:
    chart = panel_chart("lost", "detour", {"a": noise("a", 1e-3, verdict=Verdict.NOISY, reason="drift")})
    assert chart["series"][0]["noisy"] == [True]
