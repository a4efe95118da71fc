"""The page of a prediction in a real browser: sound at all widths, and its timeline finer where somebody zooms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.running.tiers import first_of
from tests.unit.workflow.predict_fakes import FakeReplay, make_trace, this
from wulf.model.foresight.prediction import TIMELINE, Timeline
from wulf.model.network.figures import Network, scaled
from wulf.model.network.file import shipped_network
from wulf.report.foresight.page import KEY, predict_page
from wulf.report.kit.page import write_view
from wulf.workflow.foresight.predict import predict
from wulf.workflow.foresight.replaying import Replay
from wulf.workflow.foresight.scene import Wanted
from wulf.workflow.foresight.traced import read_traced

pytestmark = pytest.mark.browser

COLUMNS = "return document.getElementById(arguments[0]).data[0].x.length"
FIRST = "return document.getElementById(arguments[0]).data[0].x[0]"
ZOOM = "Plotly.relayout(arguments[0], {'xaxis.range[0]': arguments[1], 'xaxis.range[1]': arguments[2]})"
BACK = "Plotly.relayout(arguments[0], {'xaxis.autorange': true})"

COARSE, FINE, ROWS = 240, 4000, 50


def level(buckets: int) -> Timeline:
    shares = np.full((ROWS, buckets), 0.3).tolist()
    return Timeline(1.0 / buckets, tuple((row, row) for row in range(ROWS)), dict.fromkeys(TIMELINE, shares))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("predict")
    networks = [scaled(this(), latency=0.5), Network(shipped_network("10gbe"))]
    traced = read_traced(make_trace(folder / "trace"))
    found = predict(Replay(FakeReplay()), traced, this(), Wanted(networks))
    write_view(predict_page(replace(found, timelines=(level(COARSE), level(FINE)))), folder / "page.html")
    return folder / "page.html"


@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_a_prediction(page: Page, written: Path, width: int, scheme: str) -> None:
    sound(page, written, width, scheme)
    assert page.js("return document.documentElement.dataset.drawn") == "4"
    assert page.js(COLUMNS, KEY) == COARSE


@pytest.mark.full
def test_a_stretch_that_is_zoomed_to_is_drawn_finer(page: Page, written: Path) -> None:
    page.open(written)
    end = page.js("return document.getElementById(arguments[0]).layout.xaxis.range[1]", KEY)
    page.js("return new Promise((done) => setTimeout(done, 50))")
    page.js(ZOOM, KEY, 0.5 * end, 0.6 * end)
    page.js("return new Promise((done) => setTimeout(done, 50))")
    assert page.js(COLUMNS, KEY) == FINE * 0.1
    assert page.js(FIRST, KEY) >= 0.5 * end
    page.js(BACK, KEY)
    page.js("return new Promise((done) => setTimeout(done, 50))")
    assert page.js(COLUMNS, KEY) == COARSE
    assert page.console() == []
