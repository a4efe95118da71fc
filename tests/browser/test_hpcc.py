"""The page of a run of HPCC in a real browser: its parts as one table, sound at all widths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.running.tiers import first_of
from tests.unit.report.make_hpcc import hpcc_run
from wulf.apps.hpcc import PARTS
from wulf.report.run.html import render

pytestmark = pytest.mark.browser

HEADS = "return [...document.querySelectorAll('#hpcc-parts th[scope=rowgroup]')].map((e) => e.firstChild.textContent)"
CELLS = "return [...document.querySelectorAll('#hpcc-parts tbody tr')].map((row) => row.querySelectorAll('td').length)"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hpcc") / "page.html"
    path.write_text(render(hpcc_run()))
    return path


@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_all_parts_are_there_and_every_row_is_whole(page: Page, written: Path, width: int, scheme: str) -> None:
    sound(page, written, width, scheme)
    assert page.js(HEADS) == list(PARTS)
    assert set(page.js(CELLS)) == {5}
