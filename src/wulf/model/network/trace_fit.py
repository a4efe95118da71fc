"""A network's figures fitted to a trace: so that the calls of the traced run take as long in the replay as they took.

What is measured between two ranks that do nothing else holds for a program as far as its messages are like those of the
measurement. A program's own calls say what its messages cost it. Each kind of calls (by name and size) gives one
equation: its time in the replay of that network, all other calls replayed too, is its time in the trace. Least squares
over the figures' logarithms, drawn towards the measured figures, so that what no call tells of stays as measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtri

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

FITTED = ("latency", "send", "receive", "gap", "byte")
"""The figures that are fitted; the eager limit and what packets cost stay."""

FLOOR = {"latency": 1e-7, "send": 1e-7, "receive": 1e-7, "gap": 1e-8, "byte": 1e-12}
"""Where fitting begins, for a figure that was measured as nothing [s, s/B]."""

PRIOR = log(10.0)
"""Standard deviation of a measured figure's logarithm: it may be off by an order of magnitude, and a single call in
doubt outweighs it."""

SHARE_OF_KIND, SHARE_OF_ALL = 0.05, 0.002
"""How exactly a kind's time should be met: of its own time, and of all calls' together."""

TOLD = log(1.5)
"""The calls tell a figure whose logarithm they leave with less deviation than that: a factor of two, in 95 %."""

STEP, MOST = 0.05, 40
"""Of the logarithms, for the slopes; and how many points are tried."""

Kinds = Mapping[tuple[str, int, str], tuple[float, float]]
"""Kind of calls → seconds as traced and as replayed, of all of them."""


@dataclass(frozen=True)
class Fitted:
    """What the calls tell: figure → its value with a 95 % interval; and how many replays that took."""

    parts: Mapping[str, Interval]
    replays: int


def fit(start: Mapping[str, float], kinds: Callable[[Mapping[str, float]], Kinds]) -> Fitted:
    """The figures under which the calls take as long as they took, of those that the calls tell of.

    Of all five together some are often not told: those are as measured, and the others fitted with them so.

    Parameters
    ----------
    start
        As measured: of `FITTED` at least [s, s/B].
    kinds
        What calls take with such figures. Of one set of calls: the same kinds each time.
    """
    all_parts = _fit(start, FITTED, kinds)
    told = [part for part, (_, deviation) in all_parts.logs.items() if deviation < TOLD]
    if not told or len(told) == len(FITTED):
        return Fitted(all_parts.intervals(told), all_parts.replays)
    again = _fit(start, told, kinds)
    return Fitted(again.intervals(told), all_parts.replays + again.replays)


@dataclass(frozen=True)
class _Fit:
    """Figure → its logarithm and that one's standard deviation."""

    logs: Mapping[str, tuple[float, float]]
    replays: int

    def intervals(self, parts: Sequence[str]) -> dict[str, Interval]:
        width = float(ndtri(0.975))
        return {
            part: Interval(exp(x), exp(x - width * deviation), exp(x + width * deviation))
            for part, (x, deviation) in self.logs.items() if part in parts
        }  # fmt: skip


def _fit(start: Mapping[str, float], parts: Sequence[str], kinds: Callable[[Mapping[str, float]], Kinds]) -> _Fit:
    """Some figures, the others as they are."""
    base = np.array([log(max(start[part], FLOOR[part])) for part in parts])
    replays = 0

    def residuals(logs: Floats) -> Floats:
        nonlocal replays
        replays += 1
        both = np.array(list(kinds({**start, **_values(parts, logs)}).values())).reshape(-1, 2)
        traced, replayed = both[:, 0], both[:, 1]
        exactness = SHARE_OF_KIND * traced + max(SHARE_OF_ALL * float(traced.sum()), 1e-12)
        return np.concatenate([(replayed - traced) / exactness, (logs - base) / PRIOR])

    found = least_squares(residuals, base, method="lm", diff_step=_relative(base), max_nfev=MOST * (1 + len(base)))
    deviations = _deviations(found.jac, float(2 * found.cost))
    logs = {part: (float(x), float(one)) for part, x, one in zip(parts, found.x, deviations, strict=True)}
    return _Fit(logs, replays)


def _values(parts: Sequence[str], logs: Floats) -> dict[str, float]:
    """The figures of their logarithms."""
    return {part: exp(x) for part, x in zip(parts, map(float, logs), strict=True)}


def _relative(base: Floats) -> Floats:
    """SciPy steps by a share of each variable; here each is to be stepped by as much."""
    return np.asarray(STEP / np.maximum(np.abs(base), 1e-3))


def _deviations(jacobian: Floats, squares: float) -> Floats:
    """Standard deviations of the logarithms; wider by as much as the kinds miss what they should meet."""
    rows, columns = jacobian.shape
    scale = max(1.0, squares / max(1, rows - columns))
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * scale
    return np.asarray(np.minimum(np.sqrt(np.diag(covariance)), PRIOR))
