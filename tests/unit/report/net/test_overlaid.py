"""Curves of several runs in one picture for each way."""

from __future__ import annotations

import io

from rich.console import Console

from tests.unit.report.net.test_curve import SIZES, curve
from wulf.measure.engine.curve import NET_ARMS
from wulf.report.kit.page import render_view
from wulf.report.kit.terminal import print_view
from wulf.report.net.overlaid import curves_of_runs, json_rows, overlaid_view


def test_each_way_is_a_picture_of_all_runs() -> None:
    found = curves_of_runs({"gigabit": curve(), "infiniband": curve()})
    view = overlaid_view(found)
    assert [section.heading.lower() for section in view.sections] == [arm.name for arm in NET_ARMS]
    for section in view.sections:
        assert section.plot is not None
        assert [drawn.name for drawn in section.plot.curves] == ["gigabit", "infiniband"]
    assert len(list(json_rows(found))) == 2 * len(NET_ARMS) * len(SIZES)


def test_it_is_read_in_80_columns_and_on_a_page() -> None:
    view = overlaid_view(curves_of_runs({"gigabit": curve(), "infiniband": curve()}))
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    print_view(view, console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert "carries the most: 32.8 Gbit/s" in " ".join(lines)
    assert "infiniband" in render_view(view)
