"""The page of `wulf impacts` in a real browser: every picture, with its groups by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.browser.test_tune import NAMES, POINTS
from tests.running.tiers import first_of
from tests.unit.report.impact.test_collection import mix, report
from wulf.report.impact.collection import impacts_view
from wulf.report.kit.page import write_view
from wulf.report.kit.view import Forest, walk

pytestmark = pytest.mark.browser

VIEW = impacts_view(report(mix=mix(), source="mix.toml"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("impacts") / "page.html"
    write_view(VIEW, path)
    return path


@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_every_forest_is_drawn(page: Page, written: Path, width: int, scheme: str) -> None:
    sound(page, written, width, scheme)
    forests = [one for one in walk(VIEW.sections) if isinstance(one, Forest)]
    assert page.js("return document.documentElement.dataset.drawn") == str(len(forests))
    for forest in forests:
        assert page.js(NAMES, forest.key) == [row.name for row in forest.rows]
        assert page.js(POINTS, forest.key) == len(forest.rows) * (2 if forest.outer else 1)
