"""Curves as characters, exactly."""

from __future__ import annotations

from wulf.report.kit.textplot import Marked, sparkline, text_plot


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
