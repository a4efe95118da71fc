"""The pages of `wulf compare` and `wulf history` in a real browser: wide and narrow, by day and by night."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Page
from tests.browser.test_report import contrast, luminance
from tests.running.tiers import first_of
from tests.unit.measure.make_runs import run
from tests.unit.report.compare import test_history as made
from tests.unit.report.make_run import EVIL
from wulf.measure.comparing import RunComparison, compare_runs
from wulf.report.compare.history import history_view
from wulf.report.compare.runs import comparison_view
from wulf.report.kit.page import write_view

pytestmark = pytest.mark.browser

PAIRS = dict.fromkeys([f"n{i}>n{j}" for i, j in itertools.combinations(range(1, 8), 2)], 1.0)
LONG = "compute-rack17-chassis03-blade12.cluster.hpc.example.edu"


def facts(node: str, value: Any) -> dict[str, Any]:
    return {node: {"cpu.governor": {"value": value}}}


def compared(
    before: dict[str, float], after: dict[str, float], *, node: str = "n1", was: Any = None, now: Any = None,
    names: tuple[str, str] = ("20261119T184453-survey-0a1b", "20261120T184453-survey-77ff"),
    n: int = 16, delta: float = 0.01,
) -> RunComparison:  # fmt: skip
    a = run(names[0], before, seed=1, n=n, facts=facts(node, was) if was else None)
    b = run(names[1], after, seed=2, n=n, facts=facts(node, now) if now else None)
    return compare_runs(a, b, delta=delta)


def one_cell() -> RunComparison:
    found = compared({"n1>n2": 1.0}, {"n1>n2": 1.1})
    return replace(found, cells=found.cells[:1])


def hostile() -> RunComparison:
    # A subject is split at its one `>`, which markup has more of.
    name = EVIL.replace(">", "")
    two = ({f"{name}>\x1b[31m": 1.0}, {f"{name}>\x1b[31m": 1.2})
    return compared(*two, node=EVIL, was=EVIL, now="\x1b[2J", names=(EVIL, f"\u202e{EVIL}"))


COMPARISONS: dict[str, Callable[[], RunComparison]] = {
    "one-cell": one_cell,
    "many-cells": lambda: compared(
        PAIRS, PAIRS | {"n1>n3": 1.3, "n2>n5": 0.93, "n3>n4": 1.012}, was="performance", now="powersave"
    ),
    "no-interval": partial(compared, {"n1>n2": 1.0}, {"n1>n2": 1.1}, n=3),
    "wide-band": partial(compared, {"n1>n2": 1.0}, {"n1>n2": 1.0}, delta=0.2),
    "thirty-fold": partial(compared, {"n1>n2": 1.0, "n1>n3": 1.0}, {"n1>n2": 30.0, "n1>n3": 1.0}),
    "long-names": partial(
        compared, {f"{LONG}>{LONG}x": 1.0}, {f"{LONG}>{LONG}x": 1.4}, node=LONG, was="performance", now="powersave"
    ),
    "hostile": hostile,
}
LATE = replace(made.RISE, at=4990, earliest=4986, latest=4991)
HISTORIES: dict[str, Callable[[], Any]] = {
    "changed": made.SHAPES["changed"],
    "nothing-usable": made.SHAPES["nothing usable"],
    "late": lambda: made.history(made.told(5000, LATE)),
    "long-names": lambda: made.history(made.told(60, made.RISE, subject=f"{LONG}>{LONG}x", facts=(made.KERNEL,))),
    "hostile": made.hostile,
}
SEEN = list(itertools.product([1280, 390], ["light", "dark"]))

OUTSIDE = """
return [...document.querySelectorAll("body *")]
  .filter((e) => !e.closest(".scroll table, .skip, svg"))
  .filter((e) => { const box = e.getBoundingClientRect(); return box.right > innerWidth + 0.5 || box.left < -0.5; })
  .map((e) => e.outerHTML.slice(0, 80));
