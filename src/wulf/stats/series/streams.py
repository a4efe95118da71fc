"""Noise as clusters make it: series of log deviations to try statistics on, drawn from an injected generator.

Each stream has a spread of about one, in robust standard deviations; a campaign multiplies it by the coefficient of
variation that it wants. `recorded` is real: replicates of a ping-pong, as they came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wulf.stats.diagnostics import robust_sigma
from wulf.stats.samples import Floats, logs

Draw = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Stream:
    """A kind of noise.

    Attributes
    ----------
    name
        As tables show it.
    draw
        (generator, n) → n successive log deviations.
    median
        Of one draw at any time; None where it wanders, so that no single figure is true of the whole series.
    """

    name: str
    draw: Draw
    median: float | None = 0.0


def _lognormal(random: np.random.Generator, n: int) -> Floats:
    return random.normal(size=n)


_HEAVY_SPREAD = 1.21
"""Robust standard deviation of Student's t with two degrees of freedom: 1.4826 times its upper quartile, .8165."""


def _heavy(random: np.random.Generator, n: int) -> Floats:
    draws: Floats = random.standard_t(2, size=n) / _HEAVY_SPREAD
    return draws


BIMODAL_SHARE, BIMODAL_APART = 0.3, 8.0
_BIMODAL_SPREAD = (1 + BIMODAL_SHARE * (1 - BIMODAL_SHARE) * BIMODAL_APART**2) ** 0.5


def _bimodal(random: np.random.Generator, n: int) -> Floats:
    """Three of ten are eight of its standard deviations slower: an interrupt on the wrong CPU, a second route."""
    slow = np.where(random.random(n) < BIMODAL_SHARE, BIMODAL_APART, 0.0)
    draws: Floats = (random.normal(size=n) + slow) / _BIMODAL_SPREAD
    return draws


def ar1(random: np.random.Generator, n: int, rho: float) -> Floats:
    """A stationary AR(1) series of unit variance, shape (n,)."""
    steps = random.normal(size=n)
    steps[1:] *= (1 - rho**2) ** 0.5
    values = np.empty(n)
    last = 0.0
    for i, step in enumerate(steps):
        last = rho * last + step
        values[i] = last
    return values


DRIFT = 10.0
"""Standard deviations that the drifting stream rises from its first sample to its last."""


def _drift(random: np.random.Generator, n: int) -> Floats:
    return random.normal(size=n) + np.linspace(0, DRIFT, n)


def recorded(recording: Sequence[Sequence[float]]) -> Stream:
    """A mixture of recorded series: windows anywhere in any of them, each scaled to unit spread; wraps at the end."""
    units = []
    for samples in recording:
        values = logs(samples)
        units.append((values - np.median(values)) / robust_sigma(values))

    def draw(random: np.random.Generator, n: int) -> Floats:
        unit = units[random.integers(len(units))]
        window: Floats = np.take(unit, random.integers(unit.size) + np.arange(n), mode="wrap")
        return window

    return Stream("recorded ping-pong", draw, None)


def shuffled(stream: Stream, series: int = 4096) -> Stream:
    """A recorded stream without its memory: single draws from all of it."""

    def draw(random: np.random.Generator, n: int) -> Floats:
        return random.permutation(stream.draw(random, max(n, series)))[:n]

    return Stream(f"{stream.name}, shuffled", draw, 0.0)


def _bimodal_median() -> float:
    """Φ(m)·(1-share) + Φ(m-apart)·share = ½; the slow mode is too far away to matter."""
    from scipy.special import ndtri

    middle: float = ndtri(0.5 / (1 - BIMODAL_SHARE)) / _BIMODAL_SPREAD
    return middle


SYNTHETIC = (
    Stream("lognormal", _lognormal),
    Stream("heavy-tailed (t2)", _heavy),
    Stream("bimodal", _bimodal, _bimodal_median()),
    Stream("AR(1), ρ = 0.5", partial(ar1, rho=0.5)),
    Stream("linear drift", _drift, None),
)

TO_SLOW, TO_FAST = 0.1, 0.25
"""Chance to leave the fast mode, and the slow one, from one draw to the next: stays of ten and of four draws."""

_SLOW_SHARE = TO_SLOW / (TO_SLOW + TO_FAST)
_SWITCHING_SPREAD = (1 + _SLOW_SHARE * (1 - _SLOW_SHARE) * BIMODAL_APART**2) ** 0.5


def _switching(random: np.random.Generator, n: int) -> Floats:
    """Two modes, as far apart as the bimodal stream's, each kept for a while: a two-state Markov chain."""
    chances, slow = random.random(n), np.empty(n, dtype=bool)
    now = random.random() < _SLOW_SHARE
    for i, chance in enumerate(chances):
        now = chance >= TO_FAST if now else chance < TO_SLOW
        slow[i] = now
    draws: Floats = (random.normal(size=n) + BIMODAL_APART * slow) / _SWITCHING_SPREAD
    return draws


def _switching_median() -> float:
    from scipy.special import ndtri

    middle: float = ndtri(0.5 / (1 - _SLOW_SHARE)) / _SWITCHING_SPREAD
    return middle


TICKS = 20.3
"""What the quantised clock's figure is, in steps of the clock."""


def quantised(cv: float) -> Stream:
    """Lognormal noise of this coefficient of variation, read from a clock of which the median is `TICKS` steps."""

    def draw(random: np.random.Generator, n: int) -> Floats:
        ticks: Floats = np.round(TICKS * np.exp(cv * random.normal(size=n)))
        return np.log(ticks / TICKS) / cv

    return Stream("quantised clock", draw)


def drifting(total: float) -> Stream:
    """Lognormal noise that rises by so many of its standard deviations from the first draw to the last."""
    return Stream(
        f"drift of {total:g} σ", lambda random, n: random.normal(size=n) + np.linspace(0, total, n), None
    )  # fmt: skip


DEPENDENT = (
    SYNTHETIC[3],
    Stream("AR(1), ρ = 0.6", partial(ar1, rho=0.6)),
    Stream("AR(1), ρ = 0.8", partial(ar1, rho=0.8)),
    Stream("switching modes", _switching, _switching_median()),
)
"""Noise whose draws depend on those before."""
