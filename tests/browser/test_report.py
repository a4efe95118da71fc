"""The report in a real browser: it renders, asks nobody for anything, and shows what the run holds."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.conftest import need
from tests.running.tiers import first_of
from tests.unit.report.make_run import SHAPES, survey
from wulf.core.units import show
from wulf.report.kit.matrices import pair_matrices

pytestmark = pytest.mark.browser

Report = Callable[[str], Path]

SEEN = [*first_of(SHAPES), *first_of(("node", "node-five", "node-hostile", "node-mixed", "node-nothing"))]
"""Runs of a survey, and of a survey of nodes."""

CELL = """
const [id, row, column] = arguments;
const chart = document.getElementById(id);
chart.scrollIntoView({block: "center", behavior: "instant"});
const { xaxis, yaxis } = chart._fullLayout;
const box = chart.getBoundingClientRect();
return [box.left + xaxis._offset + xaxis.l2p(column), box.top + yaxis._offset + yaxis.l2p(row)];
"""
HOVER = """return [...document.querySelectorAll(".hoverlayer .hovertext")].map((e) => e.textContent).join("|")"""


def hovered(page: Page, chart: str, row: float, column: float) -> str:
    """The text that appears when the pointer rests on a point of a chart, in the chart's own coordinates."""
    page.point(1, 1)
    x, y = page.js(CELL, chart, row, column)
    page.point(x, y)
    return page.until(HOVER)


@pytest.mark.parametrize("shape", SEEN)
def test_it_renders_without_an_error_or_a_request(page: Page, report: Report, shape: str) -> None:
    path = report(shape)
    page.open(path)
    charts = page.js("return document.querySelectorAll('.chart').length")
    assert page.js("return document.documentElement.dataset.drawn ?? '0'") == str(charts)
    assert page.js("return [...document.querySelectorAll('.chart')].every((e) => e.querySelector('svg.main-svg'))")
    assert page.console() == []
    assert page.requests() == [path.resolve().as_uri()]
    assert page.inaccessible() == []


def test_the_policy_stops_requests_and_foreign_scripts(page: Page, report: Report) -> None:
    """That no request was seen above must not hang on there being none to see."""
    page.open(report("survey"))
    page.js("new Image().src = 'http://127.0.0.1:9/x.png'")
    page.js("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))")
    page.js("return fetch('http://127.0.0.1:9/').catch(() => 0)")
    assert page.js("return window.ran ?? null") is None
    stopped = [entry for entry in page.console() if "Content Security Policy" in entry]
    for what in ("Loading the image", "Executing inline script", "Connecting to"):
        assert any(what in entry for entry in stopped), (what, stopped)


def test_markup_in_names_does_nothing(page: Page, report: Report) -> None:
    page.open(report("hostile"))
    assert page.js("return document.title").startswith("wulf survey")
    assert page.js("return document.querySelectorAll('img, .chart b, main script').length") == 0
    labels = page.js("return [...document.querySelectorAll('#pairs-0 .xtick text')].map((e) => e.textContent)")
    assert "<b>n1</b>" in labels
    assert "<b>n1</b> ↔ fe80::1%eth0" in hovered(page, "pairs-0", 1, 2)


@pytest.mark.full
@pytest.mark.parametrize(
    ("shape", "nodes"), first_of([("survey", 4), ("two-nodes", 2), ("sixteen", 16), ("sixty-four", 64)])
)
def test_the_heat_map_has_every_pair(page: Page, report: Report, shape: str, nodes: int) -> None:
    page.open(report(shape))
    for chart in ("pairs-0", "pairs-1", "pairs-2"):
        z, text = page.js(
            "const t = document.getElementById(arguments[0])._fullData[0];"
            "return [t.z.map((r) => [...r]), t.customdata]",
            chart,
        )
        assert len(z) == nodes
        for i, j in itertools.product(range(nodes), repeat=2):
            assert (z[i][j] is None) is (i == j)
            assert bool(text[i][j]) is (i != j)


