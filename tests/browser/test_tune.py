"""The page of `wulf tune` in a real browser: wide and narrow, by day and by night."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.running.tiers import first_of
from tests.unit.report.tune.test_campaign import outcome
from wulf.report.kit.outcomes import CHART
from wulf.report.tune.outcome import OUTCOME, effects_chart

pytestmark = pytest.mark.browser

POINTS = "return document.querySelectorAll(`#${arguments[0]} .scatterlayer .point`).length"
NAMES = "return [...document.querySelectorAll(`#${arguments[0]} .ytick text`)].map((t) => t.textContent)"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tune") / "report.html"
    OUTCOME.write(outcome(), path)
    return path


@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_effects_are_drawn_with_every_setting_by_name(page: Page, written: Path, width: int, scheme: str) -> None:
    sound(page, written, width, scheme)
    chart = effects_chart(outcome())
    assert page.js("return document.documentElement.dataset.drawn") == "1"
    assert page.js(POINTS, CHART) == sum(len(series["x"]) for series in chart["series"])
    assert page.js(NAMES, CHART) == chart["names"]
