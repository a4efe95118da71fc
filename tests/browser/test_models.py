"""The pages of `wulf model` in a real browser: wide and narrow, by day and by night."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.running.tiers import first_of
from tests.unit.report.test_model import VIEWS
from wulf.report.kit.page import write_view

pytestmark = pytest.mark.browser

LEGENDS = "return document.querySelectorAll(`#${arguments[0]} .legend .traces`).length"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("models")

    @cache
    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        write_view(VIEWS[name](), path)
        return path

    return write


@pytest.mark.parametrize("name", first_of(VIEWS))
@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_a_model(page: Page, written: Callable[[str], Path], name: str, width: int, scheme: str) -> None:
    view = VIEWS[name]()
    sound(page, written(name), width, scheme)
    plots = [section.plot for section in view.sections if section.plot is not None]
    assert page.js("return document.documentElement.dataset.drawn") == str(len(plots))
    for plot in plots:
        assert page.js(LEGENDS, plot.key) == len(plot.curves)
    assert page.js("return document.querySelectorAll('main h2').length") == len(view.sections) + bool(view.method)
