"""Curves as characters, exactly."""

from __future__ import annotations

from wulf.report.kit.page import forest_chart
from wulf.report.kit.textplot import ForestLine, Marked, sparkline, text_forest, text_plot
from wulf.report.kit.view import Forest, ForestRow
from wulf.stats.estimates import Interval


def test_a_plot_exactly() -> None:
    drawn = text_plot(
        [Marked(".", [1, 10, 100], [1, 10, 100]), Marked("o", [10], [10])],
        [(1, "1"), (10, "10"), (100, "100"), (1000, "beyond")],
        [(1, "1"), (100, "100")],
        width=26,
        height=5,
    )
    assert drawn == [
        " 100┤                    .",
        "    │",
        "    │          o",
        "    │",
        "   1┤.",
        "    └┬─────────┬─────────┬",
        "     1        10       100",
    ]


def test_what_has_no_place_on_a_log_axis_is_left_out() -> None:
    assert text_plot([Marked("x", [0, 1, 2], [1, float("inf"), -1])], [], []) == []
    assert any("x" in line for line in text_plot([Marked("x", [1], [5])], [], []))


def test_labels_never_run_into_each_other() -> None:
    ticks = [(float(n), f"{n} workers") for n in range(1, 50)]
    last = text_plot([Marked("x", [1, 50], [1, 50])], ticks, [], width=60)[-1]
    assert last.split(" workers")[-1] == ""
    assert all(part.strip().isdecimal() for part in last.split(" workers")[:-1])
    assert last.count("workers") >= 2
    assert all(len(line) <= 60 for line in text_plot([Marked("x", [1, 50], [1, 50])], ticks, [], width=60))


def test_bars() -> None:
    assert sparkline([1.0, 1.0, 8.0, 8.0], 10, [("1", 2)]) == ("▁▁██", "  1")
    assert sparkline([3.0] * 5, 3) == ("▅▅▅", "")
    bars, marks = sparkline([1.0] * 500 + [2.0] * 500, 40, [("1", 500), ("2", 501)])
    assert bars == "▁" * 20 + "█" * 20
    assert marks == " " * 20 + "+"


def test_a_forest_exactly() -> None:
    spans = [
        ForestLine("one", 5, (3, 8), (-4, 12)),
        ForestLine("another", -2, (-3, -1), (-3, -1)),
        ForestLine("c", 9, (7, 99), (7, 99)),
    ]
    assert text_forest(spans, (-5.0, 15.0), "%", width=29) == [
        "one      ───────━━●━━━────",
        "another   ━●━│",
        "c            │      ━━●━━━━━━",
        "        -5 % 0          +15 %",
    ]


def test_an_axis_has_zero_and_no_interval_hides_the_values() -> None:
    rows = [ForestRow("a", Interval(2, 1, 3)), ForestRow("b", Interval(-1, -2, 0), Interval(-1, float("-inf"), 1e9))]
    forest = Forest("f", rows, "less time", "mean", "one more")
    assert forest.axis == (-8, 8)
    assert Forest("f", rows[:1], "less time", "mean").axis == (0, 3)
    inner, outer = forest_chart(forest)["series"]
    assert (inner["row"], inner["low"], inner["high"]) == ([0, 1], [1, -2], [3, 0])
    assert (outer["row"], outer["low"], outer["high"]) == ([1], [-8], [8])
