"""Charts as SVG: what is drawn where, and nothing that a name could smuggle in."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from tests.unit.report.make_node import node_run
from tests.unit.report.make_run import SHAPES, survey
from wulf.report.kit.charts import node_strip, pair_chart, sweep_charts
from wulf.report.kit.matrices import pair_matrices, sweeps
from wulf.report.kit.page import plot_chart
from wulf.report.kit.svg import as_svg
from wulf.report.kit.view import Curve, Plot
from wulf.report.node.sweeps import latency_chart

SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: Any) -> ElementTree.Element:
    text = as_svg(chart)
    assert text is not None
    return ElementTree.fromstring(text)


def texts(element: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in element.iter(f"{SVG}text")]


def test_a_map_has_a_cell_for_each_pair_with_its_figure_and_what_is_beside_the_pointer() -> None:
    rate = next(one for one in pair_matrices(survey()) if one.metric == "throughput")
    chart = pair_chart(rate, "not measured")
    map_ = drawn(chart)
    titles = [each.text for each in map_.iter(f"{SVG}title")]
    assert len(titles) == 12 and any(text and text.startswith("n1 → n3\nTCP bandwidth\n") for text in titles)
    assert {"n1", "n2", "n3", "n4", *(text for row in chart["text"] for text in row if text)} <= set(texts(map_))
    colours = {each.get("fill") for each in map_.iter(f"{SVG}g") for each in each.iter(f"{SVG}rect")}
    assert len(colours) > 2, "slow links have another colour"


def test_a_pair_without_a_value_is_a_frame_without_a_colour() -> None:
    rtt = next(one for one in pair_matrices(SHAPES["troubled"]()) if one.title == "TCP round trip, 1 B")
    frames = [each for each in drawn(pair_chart(rtt, "not measured")).iter(f"{SVG}rect") if each.get("fill") == "none"]
    assert len(frames) == 4, "n1 and n4 failed, n3 and n4 were never reached, both ways"


def test_curves_rise_where_values_do_and_gaps_stay_gaps() -> None:
    ((_, make), *_) = sweep_charts(sweeps(SHAPES["troubled"]()))
    chart = make()
    picture = drawn(chart)
    points = [(float(each.get("cx", 0)), float(each.get("cy", 0))) for each in picture.iter(f"{SVG}circle")]
    assert len(points) == sum(value is not None for one in chart["series"] for value in one["y"])
    assert points[0][0] < points[-1][0] and points[0][1] > points[-1][1], "larger messages take longer"
    line = next(each for each in picture.iter(f"{SVG}path") if not each.get("stroke-dasharray"))
    assert line.get("d", "").count("M") == 2, "a failed size is a gap"
    assert "round trip" in texts(picture) and "message size" in texts(picture)


def test_a_plot_has_its_curves_points_and_legend() -> None:
    curves = [
        Curve("fitted", [1, 10, 100], [1e-5, 2e-5, 4e-5], [0.9e-5] * 3, [5e-5] * 3),
        Curve("measured", [1, 100], [1e-5, 4e-5], [0.9e-5, 3e-5], [2e-5, 5e-5], points=True),
        Curve("limit", [1, 100], [2e-5, 2e-5], dashed=True),
    ]
    picture = drawn(plot_chart(Plot("key", curves, "size", "time", "B", "s")))
    assert {"fitted", "measured", "limit"} <= set(texts(picture))
    assert len(list(picture.iter(f"{SVG}circle"))) == 2 and len(list(picture.iter(f"{SVG}polygon"))) == 1
    assert [bool(each.get("stroke-dasharray")) for each in picture.iter(f"{SVG}path")] == [False, True]


def test_of_many_nodes_each_is_a_point() -> None:
    matrix = pair_matrices(SHAPES["sixty-four"]())[0]
    assert len(list(drawn(node_strip(matrix)).iter(f"{SVG}circle"))) == 64


@pytest.mark.parametrize("shape", sorted(set(SHAPES) - {"sixty-four"}))
def test_every_shape_is_well_formed(shape: str) -> None:
    run = SHAPES[shape]()
    charts = [pair_chart(one, "<b>&") for one in pair_matrices(run)] + [make() for _, make in sweep_charts(sweeps(run))]
    for chart in charts:
        tags = {each.tag.removeprefix(SVG) for each in drawn(chart).iter()}
        assert tags <= {"svg", "g", "rect", "text", "title", "line", "path", "circle", "polygon"}


def test_panels_stand_below_each_other_with_the_ends_of_caches() -> None:
    run = node_run(("n1",), cpus=2)
    chart = latency_chart(run.records, run.fingerprint)
    assert chart is not None
    picture = drawn(chart)
    places = [each.get("transform") for each in picture if each.tag == f"{SVG}g"]
    assert places == [f"translate(0 {300 * number})" for number in range(len(chart["panels"]))] and len(places) > 1
    assert {panel["title"] for panel in chart["panels"]} | {"L1", "L2"} <= set(texts(picture))


def test_nothing_to_draw_is_said() -> None:
    empty = {"kind": "sweep", "series": [], "xTicks": [], "yTicks": [], "xTitle": "x", "yTitle": "y"}
    assert texts(drawn(empty)) == ["nothing to draw"]
    strip = {"kind": "strip", "x": [], "y": [], "hover": [], "yTicks": [], "xTitle": "x", "yTitle": "y"}
    assert texts(drawn(strip)) == ["nothing to draw"]


def test_what_pages_alone_draw_is_none() -> None:
    assert as_svg({"kind": "timeline"}) is None
