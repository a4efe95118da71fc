"""What a network is worth for a program, and whether that can be told; `forecast` has the run times.

A gain has three doubts. The networks' figures have intervals: they are drawn, and each draw is replayed. The model
covers a share of the trace's time; the rest could be as it was, or not be at all. And the replay of the network that
the trace was made on misses what was measured: that may be gone on another network, or there twice. Nobody knows how
these two act there, and neither gets smaller by drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wulf.model.foresight.forecast import Forecast, gain_of
from wulf.stats.estimates import Interval

USUAL_GAIN = 0.05
"""Share of the run time that must be saved for a network to be worth it, where neither a person nor a price says so."""

LARGEST_MISS = 0.15
"""Share of the measured run time that the model may miss: beyond, it has not understood the run; nothing follows."""

Word = Literal["buy", "don't", "not resolvable"]


@dataclass(frozen=True)
class Doubts:
    """What is not in a gain's interval.

    Attributes
    ----------
    uncovered
        Share of the trace's time that the model does not cover.
    miss
        Of the calibration, as a share of the measured time, without its sign; None: unknown.
    """

    uncovered: float
    miss: float | None


@dataclass(frozen=True)
class Offer:
    """What a network costs, and the machine that it is for; None: not known. In one currency."""

    price: float | None = None
    machine: float | None = None
    source: str = ""

    @property
    def break_even(self) -> float | None:
        """The share of run time that it must save to do as much for its price as more of the same machine would.

        A machine of price P that is 1/(1-s) as fast for P + C does more by its price where s > C / (P + C).
        """
        if self.price is None or self.machine is None:
            return None
        return self.price / (self.price + self.machine)


@dataclass(frozen=True)
class Verdict:
    """Whether to buy, why, and what would tell where that can't be told."""

    word: Word
    why: str
    next_step: str = ""


@dataclass(frozen=True)
class NetworkCandidate:
    """A network that could be had instead of the baseline.

    Attributes
    ----------
    gain
        Share of the run time saved, with the interval of the networks' figures; negative where it takes longer.
    bounds
        The same with all doubts.
    required
        The gain that it must have.
    estimates
        Its figures that are estimates.
    """

    forecast: Forecast
    gain: Interval
    bounds: Interval
    required: float
    offer: Offer
    verdict: Verdict
    estimates: Sequence[str] = ()

    @property
    def saved_by_thousand(self) -> Interval | None:
        """Share of the run time saved for each thousand of the currency; None without a price."""
        if not self.offer.price:
            return None
        thousands = self.offer.price / 1000
        return Interval(*(each / thousands for each in (self.gain.value, self.gain.low, self.gain.high)))


def widened(gain: Interval, doubts: Doubts) -> Interval:
    """A gain's interval with all doubts; no run takes less than no time.

    What the model misses of the baseline may be gone on the candidate, or there twice; where the run takes longer, it
    may have grown with it. What is not modelled is a share of the baseline's time, too.
    """
    miss = min(doubts.miss or 0.0, LARGEST_MISS)
    low, high = (end * miss * max(1.0, 1 - at) for end, at in ((-1, gain.low), (1, gain.high)))
    return Interval(gain.value, gain.low + low - doubts.uncovered, min(1.0, gain.high + high + doubts.uncovered))


def judge(gain: Interval, doubts: Doubts, required: float) -> Verdict:
    """Whether the gain is surely as large as required, surely not, or can't be told; then by what it can't."""
    if doubts.miss is not None and doubts.miss > LARGEST_MISS:
        what, next_step = _model_cause(doubts.miss)
        return Verdict("not resolvable", f"{what}: too far for anything to follow", next_step)
    bounds = widened(gain, doubts)
    said = f"it {said_gain(bounds)} of the run time, {_percent(required)} are required"
    if doubts.miss is None:
        what = "nothing measured stands beside the model: the trace does not say how long the program took"
        return Verdict("not resolvable", what, "trace it again, to its end")
    if bounds.low >= required:
        return Verdict("buy", said)
    if bounds.high < required:
        return Verdict("don't", said)
    cause, next_step = _cause(gain, doubts, required)
    return Verdict("not resolvable", f"{said}: {cause}", next_step)