@pytest.mark.full
def test_every_pair_is_drawn_with_its_figure(page: Page, report: Report) -> None:
    page.open(report("survey"))
    drawn = page.js("return [...document.querySelectorAll('#pairs-1 .heatmap-label')].map((e) => e.textContent)")
    bandwidth = pair_matrices(survey())[1]
    assert len([text for text in drawn if text]) == 12
    assert sum(float(text) < 1 for text in drawn if text) == 6  # n3's links in Gbit/s
    assert len(bandwidth.cells) == 12


def test_pointing_at_any_cell_shows_its_figures(page: Page, report: Report) -> None:
    page.open(report("survey"))
    for number, matrix in enumerate(pair_matrices(survey())):
        for (i, a), (j, b) in itertools.permutations(enumerate(matrix.nodes), 2):
            shown = hovered(page, f"pairs-{number}", i, j)
            record = matrix.get(a, b)
            assert record is not None
            for part in (a, b, matrix.title, show(record.value, record.unit), "95 % interval", "10 replicates", "ok"):
                assert part in shown


@pytest.mark.full
def test_pointing_at_a_hatched_cell_shows_the_reason(page: Page, report: Report) -> None:
    page.open(report("troubled"))
    assert "failed: n4: its session ended" in hovered(page, "pairs-0", 0, 3)
    assert "not measured: the run is interrupted" in hovered(page, "pairs-0", 2, 3)
    assert "noisy: interval 12.1% wide" in hovered(page, "pairs-0", 1, 3)
    assert page.js("return document.querySelectorAll('#pairs-0 pattern').length") > 0
    assert page.js("return document.querySelector('.warning').textContent.includes('interrupted')")


@pytest.mark.full
def test_every_layer_has_its_bar_and_says_what_it_adds(page: Page, report: Report) -> None:
    page.open(report("layers"))
    drawn = page.js("return [...document.querySelectorAll('#layers-chart .barlayer .trace')].map((t) => "
                    "t.querySelectorAll('.point path').length)")  # fmt: skip
    assert drawn == [6, 6], "what lies below, and what is added"
    texts = page.js(
        "return [...document.querySelectorAll('#layers-chart .textpoint')].map((e) => e.textContent.trim())"
    )
    assert texts[-1] == "+4 µs"
    assert "no difference found" in texts


@pytest.mark.full
def test_the_sweep_has_its_points_and_bands(page: Page, report: Report) -> None:
    page.open(report("survey"))
    for chart in ("sweep-rtt", "sweep-bandwidth"):
        assert page.js("return document.querySelectorAll(`#${arguments[0]} .points path`).length", chart) == 12
        assert page.js("return document.querySelectorAll(`#${arguments[0]} .fills path`).length", chart) >= 1
    x, y = page.js("const t = document.getElementById('sweep-rtt')._fullData.at(-1); return [t.x[5], t.y[5]]")
    shown = hovered(page, "sweep-rtt", *page.js("return arguments.length ? arguments[0].map(Math.log10) : []", [y, x]))
    assert "1 KiB" in shown
    assert "95 % interval" in shown


@pytest.mark.parametrize("shape", SEEN)
def test_a_phone_never_scrolls_sideways(page: Page, report: Report, shape: str) -> None:
    width = 360
    page.window(width, 780, phone=True)
    page.open(report(shape))
    page.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.js("return document.documentElement.scrollWidth") == width
    outside = page.js(
        """return [...document.querySelectorAll("body *")]
        .filter((e) => !e.closest(".scroll, svg, .skip") && e.getBoundingClientRect().right > innerWidth + 0.5)
        .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`: WCAG 2.1."""
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours: WCAG 2.1."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOURS = """
const style = (selector) => getComputedStyle(document.querySelector(selector));
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  }
  return getComputedStyle(document.body).backgroundColor;
};
return ["h1", ".note", "nav a", ".bad .chip", ".warn .chip", ".next", "thead th", "summary", "#facts small"]
  .map((s) => [s, style(s).color, behind(document.querySelector(s))])
  .concat([["axis", style("#pairs-0 .ytick text").fill, behind(document.body)]]);
