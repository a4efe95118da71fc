"""Brown's figures: tables of their peaks, and plots."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from wulf.core.units import show
from wulf.model.speedup.brown import FIGURES, GOING_PARALLEL, SERIAL, WORK, Figure
from wulf.report.kit.view import Columns, Curve, Plot, Section, View

MOST = 1000
MARKS = "abcde"

SOURCES = {"book": "The book's", "caption": "Figure 4 of the paper, by its caption", "text": "Figure 4, by its text"}

CONTRADICTION = "The paper contradicts itself: Tis of this figure is 10 by its caption, 1 by its text. Both are drawn."

NOTES = (
    "the paper's figures of speedup are those from 2 to 4, and the one with N² is taken for the last; which Tis its "
    "figures 2 and 3 have was not to be had, nor the other parameters of figure 4: those of the book are drawn",
    "his range of processors is not known: here it is 1 to 1,000",
)


def brown_view() -> View:
    """All figures."""
    headline = f"Brown's figures: Ts = {SERIAL:g}, Tip = {GOING_PARALLEL:g}, five amounts of work Tp"
    method = "S(N) = (Ts + Tp)/(Ts + N·Tis + Tp/N + Tip); N* = √(Tp/Tis), with N²·Tis (Tp/2Tis)^⅓."
    return View("Brown's figures of speedup", headline, [_section(figure) for figure in FIGURES], NOTES, method)


def _section(figure: Figure) -> Section:
    rows = []
    for work in WORK:
        place, gain = figure.peak(work)
        rows.append([f"{work:g}", show(place, "1") if isfinite(place) else "∞", show(gain, "1")])
    power = "N²·Tis" if figure.form.growth == 2 else "N·Tis"
    heading = f"{SOURCES[figure.source]}: {power}, Tis = {figure.communication:g}"
    table = Columns(["Tp", "fastest at N*", "S(N*)"], rows, 0)
    return Section(heading, [CONTRADICTION] if figure.source == "caption" else [], table, plot_of(figure))


def plot_of(figure: Figure) -> Plot:
    """A curve for each amount of work, and the linear speedup."""
    grid = np.geomspace(1, MOST, 120)
    straight = grid[grid <= 200]
    curves = [Curve("linear", straight.tolist(), straight.tolist(), dashed=True, mark="/")]
    for work, mark in zip(WORK, MARKS, strict=True):
        curves.append(Curve(f"Tp = {work:g}", grid.tolist(), figure.speedup(work, grid).tolist(), mark=mark))
    return Plot(f"{figure.form.name}-{figure.communication:g}", curves, "processors", "speedup")


def brown_object() -> dict[str, Any]:
    """Parameters and peaks, for programs."""
    return {
        "ts": SERIAL,
        "tip": GOING_PARALLEL,
        "figures": [
            {
                "figure": figure.number,
                "form": figure.form.name,
                "tis": figure.communication,
                "source": figure.source,
                "curves": [_curve(figure, work) for work in WORK],
            }
            for figure in FIGURES
        ],
    }


def _curve(figure: Figure, work: float) -> dict[str, Any]:
    place, gain = figure.peak(work)
    return {"tp": work, "peak": place if isfinite(place) else None, "speedup": gain}
