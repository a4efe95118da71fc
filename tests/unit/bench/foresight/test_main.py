"""Of the contest of predictions and runs: how settings change what was measured, what the table says, where it goes."""

from __future__ import annotations

import pytest
from bench.foresight import __main__ as foresight
from bench.foresight.__main__ import TRACED, Row, Setting
from bench.report.docs import rewritten

from tests.wording import lacking

MEASURED = {"latency": 1.1e-3, "send": 5e-6, "byte": 90e-9}


def test_a_setting_changes_what_its_links_change() -> None:
    slower = Setting("slower", TRACED.delay + 1e-3, TRACED.rate / 2)
    changed = slower.changed(MEASURED, TRACED)
    assert changed["latency"] == pytest.approx(1.1e-3 + 2e-3 + 66 * 8 / TRACED.rate)  # two links lie between two nodes
    assert changed["byte"] == pytest.approx(90e-9 + (1514 / 1448) * 8 / TRACED.rate)
    assert changed["send"] == 5e-6


def test_no_setting_makes_a_figure_negative() -> None:
    changed = Setting("quick", 0.0, 1e15).changed({"latency": 1e-6, "byte": 1e-12}, TRACED)
    assert changed == {"latency": 0.0, "byte": 0.0}


def rows(*runs: tuple[float, ...]) -> list[Row]:
    settings = [setting.name for setting in foresight.SETTINGS]
    return [Row("halo", name, 1.0 + i, own, 0.9) for i, (name, own) in enumerate(zip(settings, runs, strict=True))]


def test_errors_are_of_the_settings_that_were_not_traced() -> None:
    text = foresight.table(rows((9.0,), (2.0, 2.0, 8.0), (2.0,), (4.0, 5.0)), 2)
    table = [line.strip("| ").split(" | ") for line in text.splitlines()]
    assert ["halo", "as traced", "1", "9", "9 – 9", "-88.9%"] in table
    assert lacking(text, "2 ranks", "3 other settings", "median |error| 11.1%", "greatest 50.0%", "covers 90.0%") == []


def test_the_order_counts_where_runs_tell_it() -> None:
    assert "is right for every program" in foresight.table(rows((2.0, 3.0), (2.5, 2.6), (4.0,), (5.0,)), 2)
    assert "is wrong for halo" in foresight.table(rows((2.0,), (3.0,), (5.0,), (4.0,)), 2)


def test_the_page_has_a_place_for_the_table() -> None:
    assert "a table" in rewritten(foresight.PAGE.read_text(), "a table")