"""


@pytest.mark.full
@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_both_colour_schemes_are_applied_and_legible(page: Page, report: Report, scheme: str, dark: bool) -> None:
    page.media(scheme)
    page.open(report("survey"))
    assert (luminance(page.js("return getComputedStyle(document.body).backgroundColor")) < 0.1) is dark
    for what, ink, paper in page.js(COLOURS):
        assert contrast(ink, paper) >= 4.5, what


@pytest.mark.full
def test_a_change_of_scheme_redraws_the_charts(page: Page, report: Report) -> None:
    page.open(report("survey"))
    before = page.js("return getComputedStyle(document.querySelector('#pairs-0 .ytick text')).fill")
    page.media("dark")
    after = page.until(
        "const c = getComputedStyle(document.querySelector('#pairs-0 .ytick text')).fill;"
        "return c === arguments[0] ? '' : c",
        before,
    )
    assert luminance(after) > luminance(before)


@pytest.mark.full
def test_another_width_redraws_the_charts(page: Page, report: Report) -> None:
    page.open(report("survey"))
    drawn = "return document.getElementById('pairs-0')._fullLayout.width"
    before = page.js(drawn)
    page.window(500)  # three columns become one, and each chart wider
    page.until(
        "const e = document.getElementById('pairs-0');"
        "const width = e._fullLayout.width;"
        "return width !== arguments[0] && width === Math.floor(e.clientWidth) ? 'drawn' : ''",
        before,
    )
    assert page.js(drawn) > before
    assert page.js("return document.documentElement.scrollWidth") == 500


def test_the_table_of_records_is_filtered(page: Page, report: Report) -> None:
    page.open(report("survey"))
    page.js(
        """document.querySelector("#records details").open = true;
        const filter = document.getElementById("filter");
        filter.value = "n3 udp";
        filter.dispatchEvent(new Event("input"));"""
    )
    left = page.js(
        "return [...document.querySelectorAll('#record-table tbody tr:not([hidden])')].map((e) => e.innerText)"
    )
    assert len(left) == 6  # three pairs of n3: round trip and lost
    assert all("n3" in text and "udp" in text for text in left)
    assert page.js("return document.getElementById('filter-count').textContent") == "6 of 42"


def test_it_is_reached_by_keyboard(page: Page, report: Report) -> None:
    page.open(report("survey"))
    seen = []
    for _ in range(14):
        for kind in ("keyDown", "keyUp"):
            page.command("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        seen.append(page.js("return document.activeElement.textContent.trim().slice(0, 30)"))
    assert seen[0] == "Skip to every pair"
    assert "Pairs" in seen
    assert any(text.startswith("As a table") for text in seen)


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints_with_charts_and_rules_on_white(page: Page, report: Report, scheme: str, tmp_path: Path) -> None:
    page.media(scheme)
    page.open(report("survey"))
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF-")
    need("" if shutil.which("pdftotext") else "no pdftotext to read the PDF with: apt-get install poppler-utils")
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf)
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    assert "n3 stands out" in text
    assert text.count("0.18") >= 6  # n3's links in the heat map, as text
    assert "State the base case of a speedup" in text  # opened for print
    assert page.js("return document.querySelector('details[data-print]').open") is False  # and closed again


@pytest.mark.full
def test_a_page_without_charts_has_its_tables(page: Page, report: Report) -> None:
    page.open(report("one-node"))
    assert page.js("return document.querySelector('h1').textContent") == "Nothing was measured."
    assert page.js("return document.querySelectorAll('#facts tbody').length") > 5
