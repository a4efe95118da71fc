"""Curves of machines in one picture: whose they are, where they lie, and who was not swept."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.unit.report.make_node import SIZES, latency, node_run
from wulf.measure.node.machines import Machine, machines_of
from wulf.report.kit.page import write_view
from wulf.report.kit.terminal import print_view
from wulf.report.node.comparison import machines_view, titles
from wulf.report.node.machines import beside
from wulf.report.node.overlays import overlay_sections


def machines() -> list[Machine]:
    """n1, and n2 whose memory is 1.3 times as slow, of two runs."""
    return machines_of({"old": node_run(("n1",), cpus=2), "new": node_run(("n2",), slow="n2", cpus=2)}, {})


def test_each_picture_holds_every_machine() -> None:
    sections = overlay_sections(machines())
    assert [one.heading for one in sections] == [
        "Latency over the working set, small pages",
        "Latency over the working set, huge pages",
        "σ of cpu-rate over the working set",
        "cpu-rate over the working set",
    ]
    plots = [one.plot for one in sections if one.plot is not None]
    assert [[curve.name for curve in plot.curves] for plot in plots] == [["n1", "n2"]] * 4
    assert len({plot.key for plot in plots}) == 4
    assert [plot.y_unit for plot in plots] == ["s", "s", "s", "Hz"]


def test_a_curve_is_what_was_measured_on_its_machine() -> None:
    plot = overlay_sections(machines())[1].plot
    assert plot is not None
    one, other = plot.curves
    assert one.x == other.x == [float(size) for size in SIZES]
    for size, quick, slow, low, high in zip(one.x, one.y, other.y, one.low, one.high, strict=True):
        assert quick == pytest.approx(latency(size, "huge"), rel=0.03)
        assert slow == pytest.approx(1.3 * quick, rel=0.05)
        assert low <= quick <= high


def test_a_machine_that_was_not_swept_is_named_and_one_alone_has_no_picture() -> None:
    one, other = machines()
    bare = Machine("n3", "", None, None, one.rows)
    assert [section.lines for section in overlay_sections([one, other, bare])] == [["Not swept: n3."]] * 4
    assert overlay_sections([one, bare]) == []


def test_terminal_and_page_show_them(tmp_path: Path) -> None:
    these = beside(machines(), titles())
    out = io.StringIO()
    print_view(machines_view(these), Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert "operations a second over working set:  a n1  b n2" in out.getvalue()
    write_view(machines_view(these), tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert 'id="overlay-1-cpu-rate"' in page
    write_view(machines_view(these, curves=False), tmp_path / "rows.html")
    assert "overlay-" not in (tmp_path / "rows.html").read_text(encoding="utf-8")
