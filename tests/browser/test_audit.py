"""The page of an audit in a real browser: wide and narrow, by day and by night."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.test_pages import SEEN, sound
from tests.running.tiers import first_of
from tests.unit.report.make_audit import AUDIT_SHAPES
from tests.unit.tune.make_audit import CATALOGUE
from wulf.report.run.html import write_report
from wulf.report.tune import audit

pytestmark = pytest.mark.browser

NARROW = """
return [...document.querySelectorAll("#audit td, #settings td, #audit th, #settings th")]
  .filter((e) => e.textContent.trim().length > 12 && e.getBoundingClientRect().width > 0)
  .filter((e) => e.getBoundingClientRect().width < 60)
  .map((e) => e.textContent.trim());
"""
"""Cells so narrow that text of some length stands in a column of single words."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("audits")

    @cache
    def write(shape: str) -> Path:
        path = folder / f"{shape}.html"
        write_report(AUDIT_SHAPES[shape](), path)
        return path

    return write


@pytest.mark.parametrize("shape", first_of(AUDIT_SHAPES))
@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_an_audit(
    page: Page, written: Callable[[str], Path], shape: str, width: int, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "catalogue", lambda: CATALOGUE)
    sound(page, written(shape), width, scheme)
    page.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.js("return document.documentElement.scrollWidth") == width
    assert page.js(NARROW) == []
    nodes = AUDIT_SHAPES[shape]().meta["nodes"]
    cells = page.js("return document.querySelectorAll('#checklist tbody td').length")
    assert cells == (8 * len(nodes) if len(nodes) <= audit.MOST_PAGE_COLUMNS else 0)
    assert page.js("return document.querySelectorAll('#checklist-evidence tbody').length") == 8
    names = "return [...document.querySelectorAll('#settings details tbody th')].map((e) => e.firstChild.data)"
    assert sorted(page.js(names)) == sorted(CATALOGUE)
