"""The node survey in a terminal: 80 columns, marks without colour, reasons as footnotes, curves a line a size."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.unit.measure.node_records import record
from tests.wording import lacking
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.measure.node.rows import table
from wulf.report.kit.terminal import print_all
from wulf.report.node.figures import BETTER, ODD, WORSE, Marked, margin, marks_of, scale_of
from wulf.report.node.sections import node_sections
from wulf.store.run import Run

ROWS = table().by_name


def shown(records: list[Record], findings: list[Finding] | None = None, width: int = 80, **console: Any) -> str:
    text = io.StringIO()
    run = Run(Path("x"), {"id": "r"}, records=records, findings=findings or [])
    print_all(node_sections(run), Console(file=text, width=width, **console))
    return text.getvalue()


def deviation(node: str, row: str, ratio: float) -> Finding:
    evidence = Evidence.model_validate({"subject": node, "metric": row, "value": ratio, "expected": 1.0, "row": row})
    return Finding(kind="deviation", severity=Severity.BAD, subject=node, text="x", evidence=[evidence])


def test_nothing_is_printed_where_nothing_is_of_a_node_survey() -> None:
    assert shown([]) == ""


def test_rows_times_nodes_in_one_unit_a_row_with_half_the_interval() -> None:
    text = shown([record("n1", "os.syscall.null", 9.51e-8), record("n2", "os.syscall.null", 2.1e-7, width=0.3)])
    (line,) = (line for line in text.splitlines() if "null call" in line)
    assert line.split() == ["null", "call", "ns", "95.1", "±1.0%", "210", "±15%"]


@pytest.mark.parametrize("nodes", [1, 3, 7, 12])
def test_nodes_fold_into_blocks_of_eighty_columns(nodes: int) -> None:
    names = [f"compute-node-with-a-long-name-{number}" for number in range(nodes)]
    text = shown([record(name, row, 1.234e-7) for name in names for row in ("os.syscall.null", "os.signal.handle")])
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("123 ±1.0%") + text.count("123") >= 2 * nodes


def test_deviating_figures_are_marked_with_and_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record("n1", "os.syscall.null", 1e-7), record("n2", "os.syscall.null", 2e-7)]
    plain = shown(records, [deviation("n2", "os.syscall.null", 2.0)])
    assert f"{WORSE}200 ±1.0%" in plain
    assert "worse than its like" in plain
    assert "\x1b[" not in plain
    coloured = shown(records, [deviation("n2", "os.syscall.null", 2.0)], force_terminal=True, color_system="standard")
    assert "\x1b[1;31m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    bare = shown(records, [deviation("n2", "os.syscall.null", 2.0)], force_terminal=True)
    assert "31m" not in bare
    assert WORSE in bare


@pytest.mark.parametrize(
    ("row", "ratio", "mark"),
    [
        ("os.syscall.null", 1.5, WORSE), ("os.syscall.null", 0.5, BETTER), ("mem.triad", 0.5, WORSE),
        ("mem.triad", 1.5, BETTER), ("power.package", 1.5, ODD), ("noise.detour.rate", 3.0, WORSE),
    ],
)  # fmt: skip
def test_the_mark_says_worse_by_what_the_row_is(row: str, ratio: float, mark: str) -> None:
    assert marks_of([deviation("n1", row, ratio)], ROWS) == {("n1", row): Marked(mark, ratio)}


def test_reasons_are_footnotes_each_once() -> None:
    records = [
        record("n1", row, None, reason="wulf-node has no probe 'signal'")
        for row in ("os.signal.install", "os.signal.handle")
    ]
    text = shown([*records, record("n1", "os.io_uring", None, reason="forbidden")])
    assert text.count("wulf-node has no probe 'signal'") == 1
    assert text.count("–1") == 3
    assert "–2 forbidden" in text


def test_noisy_and_failed_figures_say_so() -> None:
    text = shown([
        record("n1", "os.syscall.null", 1e-7, verdict=Verdict.NOISY, reason="interval 12 % wide"),
        record("n2", "os.syscall.null", None, verdict=Verdict.FAILED, reason="lost", supported=True),
    ])  # fmt: skip
    assert "~100 ±1.0%" in text
    assert "×1" in text
    assert "–1 lost" in text


def test_units_memory_in_bytes_network_in_bits_noise_in_percent() -> None:
    assert scale_of(ROWS["mem.triad"], [2e10]) == (1e9, "GB/s")
    assert scale_of(ROWS["net.tcp.rate"], [2.5e9])[1] == "Gbit/s"
    assert scale_of(ROWS["noise.detour.lost"], [0.001]) == (0.01, "%")
    assert scale_of(ROWS["cpu.fma.double"], [4e10]) == (1e9, "Gflop/s")
    assert scale_of(ROWS["mem.triad"], []) == (1.0, "")


def test_half_an_interval_is_short_however_wide_it_is() -> None:
    assert margin(record("n1", "os.syscall.null", 1e-7, low=None)) == ""
    assert margin(record("n1", "os.syscall.null", 1e-7, high=1e-3)) == "±>999%"


def test_curves_over_one_parameter_stand_side_by_side_a_line_a_size() -> None:
    points = [
        record("n1", "", size * 1e-12 * times, "s", curve=curve, params={"bytes": size})
        for curve, times in (("mem.chase.small", 2.0), ("mem.chase.huge", 1.0))
        for size in (4096, 8192, 16384)
    ]
    lines = shown(points).splitlines()
    (place,) = (index for index, line in enumerate(lines) if line.startswith("Over bytes, n1"))
    body = [line.split() for line in lines[place + 1 :] if line.strip()]
    assert body[0] == ["small", "huge"]
    assert body[1][0] == "bytes"
    assert [line[:2] for line in body[-3:]] == [["4", "KiB"], ["8", "KiB"], ["16", "KiB"]]


def test_a_matrix_is_one_line() -> None:
    pairs = [
        record("n1", "", (10 + other) * 1e-9, "s", phase="matrix", matrix="mem.core_to_core.pairs")
        for other in range(1, 4)
    ]
    (line,) = (line for line in shown(pairs).splitlines() if "core to core, n1" in line)
    assert lacking(line, ": 11 ns to 13 ns", "median 12 ns", "3 pairs") == []


def test_names_can_not_drive_a_terminal() -> None:
    assert "\x1b" not in shown([record("n1\x1b[31m", "os.syscall.null", 1e-7)])
