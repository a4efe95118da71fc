"""The curves of a prediction: run time over latency and bandwidth, and over networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from wulf.model.foresight.prediction import Prediction
from wulf.model.foresight.worth import Piecewise
from wulf.report.kit.view import Curve, Plot

LEAST_SHARE = 1e-3
"""Of a curve's span, from which on it is drawn: a logarithmic axis has no 0."""

MOST_POINTS = 400


def curve_plots(found: Prediction) -> list[tuple[str, Plot]]:
    """Run time over latency, and over bandwidth, with the shares of the tolerances as lines."""
    plots = []
    for curve in found.curves:
        if len(curve.x) < 2 or curve.x[-1] <= 0:
            continue
        if curve.over == "latency":
            plots.append(("Run time over latency", _plot(found, curve, "predict-latency", "latency", "s")))
        else:
            plots.append(("Run time over bandwidth", _plot(found, curve, "predict-bandwidth", "bandwidth", "byte/s")))
    return plots


def _plot(
    found: Prediction, curve: Piecewise, key: Literal["predict-latency", "predict-bandwidth"], title: str, unit: str
) -> Plot:
    across = _grid(curve)
    x = [1 / value for value in across] if curve.over == "byte" else across
    y = [curve.at(value) for value in across]
    curves = [Curve(found.baseline.name, x, y, mark="·")]
    shares = [one.share for one in found.tolerances.get(found.baseline.name, ())]
    for share in shares:
        level = found.baseline.seconds * (1 + share)
        curves.append(Curve(f"{share:+.0%}", [x[0], x[-1]], [level, level], dashed=True, mark="─"))
    return Plot(key, curves, title, "run time", unit, "s")


def _grid(curve: Piecewise) -> list[float]:
    """Its points, but for 0, and points between them: a straight line is none on logarithmic axes."""
    last = curve.x[-1]
    first = last * LEAST_SHARE
    ratio = (last / first) ** (1 / (MOST_POINTS // 2))
    between = [first * ratio**i for i in range(MOST_POINTS // 2 + 1)]
    own = [value for value in curve.x if value >= first]
    step = max(1, len(own) // (MOST_POINTS // 2))
    return sorted({*between, *own[::step]})


def sensitivity_plot(found: Prediction) -> Plot | None:
    """All networks beside each other, with intervals; None where there is only one."""
    everyone = [found.baseline, *(one.forecast for one in found.candidates)]
    if len(everyone) < 2:
        return None
    order = sorted(everyone, key=lambda one: one.seconds)
    places: Sequence[float] = [float(i + 1) for i in range(len(order))]
    words = {place: one.name for place, one in zip(places, order, strict=True)}
    low, high = ([getattr(one.interval, end) for one in order] for end in ("low", "high"))
    predicted = Curve("predicted", places, [one.seconds for one in order], low, high, points=True, mark="o")
    curves = [predicted]
    measured = found.calibration.measured
    if measured is not None:
        ends = [places[0], places[-1]]
        name = f"measured on {found.baseline.name}"
        curves.append(Curve(name, ends, [measured, measured], dashed=True, mark="─"))
    return Plot("predict-networks", curves, "network", "run time", "1", "s", list(words.items()), words)
