"""What a node's roofline says, in tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wulf.core.units import scale_for, show
from wulf.model.roofline import Ceiling, Roof
from wulf.report.kit.view import Columns, Curve, Plot, Section, View, interval_object
from wulf.stats.estimates import Interval

MARKS = "123ab"
AROUND = 8.0
"""How far the plot reaches beyond the ridges."""


def roofline_view(
    node: str, precision: str, roofs: Sequence[Roof], at: Sequence[float], lacking: Sequence[str]
) -> View:
    """The report of a node.

    Parameters
    ----------
    at
        Intensities, in flop/B.
    lacking
        Which rates there are not, and why.
    """
    sections = []
    for roof in roofs:
        sections.append(_ridges(roof))
        if at:
            sections.append(_attainable(roof, at))
        sections.append(Section(f"Roofline, {roof.name}", plot=plot_of(roof, at)))
    words = {"double": "double precision", "float": "single precision"}
    method = (
        "P(I) = min(peak, bandwidth · I): the peak of fused multiply-adds, bandwidths as read or, of the triad, with "
        "all traffic. The intervals cover when those of both rates do, at least 90 % of the time."
    )
    return View("wulf model roofline", f"{node}: roofline, {words[precision]}", sections, lacking, method)


def _ridges(roof: Roof) -> Section:
    rows = []
    for one in roof.ceilings:
        ridge = roof.ridge(one)
        own = [show(one.bandwidth.value, "byte/s"), _range(one.bandwidth, "byte/s")]
        rows.append([one.name, *own, show(ridge.value, ""), _range(ridge, "")])
    return Section(
        f"{roof.name}: peak {show(roof.peak.value, 'flop/s')} ({_range(roof.peak, 'flop/s')})", (),
        Columns(["memory", "bandwidth", "interval", "ridge flop/B", "interval"], rows),
    )  # fmt: skip


def _attainable(roof: Roof, at: Sequence[float]) -> Section:
    rows = []
    for intensity in at:
        for one in roof.ceilings:
            bound = roof.attainable(intensity, one)
            rate = show(bound.rate.value, "flop/s")
            rows.append([f"{intensity:g}", one.name, rate, _range(bound.rate, "flop/s"), bound.limit])
    return Section(
        f"Attainable, {roof.name}",
        (),
        Columns(["flop/B", "working set in", "attainable", "interval", "bound by"], rows, 2),
    )


def plot_of(roof: Roof, at: Sequence[float] = ()) -> Plot:
    """A curve for each memory."""
    ridges = [roof.ridge(one).value for one in roof.ceilings]
    grid = np.geomspace(min([*ridges, *at]) / AROUND, max([*ridges, *at]) * AROUND, 120).tolist()
    curves = []
    for one, mark in zip(roof.ceilings, MARKS, strict=False):
        bounds = [roof.attainable(x, one).rate for x in grid]
        curves.append(
            Curve(
                one.name, grid, [b.value for b in bounds], [b.low for b in bounds], [b.high for b in bounds], mark=mark
            )
        )
    key = f"roofline-{roof.name.replace(' ', '-').lower()}"
    return Plot(key, curves, "intensity in flop/B", "attainable", "", "flop/s")


def _range(one: Interval, unit: str) -> str:
    divisor, name = scale_for(one.high, unit)
    return f"{show(one.low / divisor, '')}–{show(one.high / divisor, '')} {name}".strip()


def roofline_object(node: str, precision: str, roofs: Sequence[Roof], at: Sequence[float]) -> dict[str, Any]:
    """All of it for programs."""
    return {
        "node": node,
        "precision": precision,
        "roofs": [
            {
                "cpus": roof.name,
                "peak": interval_object(roof.peak),
                "memories": [
                    {
                        "name": one.name,
                        "bandwidth": interval_object(one.bandwidth),
                        "ridge": interval_object(roof.ridge(one)),
                        "attainable": [_bound_object(roof, x, one) for x in at],
                    }
                    for one in roof.ceilings
                ],
            }
            for roof in roofs
        ],
    }


def _bound_object(roof: Roof, intensity: float, one: Ceiling) -> dict[str, Any]:
    bound = roof.attainable(intensity, one)
    return {"intensity": intensity, **interval_object(bound.rate), "limit": bound.limit}
