"""The rows of the node probe over nodes: scaled, marked where findings say so, null with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.report.make_node import NOT_HERE, deviation, measured, node_run
from wulf.core.records import Verdict
from wulf.core.units import show_in
from wulf.measure.node.rows import rows_of, table
from wulf.report.node.figures import BETTER, ODD, WORSE, Marked, Reasons, marks_of
from wulf.report.node.grid import blocks, most_odd, node_names, ratio_text, readable, shade


@pytest.mark.parametrize(
    ("mark", "ratio", "said", "shaded"),
    [
        (WORSE, 1.31, "▲ +31 % worse", "worse-2"),
        (WORSE, 1.05, "▲ +5 % worse", "worse-1"),
        (WORSE, 0.4, "▲ ÷2.5 worse", "worse-3"),
        (WORSE, 0.8, "▲ −20 % worse", "worse-2"),
        (BETTER, 2.4, "▽ ×2.4 better", "better-3"),
        (BETTER, 0.94, "▽ −6 % better", "better-1"),
        (ODD, 2.0, "◆ ×2", "other-3"),
    ],
)
def test_a_deviation_is_read_with_and_without_colour(mark: str, ratio: float, said: str, shaded: str) -> None:
    assert ratio_text(Marked(mark, ratio)) == said
    assert shade(Marked(mark, ratio)) == shaded


def test_what_a_node_does_alone_is_counted_in_bytes() -> None:
    memory = measured("n1", "throughput", 1e10, {"pattern": "bandwidth"}, unit="B/s")
    assert readable(memory).unit == "byte/s"
    assert readable(measured("n1>n1", "throughput", 1e10, {}, unit="B/s", probe="net")).unit == "B/s"
    assert memory.unit == "B/s"


def test_the_nodes_that_deviate_most_are_shown_in_natural_order() -> None:
    nodes = ["n1", "n2", "n3", "n10"]
    marks = {("n10", "a"): Marked(WORSE, 2), ("n10", "b"): Marked(WORSE, 2), ("n3", "a"): Marked(ODD, 2)}
    assert most_odd(nodes, marks, 2) == ["n3", "n10"]
    assert most_odd(nodes, marks, 3) == ["n1", "n3", "n10"]
    assert most_odd(nodes, {}, 9) == nodes


def lines_of(rows: Any, nodes: list[str], marks: Any) -> tuple[dict[str, Any], list[str]]:
    """Name of a row → its cells; and the reasons."""
    reasons = Reasons()
    found = blocks(rows, table().rows, nodes, marks, reasons)
    lines = {line[0].title.partition(":")[0]: line for columns in found.values() for line in columns.rows}
    return lines, list(reasons.numbers)


def test_every_row_that_anybody_has_stands_in_its_block_scaled_by_its_median() -> None:
    run = node_run(("n1", "n2"))
    rows = rows_of(run.records)
    lines, reasons = lines_of(rows, node_names(rows), {})
    assert set(lines) == {row.name for row in table().rows if row.name in rows["n1"]}
    assert lines["mem.l1.latency"][1].text == "ns"
    assert lines["cpu.int.add.rate"][1].text == "GHz"
    assert lines["mem.triad"][1].text == "GB/s"
    assert lines["net.pipe.rate"][1].text == "Gbit/s"
    for node, cell in zip(("n1", "n2"), lines["mem.l1.latency"][2:], strict=True):
        record = rows[node]["mem.l1.latency"]
        assert cell.text == show_in(record.value, 1e-9)
        assert cell.small == [f"{show_in(record.low, 1e-9)}–{show_in(record.high, 1e-9)}"]
    nulls = [rows["n1"][line].reason for line in lines if rows["n1"][line].value is None]
    assert reasons == list(dict.fromkeys(nulls))
    assert set(NOT_HERE.values()) < set(reasons), "and of L3, whose size is not resolved"


def test_a_null_has_a_dash_and_the_number_of_its_reason_a_failure_its_mark() -> None:
    run = node_run(("n1",))
    rows = rows_of(run.records)
    failed = rows["n1"]["cpu.int.add"]
    failed.value = failed.low = failed.high = None
    failed.verdict, failed.reason = Verdict.FAILED, "killed by SIGKILL"
    lines, reasons = lines_of(rows, ["n1"], {})
    cells = {name: line[2] for name, line in lines.items()}
    assert cells["cpu.int.add"].text == "×"
    assert reasons[cells["cpu.int.add"].note - 1] == "killed by SIGKILL"
    assert cells["os.io_uring"].text == "–"
    assert reasons[cells["os.io_uring"].note - 1] == NOT_HERE["os.io_uring"]
    assert cells["cpu.int.div"].note == 0


def test_cells_are_shaded_where_a_finding_says_so_and_nowhere_else() -> None:
    run = node_run(("n1", "n2"))
    rows = rows_of(run.records)
    marks = marks_of([deviation("n2", {"mem.triad": 0.4})], table().by_name)
    lines, _ = lines_of(rows, ["n1", "n2"], marks)
    styles = {name: [cell.style for cell in line[2:]] for name, line in lines.items()}
    assert [(name, own) for name, own in styles.items() if any("-" in one for one in own)] == [
        ("mem.triad", ["ok", "worse-3"])
    ]
