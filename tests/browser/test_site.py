"""The page of a whole cluster in a real browser: drawn, legible, accessible, by day and night, on desktop and phone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.browser.test_report import hovered
from tests.running.tiers import first_of
from tests.unit.report.make_run import EVIL
from tests.unit.report.sentry.test_site import incident
from tests.unit.sentry.making import STEP
from tests.unit.sentry.test_site import site
from wulf.report.kit.page import write_view
from wulf.report.sentry.days import days_chart
from wulf.report.sentry.site import site_view
from wulf.sentry.site import rows_of

pytestmark = pytest.mark.browser

ROWS = """return [...document.querySelectorAll("#nodes-days .ytick text")].map((e) => e.textContent)"""
MARKS = """return document.querySelectorAll("#nodes-days .scatterlayer path.point").length"""
BARS = """return document.querySelectorAll("#spent .barlayer path").length"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site") / "site.html"
    write_view(site_view(site()), path)
    return path


@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_days_changes_and_costs_are_drawn(page: Page, written: Path, width: int, scheme: str) -> None:
    sound(page, written, width, scheme)
    assert page.inaccessible() == []
    assert page.js("return document.documentElement.dataset.drawn") == "2"
    found = site()
    chart = days_chart(found, rows_of(found))
    shown = chart["rows"] if width > 500 else chart["short"]
    assert page.js(ROWS) == shown
    assert page.js(MARKS) == len(chart["marks"])
    assert page.js(BARS) == found.grid.days


def test_the_pointer_tells_which_metric_and_by_how_much(page: Page, written: Path) -> None:
    page.window(1280, 900)
    page.open(written)
    found = site()
    said = hovered(page, "nodes-days", 0, 1000 * 86400 * (found.grid.first + found.grid.days - 3))
    assert STEP in said
    assert "mem.triad" in said
    assert "% worse" in said
    assert "epyc-7763" in said


@pytest.mark.full
def test_hostile_names_and_a_thousand_incidents(page: Page, tmp_path: Path) -> None:
    one = incident(1)
    many = [replace(one, id=i, what=replace(one.what, node=EVIL, metric=f"{EVIL}{i}", text=EVIL)) for i in range(1000)]
    path = tmp_path / "site.html"
    write_view(site_view(replace(site(), open=many, marked=many)), path)
    sound(page, path, 390, "dark")
    assert page.inaccessible() == []
    assert path.stat().st_size < 2e6