"""
DRAWN_OUTSIDE = """
return [...document.querySelectorAll("svg.interval")].flatMap((svg) => {
  const cell = svg.closest("td").getBoundingClientRect();
  const own = svg.getBoundingClientRect();
  return [...svg.children].map((e) => e.getBoundingClientRect()).filter((box) =>
    box.left < own.left - 0.1 || box.right > own.right + 0.1 || box.top < cell.top || box.bottom > cell.bottom ||
    own.left < cell.left || own.right > cell.right || box.width + box.height === 0
  ).map((box) => JSON.stringify(box));
});
"""
WORDS = """
return [...document.querySelectorAll("#cells tbody td:nth-child(2)")].map((e) => [e.textContent, e.offsetWidth > 0]);
"""
INKS = """
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  }
  return getComputedStyle(document.body).backgroundColor;
};
return [...document.querySelectorAll("h1, .note, .chip, .reasons, main p, thead th, tbody td, tbody th")]
  .map((e) => [e.className || e.tagName, getComputedStyle(e).color, behind(e)])
  .concat([...document.querySelectorAll(".annotation-text, .ytick text")]
    .map((e) => [e.textContent, getComputedStyle(e).fill, behind(e.closest(".chart").parentElement)]));
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """A page of a kind and shape, written once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(kind: str, shape: str) -> Path:
        path = folder / f"{kind}-{shape}.html"
        if not path.exists():
            view = comparison_view(COMPARISONS[shape]()) if kind == "compare" else history_view(HISTORIES[shape]())
            write_view(view, path)
        return path

    return write


def sound(page: Page, path: Path, width: int, scheme: str) -> None:
    """Open a page: no error, no request but its own, nothing beside the window, every text legible, accessible."""
    page.window(width, 900, phone=width < 600)
    page.media(scheme)
    page.open(path)
    assert page.console() == []
    assert page.requests() == [path.resolve().as_uri()]
    assert page.js("return document.documentElement.scrollWidth") == width
    assert page.js(OUTSIDE) == []
    assert (luminance(page.js("return getComputedStyle(document.body).backgroundColor")) < 0.1) is (scheme == "dark")
    for what, ink, paper in page.js(INKS):
        assert contrast(ink, paper) >= 4.5, (what, ink, paper)
    assert page.inaccessible() == []


@pytest.mark.parametrize("shape", first_of(COMPARISONS))
@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_a_comparison(page: Page, written: Callable[..., Path], shape: str, width: int, scheme: str) -> None:
    found = COMPARISONS[shape]()
    sound(page, written("compare", shape), width, scheme)
    words = ["suspect" if cell.suspect else str(cell.judgement) for cell in found.cells]
    assert page.js(WORDS) == [[word, True] for word in words]
    with_interval = [cell for cell in found.cells if cell.comparison.low]
    assert page.js("return document.querySelectorAll('svg.interval circle').length") == len(with_interval)
    assert page.js(DRAWN_OUTSIDE) == []
    assert page.js("return document.querySelectorAll('#nodes tbody tr').length") == len(found.facts)


@pytest.mark.parametrize("shape", first_of(HISTORIES))
@pytest.mark.parametrize(("width", "scheme"), first_of(SEEN))
def test_a_history(page: Page, written: Callable[..., Path], shape: str, width: int, scheme: str) -> None:
    history = HISTORIES[shape]()
    sound(page, written("history", shape), width, scheme)
    assert page.js("return document.querySelectorAll('#all-series tbody tr').length") == len(history.told)
    charts = page.js("return document.querySelectorAll('.chart').length")
    assert page.js("return document.documentElement.dataset.drawn ?? '0'") == str(charts)
    for number, told in enumerate(history.changed):
        marks = "return [...document.querySelectorAll(`#${arguments[0]} .annotation-text`)].map((e) => e.textContent)"
        assert page.js(marks, f"series-{number}") == [str(i) for i in range(1, len(told.steps) + 1)]
        lines = "return document.querySelectorAll(`#${arguments[0]} .shapelayer path`).length"
        assert page.js(lines, f"series-{number}") == 2 * len(told.steps)  # a band and a line each
    steps = page.js(
        "return [...document.querySelectorAll('.finding .chip')].map((e) => e.textContent.split(' ').pop())"
    )
    assert steps == [t.verdict(s) for t in history.changed for s in t.steps]


@pytest.mark.full
def test_a_phone_shows_verdict_and_change_at_once_and_keeps_the_cell(page: Page, written: Callable[..., Path]) -> None:
    page.window(390, 900, phone=True)
    page.open(written("compare", "many-cells"))
    first = "document.querySelector('#cells tbody tr')"
    padding = 8
    right = page.js("return document.querySelector('#cells').closest('.scroll').getBoundingClientRect().right")
    assert page.js(f"return {first}.children[3].getBoundingClientRect().right") - padding <= right
    page.js("document.querySelector('#cells').closest('.scroll').scrollLeft = 9999")
    assert page.js(f"return {first}.children[9].getBoundingClientRect().right") <= right + 0.5
    assert page.js(f"return {first}.children[0].getBoundingClientRect().left") >= 0
    assert "n1 → n3" in page.js(f"return {first}.children[0].textContent")


@pytest.mark.full
def test_a_cell_without_interval_says_why(page: Page, written: Callable[..., Path]) -> None:
    page.open(written("compare", "no-interval"))
    number = page.js("return document.querySelector('#cells tbody tr').children[2].querySelector('a').hash")
    assert page.js("return document.querySelector(arguments[0]).textContent", number) == (
        "3 samples are too few for an interval"
    )
    assert "log scale" not in page.js("return document.body.innerText")


@pytest.mark.parametrize("kind", first_of(["compare", "history"]))
def test_markup_in_names_is_text(page: Page, written: Callable[..., Path], kind: str) -> None:
    page.open(written(kind, "hostile"))
    assert page.js("return document.title").startswith(f"wulf {kind} ")
    assert page.js("return document.querySelectorAll('img, main script, header script').length") == 0
    text = page.js("return document.body.innerText")
    assert EVIL in text
    assert not {"\x1b", "\u202e"} & set(text)
    if kind == "compare":
        cell, _, a, b = page.js("return [...document.querySelector('#nodes tbody tr').cells].map((e) => e.textContent)")
        assert (cell, a, b) == (EVIL, EVIL, "\ufffd[2J")
        assert "<img src=x onerror=alert(1)" in page.js("return document.querySelector('#cells tbody th').textContent")
