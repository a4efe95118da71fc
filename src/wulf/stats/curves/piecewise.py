"""Time over message size as a few straight lines: t(n) = α + β·n between switch points.

A protocol or a buffer that takes over at some size bends the curve (packets longer than the MTU, eager and rendezvous,
socket buffers). Each line's α is a latency, 1/β a bandwidth, and α/β = n½ the size at which half of that bandwidth is
reached (Hockney 1994). The lines are found together, as the division of the sizes into stretches whose weighted squares
are least (dynamic programming; Bellman & Roth 1969), and as many as the noise of the replicates, which is known,
justifies (Schwarz's criterion).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log

import numpy as np

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats, check_confidence, logs

LEAST_SIZES = 3
"""Sizes on a line: two always fit."""

MOST_LINES = 6

PARAMETERS = 4
"""Of another line: α, β, and where it begins, which counts twice, as it was sought among all sizes (Zhang & Siegmund,
A modified Bayes information criterion, Biometrics 63, 2007): straight data then seems bent once in a hundred."""

RESAMPLES = 199


@dataclass(frozen=True)
class Stretch:
    """One stretch.

    Attributes
    ----------
    first, last
        Sizes, in the unit of the sizes; the switch to the next line lies between `last` and its `first`.
    alpha
        In the unit of the times: the line continued to size zero. Negative where the stretch bends upwards to it.
    beta
        Time by size.
    """

    first: float
    last: float
    alpha: Interval
    beta: Interval

    @property
    def half_size(self) -> float | None:
        """n½; None where the line has no latency, or no slope, to speak of."""
        return self.alpha.value / self.beta.value if self.alpha.value > 0 and self.beta.value > 0 else None

    def at(self, size: float) -> float:
        """The time that the line predicts."""
        return self.alpha.value + self.beta.value * size


@dataclass(frozen=True)
class PiecewiseCurve:
    """The lines of a sweep, in order of size.

    Attributes
    ----------
    lines
        At least one.
    switches
        For each bend, the sizes between which it lies: the last of one line, the first of the next, widened to where
        it lay in 95 % of resamples.
    """

    lines: tuple[Stretch, ...]
    switches: tuple[tuple[float, float], ...]

    def at(self, size: float) -> float:
        """The time predicted for any size; between two lines, that of the nearer one on a log scale."""
        for line, after in zip(self.lines, self.lines[1:], strict=False):
            if size * size <= line.last * after.first:
                return line.at(size)
        return self.lines[-1].at(size)


def fit(replicates: Mapping[float, Sequence[float]], *, confidence: float = 0.95, seed: int = 0) -> PiecewiseCurve:
    """Fit lines to the medians of replicates at each size.

    Parameters
    ----------
    replicates
        Size → times, all above zero; at least three sizes with two replicates each.
    confidence
        Of the intervals: replicates are resampled within each size, and the bends are sought again.
    seed
        Of the resamples.

    Raises
    ------
    ValueError
        Too few sizes or replicates; a time is not above zero, or not finite.
    """
    check_confidence(confidence)
    sizes = np.array(sorted(replicates), dtype=float)
    if sizes.size < LEAST_SIZES:
        raise ValueError(f"{sizes.size} sizes: a line needs {LEAST_SIZES}")
    if not np.isfinite(sizes).all() or (sizes < 0).any():
        raise ValueError("sizes must be finite and not negative")
    samples = [np.exp(logs(replicates[size])) for size in sizes]
    short = next((i for i, values in enumerate(samples) if values.size < 2), None)
    if short is not None:
        raise ValueError(f"size {sizes[short]:g} has {samples[short].size} replicates; 2 are needed")
    medians = np.array([np.median(values) for values in samples])
    errors = _errors(samples, medians)
    count = _how_many(sizes, medians, errors)
    starts = _divide(sizes, medians, errors, count)
    resampled = resampled_medians(samples, np.random.default_rng(seed))
    drawn = [(_divide(sizes, each, errors, count), _solve(sizes, each, errors, starts)) for each in resampled]
    return _curve(sizes, _solve(sizes, medians, errors, starts), starts, drawn, confidence)


def _errors(samples: Sequence[Floats], medians: Floats) -> Floats:
    """Standard errors of the medians: 1.25·σ/√n, with a relative σ that is at least the neighbouring sizes'."""
    relative = np.array([np.std(np.log(values), ddof=1) / values.size**0.5 for values in samples])
    smooth = np.array([np.median(relative[max(0, i - 2) : i + 3]) for i in range(relative.size)])
    floor = 1e-4  # a clock that shows no noise at all must not make every wiggle a bend
    result: Floats = 1.253 * np.maximum(np.maximum(relative, smooth), floor) * medians
    return result


def _moments(sizes: Floats, medians: Floats, errors: Floats) -> Floats:
    """Running weighted sums, shape (6, n + 1): 1, x, x², t, xt, t²."""
    w = 1 / errors**2
    terms = np.stack([w, w * sizes, w * sizes**2, w * medians, w * sizes * medians, w * medians**2])
    return np.concatenate([np.zeros((6, 1)), np.cumsum(terms, axis=1)], axis=1)


def _costs(sizes: Floats, medians: Floats, errors: Floats) -> Floats:
    """Weighted squares of the best line over sizes i … j-1, shape (n + 1, n + 1); infinite where it has too few."""
    n = sizes.size
    sums = _moments(sizes, medians, errors)
    s = sums[:, None, :] - sums[:, :, None]  # [., i, j]: of the sizes i … j-1
    determinant = s[0] * s[2] - s[1] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = (s[0] * s[4] - s[1] * s[3]) / determinant
        alpha = (s[3] - beta * s[1]) / s[0]
        squares = s[5] - alpha * s[3] - beta * s[4]
    i, j = np.indices((n + 1, n + 1))
    return np.where(j - i >= LEAST_SIZES, np.maximum(squares, 0.0), inf)


