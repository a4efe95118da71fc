"""The documentation's site in a real browser, from its files and without a network: pages are whole, search finds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from handbook import site
from handbook.pages import ROOT

from tests.browser.chromium import Page
from tests.browser.conftest import need
from wulf.core.programs import unpacked

pytestmark = [pytest.mark.browser, pytest.mark.full, pytest.mark.timeout(600)]

PAGES = (
    "index", "tutorials/first-survey", "how-to/index", "how-to/models", "reference/commands/net", "reference/probes",
    "reference/settings", "explanation/benchmarks", "how-it-works/architecture",
)  # fmt: skip
"""One of each kind: cards, output, lists, formulas, commands, wide tables, a long one, figures, drawings of folders."""

OUTSIDE = """
return [...document.querySelectorAll("article *")]
  .filter((e) => !e.closest(".md-typeset__scrollwrap, pre, svg"))
  .map((e) => [e, e.getBoundingClientRect()])
  .filter(([e, box]) => box.width && (box.right > innerWidth + 0.5 || box.left < -0.5))
  .map(([e]) => e.outerHTML.slice(0, 80));
"""
DIALOG = "[...document.querySelectorAll('div')].find((e) => e.shadowRoot)?.shadowRoot"
"""Where the search is: no style of the page reaches it."""


def absent() -> str:
    """What the site can't be built without; empty where all of it is there."""
    if importlib.util.find_spec("zensical") is None:
        return "no zensical: `make docs` installs it"
    return "" if unpacked(ROOT, site.SHIM) else "no iframe-worker: `make docs` fetches it"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need(absent())
    folder = tmp_path_factory.mktemp("docs")
    assert site.build(folder) == []
    return folder / site.SITE


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_at_any_width(page: Page, built: Path, name: str, width: int) -> None:
    page.window(width, 900, phone=width < 600)
    page.open(built / f"{name}.html")
    assert page.console() == []
    assert [address for address in page.requests() if not address.startswith("file:")] == []
    assert page.js("return document.documentElement.scrollWidth") <= width
    assert page.js(OUTSIDE) == []


def test_search_finds_without_a_server(page: Page, built: Path) -> None:
    page.open(built / "index.html")
    page.js("document.querySelector('.md-search__button').click()")
    page.until(f"return {DIALOG}?.activeElement?.tagName === 'INPUT'")
    page.command("Input.insertText", text="interrupt moderation")
    found = page.until(f"return {DIALOG}.querySelector('a[href*=\"settings.html\"]')?.href ?? ''", seconds=20)
    assert found.startswith((built / "reference" / "settings.html").resolve().as_uri())
    assert page.console() == []
    page.driver.get(found)
    assert page.js("return document.querySelectorAll('article mark').length") > 0, "what was searched for is marked"


def test_what_models_read_leads_to_pages(built: Path) -> None:
    listed = (built / "llms.txt").read_text("utf-8")
    assert "(how-to/install.md)" in listed and (built / "how-to" / "install.md").is_file()
    assert len((built / "llms-full.txt").read_text("utf-8")) > 100_000
