"""The report of a node survey, and the page of machines, in a real browser: drawn, legible, no wider than a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import sound
from tests.browser.test_report import Report, contrast, hovered, luminance
from tests.running.tiers import first_of
from tests.unit.report.make_node import node_run
from wulf.measure.node.machines import machines_of
from wulf.report.kit.page import write_view
from wulf.report.node.comparison import machines_view, titles
from wulf.report.node.machines import beside

pytestmark = pytest.mark.browser

SECTIONS = ("node-key", "node-rows", "node-sweeps", "node-matrices", "node-noise", "node-machines")
INKS = """
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  }
};
return [...document.querySelectorAll(".alike td, .alike small, .alike th, .reasons li")]
  .map((e) => [e.className || e.tagName, getComputedStyle(e).color, behind(e)]);
"""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two machines with their prices."""
    path = tmp_path_factory.mktemp("machines") / "machines.html"
    runs = {"old": node_run(("n1",)), "new": node_run(("<i>n2</i>",), seed=9)}
    write_view(machines_view(beside(machines_of(runs, {"old": 900.0, "new": 2490.0}), titles())), path)
    return path


@pytest.mark.full
def test_the_sections_exist_and_their_figures_have_data(page: Page, report: Report) -> None:
    page.open(report("node"))
    assert page.js("return [...document.querySelectorAll('main section')].map((e) => e.id)") == [
        "findings", *SECTIONS, "records", "facts", "method",
    ]  # fmt: skip
    points = page.js(
        """return [...document.querySelectorAll(".chart")].map((e) => [e.id, e._fullData.reduce(
          (sum, t) => sum + (t.z ? t.z.flat() : t.x || []).filter((v) => v !== null).length, 0)])"""
    )
    assert {key.rpartition("-")[0] for key, _ in points} == {
        "node-latency", "node-bandwidth", "cores", "numa-latency", "numa-bandwidth", "noise",
    }  # fmt: skip
    assert all(count > 0 for _, count in points), points
    assert page.js("return document.querySelectorAll('#node-latency-0 .points path').length") > 100


@pytest.mark.full
def test_the_panels_of_the_working_set_have_one_axis(page: Page, report: Report) -> None:
    page.open(report("node"))
    layout = "document.getElementById('node-latency-0')._fullLayout"
    assert page.js(f"return Object.keys({layout}).filter((k) => /^[xy]axis/.test(k)).sort()") == [
        "xaxis", "yaxis", "yaxis2", "yaxis3",
    ]  # fmt: skip
    assert page.js(f"return [{layout}.xaxis.type, {layout}.yaxis.type]") == ["log", "log"]
    domains = page.js(f"return ['yaxis', 'yaxis2', 'yaxis3'].map((k) => {layout}[k].domain)")
    assert domains[0][0] > domains[1][1]
    assert domains[1][0] > domains[2][1]
    lines = page.js(f"return {layout}.shapes.filter((s) => s.type === 'line').map((s) => s.line.dash)")
    assert sorted(lines) == ["dash", "dash", "dash", "solid", "solid", "solid"]


@pytest.mark.full
def test_pointing_shows_a_points_figures(page: Page, report: Report) -> None:
    page.open(report("node"))
    shown = hovered(page, "cores-0", 0, 1)
    assert "CPU 0 and CPU 1" in shown
    assert "95 % interval" in shown
    assert "not in this process" in hovered(page, "cores-0", 0, 3)


@pytest.mark.full
def test_the_first_column_stays_while_the_table_scrolls(page: Page, report: Report) -> None:
    page.window(390, 780, phone=True)
    page.open(report("node-five"))
    first, second = page.js(
        """const box = document.querySelector("#node-rows .scroll");
        box.scrollLeft = 150;
        const row = box.querySelector("tbody tr:nth-child(3)");
        return [row.children[0], row.children[1]].map((e) => e.getBoundingClientRect().left
          - box.getBoundingClientRect().left)"""
    )
    assert first == pytest.approx(0, abs=1)
    assert second < first + 100  # scrolled below the first


@pytest.mark.full
@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_every_text_of_the_tables_is_legible(page: Page, report: Report, scheme: str, dark: bool) -> None:
    page.media(scheme)
    page.open(report("node-five"))
    assert (luminance(page.js("return getComputedStyle(document.body).backgroundColor")) < 0.1) is dark
    for what, ink, paper in {tuple(one) for one in page.js(INKS)}:
        assert contrast(ink, paper) >= 4.5, (what, ink, paper)


def test_markup_in_names_does_nothing(page: Page, report: Report) -> None:
    page.open(report("node-hostile"))
    assert page.js("return document.title").startswith("wulf node")
    assert page.js("return document.querySelectorAll('img, .chart b, main script').length") == 0
    assert "<b>n1</b>" in page.js("return document.getElementById('node-rows').textContent")


@pytest.mark.full
def test_it_prints(page: Page, report: Report) -> None:
    page.open(report("node"))
    assert page.pdf().startswith(b"%PDF-")
    assert page.console() == []


@pytest.mark.parametrize(("width", "scheme"), first_of([(1280, "light"), (1280, "dark"), (360, "dark")]))
def test_the_page_of_machines(page: Page, machines: Path, width: int, scheme: str) -> None:
    sound(page, machines, width, scheme)
    # a point a machine for time, cycles and cost; then a line with its band a machine for each curve
    drawn = [2] * 3 + [4] * 4
    assert page.js("return [...document.querySelectorAll('.chart')].map((e) => e._fullData.length)") == drawn
    assert page.js("return document.querySelectorAll('#machine-table tbody tr').length") == 3 * 21