def _best(costs: Floats, most: int) -> list[tuple[float, list[int]]]:
    """For one line, two, …: the least squares, and where each line begins."""
    n = costs.shape[0] - 1
    reach = [costs[0].copy()]
    back: list[np.ndarray] = []
    for _ in range(1, most):
        totals = reach[-1][:, None] + costs
        back.append(np.argmin(totals, axis=0))
        reach.append(totals.min(axis=0))
    found = []
    for lines, reached in enumerate(reach, 1):
        if not np.isfinite(reached[n]):
            break
        starts, end = [], n
        for level in range(lines - 2, -1, -1):
            end = int(back[level][end])
            starts.append(end)
        found.append((float(reached[n]), [0, *reversed(starts)]))
    return found


def _how_many(sizes: Floats, medians: Floats, errors: Floats) -> int:
    """The number of lines of the least squares + parameters · ln(sizes): Schwarz's criterion with known errors."""
    found = _best(_costs(sizes, medians, errors), MOST_LINES)
    scores = [squares + PARAMETERS * lines * log(sizes.size) for lines, (squares, _) in enumerate(found, 1)]
    return int(np.argmin(scores)) + 1


def _divide(sizes: Floats, medians: Floats, errors: Floats, count: int) -> list[int]:
    return _best(_costs(sizes, medians, errors), count)[count - 1][1]


def _solve(sizes: Floats, medians: Floats, errors: Floats, starts: Sequence[int]) -> Floats:
    """α and β of each line, shape (lines, 2)."""
    ends = [*starts[1:], sizes.size]
    lines = []
    for start, end in zip(starts, ends, strict=True):
        x, t, w = (values[start:end] for values in (sizes, medians, 1 / errors**2))
        middle = (w * x).sum() / w.sum()
        beta = (w * (x - middle) * t).sum() / (w * (x - middle) ** 2).sum()
        lines.append(((w * t).sum() / w.sum() - beta * middle, beta))
    return np.array(lines)


def resampled_medians(samples: Sequence[Floats], random: np.random.Generator) -> Floats:
    """Medians of samples drawn anew within each size, shape (resamples, sizes)."""
    drawn = [[values[random.integers(0, values.size, values.size)] for values in samples] for _ in range(RESAMPLES)]
    return np.stack([np.median(size, axis=1) for size in zip(*drawn, strict=True)], axis=1)


def _interval(value: float, low: float, high: float) -> Interval:
    return Interval(value, min(low, value), max(high, value))


def _curve(
    sizes: Floats,
    own: Floats,
    starts: Sequence[int],
    drawn: Sequence[tuple[list[int], Floats]],
    confidence: float,
) -> PiecewiseCurve:
    """From the lines themselves, shape (lines, 2), and those of the resamples."""
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(np.array([lines for _, lines in drawn]), tails, axis=0)
    ends = [*starts[1:], sizes.size]
    lines = tuple(
        Stretch(
            float(sizes[start]),
            float(sizes[end - 1]),
            *(_interval(float(own[k, i]), float(low[k, i]), float(high[k, i])) for i in (0, 1)),
        )
        for k, (start, end) in enumerate(zip(starts, ends, strict=True))
    )
    switches = []
    for k, start in enumerate(starts[1:], 1):
        places = [divided[k] for divided, _ in drawn]
        first, last = np.quantile(places, tails, method="closest_observation")
        switches.append((float(sizes[min(int(first), start) - 1]), float(sizes[max(int(last), start)])))
    return PiecewiseCurve(lines, tuple(switches))


def unexplained(curve: PiecewiseCurve, held_out: Mapping[float, tuple[float, float]], tolerance: float) -> list[float]:
    """Of sizes that were held out, with the intervals of their times: those farther from the curve than the tolerance.

    Relatively, and with the whole interval: what noise may have done is not held against the curve.
    """
    return [
        size
        for size, (low, high) in sorted(held_out.items())
        if low > curve.at(size) * (1 + tolerance) or high < curve.at(size) * (1 - tolerance)
    ]


def next_sizes(curve: PiecewiseCurve, measured: Sequence[int]) -> list[int]:
    """Where to look next: in the middle of every line, of every switch, on a log scale; nothing between neighbours."""
    known = sorted(measured)
    spans = [(line.first, line.last) for line in curve.lines] + list(curve.switches)
    wanted = []
    for low, high in spans:
        middle = (max(low, 1.0) * max(high, 1.0)) ** 0.5
        below = max((size for size in known if size <= middle), default=None)
        above = min((size for size in known if size > middle), default=None)
        if below is not None and above is not None and above - below > 1:
            wanted.append(min(max(round((below * above) ** 0.5), below + 1), above - 1))
    return sorted(set(wanted) - set(known))


def steepest(curve: PiecewiseCurve) -> tuple[Stretch, Stretch] | None:
    """The two lines between which a curve rises most; None where it rises nowhere."""
    rises = [(rise(before, after), before, after) for before, after in pairwise(curve.lines)]
    most = max(rises, key=lambda one: one[0], default=None)
    return most[1:] if most is not None and most[0] > 0 else None


def rise(before: Stretch, after: Stretch) -> float:
    """By how much a curve grows from one line to the next, in the middle between them on a log scale."""
    middle = (before.last * after.first) ** 0.5
    return after.at(middle) - before.at(middle)


def line_of(curve: PiecewiseCurve, size: float) -> Stretch:
    """The line that a size lies on: the last that begins at or below it."""
    return next((line for line in reversed(curve.lines) if line.first <= size), curve.lines[0])