def said_gain(gain: Interval) -> str:
    """`saves 4.0 % to 6.1 %`, `adds …` where it surely takes longer, or between which of both it lies."""
    low, high = _percent(abs(gain.low)), _percent(abs(gain.high))
    if gain.low >= 0:
        return f"saves {low} to {high}"
    return f"adds {high} to {low}" if gain.high <= 0 else f"adds up to {low} or saves up to {high}"


def _cause(gain: Interval, doubts: Doubts, required: float) -> tuple[str, str]:
    """Which doubt keeps a gain from being told; the one without which it could be, else the widest."""
    miss = doubts.miss or 0.0
    figures = (
        f"the networks' figures alone leave {_percent(gain.high - gain.low)}",
        "measure the candidate on a loan with `wulf model loggp`, and give its run or TOML as --network",
    )
    coverage = (
        f"{_percent(doubts.uncovered)} of the trace's time are not modelled",
        "the table of what is left out says which calls; replace them, or trace a part without them",
    )
    model = _model_cause(miss)
    exact = Interval(gain.value, gain.value, gain.value)
    without = {
        figures: _resolved(widened(exact, doubts), required),
        coverage: _resolved(widened(gain, Doubts(0.0, miss)), required),
        model: _resolved(widened(gain, Doubts(doubts.uncovered, 0.0)), required),
    }
    sizes = {figures: gain.high - gain.low, coverage: 2 * doubts.uncovered, model: 2 * miss}
    return max(without, key=lambda each: (without[each], sizes[each]))


def _model_cause(miss: float) -> tuple[str, str]:
    return (
        f"the model misses the measured run by {_percent(miss)}",
        "see that every rank had a core of its own while it was traced, measure this network with `wulf model loggp` "
        "between the same hosts, and give --collectives as they run here",
    )


def _resolved(bounds: Interval, required: float) -> bool:
    return bounds.low >= required or bounds.high < required


def required_gain(offer: Offer, asked: float | None) -> float:
    """The gain that a network must have: as asked, or where it pays for itself, or the usual."""
    if asked is not None:
        return asked
    return USUAL_GAIN if offer.break_even is None else offer.break_even


def candidate(
    baseline: Forecast,
    other: Forecast,
    doubts: Doubts,
    offer: Offer,
    *,
    asked: float | None = None,
    estimates: Sequence[str] = (),
) -> NetworkCandidate:
    """A network held against the baseline."""
    gain, required = gain_of(baseline, other), required_gain(offer, asked)
    verdict = judge(gain, doubts, required)
    return NetworkCandidate(other, gain, widened(gain, doubts), required, offer, verdict, tuple(estimates))


def best_of(candidates: Sequence[NetworkCandidate]) -> NetworkCandidate | None:
    """Of those to buy the one that saves most for its price, or where prices lack, that saves most."""
    bought = [one for one in candidates if one.verdict.word == "buy"]
    if not bought:
        return None
    if all(one.saved_by_thousand is not None for one in bought):
        return max(bought, key=lambda one: one.saved_by_thousand.value)  # type: ignore[union-attr]
    return max(bought, key=lambda one: one.gain.value)


@dataclass(frozen=True)
class Tolerance:
    """How much more a network may cost until the run takes so much longer.

    Attributes
    ----------
    share
        .01: one percent.
    latency
        More seconds a message; None: no end was found.
    byte
        More seconds a byte.
    """

    share: float
    latency: float | None
    byte: float | None

    def least_bandwidth(self, byte: float) -> float | None:
        """To which the bandwidth may fall [B/s]; None where nothing is known or bytes cost nothing."""
        return None if self.byte is None or byte + self.byte <= 0 else 1 / (byte + self.byte)


@dataclass(frozen=True)
class Piecewise:
    """Run time over a latency [s] or the time of a byte [s/B]: straight between points, with a slope a stretch.

    Over latency a slope is the number of latencies on the critical path; over the time of a byte, of bytes.
    """

    over: Literal["latency", "byte"]
    x: tuple[float, ...]
    seconds: tuple[float, ...]
    slopes: tuple[float, ...]

    def at(self, x: float) -> float:
        """The run time there; beyond the points that of the nearest one."""
        return float(np.interp(x, self.x, self.seconds))


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
