"""Looking more than once without fooling oneself: group-sequential levels, and confidence sequences.

Looks are declared beforehand. An error of α is spent over them as a function of the share of samples seen (Lan & DeMets
1983), which need not be equal steps; a level that a small sample cannot reach spends nothing and is kept for later.
Where nobody knows beforehand when it ends, a confidence sequence holds at all times at once (Howard & Ramdas 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import e, log, log1p, sqrt

import numpy as np
from scipy.special import betaln, ndtr, ndtri

Spending = Callable[[float, float], float]
"""(share of samples seen, α) → error spent until then."""


def pocock(share: float, alpha: float) -> float:
    """Spends early: an early stop is likely, the last look costs more (Lan & DeMets 1983, α·ln(1+(e-1)t))."""
    return alpha * log1p((e - 1) * min(share, 1.0))


_GRID = 401
_REACH = 8.0


class _Walk:
    """The density of the sum of n unit normals that crossed no bound yet, on a grid over the open region.

    Carried from look to look by numerical integration (Armitage, McPherson & Rowe 1969).
    """

    def __init__(self) -> None:
        self._n = 0
        self._sum = np.zeros(1)
        self._mass = np.ones(1)

    def tail(self, n: int, bound: float) -> float:
        """The chance that |sum|/√n is above `bound` at look n, having crossed nothing before."""
        step = sqrt(n - self._n)
        edge = bound * sqrt(n)
        beyond = ndtr((self._sum - edge) / step) + ndtr((-self._sum - edge) / step)
        return float((self._mass * beyond).sum())

    def step(self, n: int, bound: float) -> float:
        """Take the look: the chance to cross, and the density of what goes on."""
        crossed = self.tail(n, bound)
        edge = min(bound, _REACH) * sqrt(n)
        points = np.linspace(-edge, edge, _GRID)
        step = sqrt(n - self._n)
        z = (points[:, None] - self._sum[None, :]) / step
        density = (np.exp(-0.5 * z * z) / (step * sqrt(2 * np.pi))) @ self._mass
        weights = np.full(_GRID, points[1] - points[0])
        weights[1:-1:2] *= 4 / 3  # Simpson's rule
        weights[2:-1:2] *= 2 / 3
        weights[[0, -1]] *= 1 / 3
        self._n, self._sum, self._mass = n, points, density * weights
        return crossed


Attainable = Callable[[int, float], float]
"""(samples, level) → the greatest level not above it that a test of so many samples can have; 0 where there is none."""


def any_level(_: int, level: float) -> float:
    """For a test that can have every level."""
    return level


def levels(
    looks: tuple[int, ...],
    alpha: float = 0.05,
    spending: Spending = pocock,
    attainable: Attainable = any_level,
    most: int | None = None,
) -> tuple[float, ...]:
    """The two-sided level to test at, at each look, so that all looks together err with at most α.

    Parameters
    ----------
    looks
        Numbers of samples, ascending.
    most
        The most that were ever to be taken; None: the last look. A campaign that is cut short takes its last look
        where it stands.
    attainable
        For tests whose levels come in steps, as all exact tests of few samples do: what a look cannot spend, the
        next one may.

    Returns
    -------
    tuple of float
        One for each look; 0 where the test cannot reject.
    """
    return _levels(looks, tuple(spending(n / (most or max(looks, default=1)), alpha) for n in looks), attainable)


@lru_cache(maxsize=1024)
def _levels(looks: tuple[int, ...], spent_by: tuple[float, ...], attainable: Attainable) -> tuple[float, ...]:
    """As `levels`, from the error that may have been spent by each look."""
    if list(looks) != sorted(set(looks)) or not looks or looks[0] < 1:
        raise ValueError(f"looks {looks} must ascend from 1")
    walk, spent, found = _Walk(), 0.0, []
    for n, may in zip(looks, spent_by, strict=True):
        room = may - spent
        level = attainable(n, 2 * float(ndtr(-_bound_for(walk, n, room)))) if room > 0 else 0.0
        spent += walk.step(n, -float(ndtri(level / 2)) if level > 0 else np.inf)
        found.append(level)
    return tuple(found)


BEYOND = 0.2
"""Share of the error that is kept for looks beyond those planned, where there may be any."""


def prolonged(n: int, planned: int, alpha: float) -> float:
    """The error spent by n samples, where `planned` were to be the last but may not be: never more than α.

    Pocock-like until there, with all but `BEYOND`; of that, 1 - planned/n. The steps fall as n grows, and so slowly
    that a look at 1.5 times as many samples always has something to spend.
    """
    if n <= planned:
        return pocock(n / planned, (1 - BEYOND) * alpha)
    return alpha * (1 - BEYOND * planned / n)


def level_at(
    n: int, looks: tuple[int, ...], alpha: float, attainable: Attainable = any_level, planned: int | None = None
) -> float:
    """The two-sided level at n samples, given the declared looks that came before; 0 where the test cannot reject.

    Between two looks nobody stops because of what the samples say. Who stops there all the same, because time is over,
    takes the last look, and may spend whatever is left.

    Parameters
    ----------
    planned
        The last look that was planned, where there are more for as long as there is time; None: the last of all.
    """
    if n < 1:
        return 0.0
    until = tuple(look for look in looks if look < n)

    def spent(look: int) -> float:
        return prolonged(look, planned, alpha) if planned else pocock(look / looks[-1], alpha)

    now = spent(n) if n in looks else alpha
    return _levels((*until, n), (*map(spent, until), now), attainable)[-1]


def _bound_for(walk: _Walk, n: int, room: float) -> float:
    """The bound of |Z| that is crossed with probability `room`, by bisection."""
    low, high = 0.0, _REACH
    if walk.tail(n, high) > room:
        return float("inf")
    for _ in range(60):
        middle = (low + high) / 2
        if walk.tail(n, middle) > room:
            low = middle
        else:
            high = middle
    return high


SEQUENCE_PRIOR = 5.0
"""Of the mixture's beta distribution, both parameters: the sequence is tightest around ten times as many samples."""


@lru_cache(maxsize=4096)
def sequence_ranks(n: int, q: float = 0.5, confidence: float = 0.95) -> tuple[int, int] | None:
    """Ranks (lower, upper) of order statistics that enclose the quantile at *all* n at once.

    The number of samples below the quantile is binomial. Mixed over a beta prior, its likelihood ratio is a martingale
    that exceeds 1/error ever with at most that probability (Ville 1939; Robbins 1970; for quantiles: Howard & Ramdas,
    Sequential estimation of quantiles, Bernoulli 28, 2022). The counts at which it does not are the interval.
    None while it reaches over all samples.
    """
    a, b = 2 * SEQUENCE_PRIOR * q, 2 * SEQUENCE_PRIOR * (1 - q)
    counts = np.arange(n + 1)
    ratio = betaln(a + counts, b + n - counts) - betaln(a, b) - counts * log(q) - (n - counts) * log(1 - q)
    inside = np.flatnonzero(ratio < -log(1 - confidence))
    lower, upper = int(inside[0]), int(inside[-1]) + 1
    return (lower, upper) if lower >= 1 and upper <= n else None
