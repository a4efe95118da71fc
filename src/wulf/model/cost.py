"""What a machine's speed costs: money for it, watts for it, and the share of its peak that it reaches.

Figures carry their uncertainty as draws (`wulf.model.draws`), and where each is from. SI inside: flop/s, W, J, s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from wulf.model.draws import DRAWS, Uncertain, combine, known
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

GIGA, MEGA = 1e9, 1e6

KWH = 3.6e6
"""Joules."""

YEAR = 365.25 * 86400
"""Seconds."""

SURE = 0.975
"""Share of the draws in which a candidate must be cheaper than every other one to be called the best value."""


@dataclass(frozen=True)
class Sourced:
    """A figure, and in words where it is from: `given`, `run 2026…, 6 runs of HPL`."""

    figure: Uncertain
    source: str = "given"


@dataclass(frozen=True)
class MachineSpec:
    """A machine, as far as it is known.

    Attributes
    ----------
    rate
        flop/s.
    price
        In whatever currency; None where nobody said.
    watts
        While it computes.
    peaks
        What each is → flop/s.
    """

    rate: Sourced
    price: float | None = None
    watts: Sourced | None = None
    peaks: Mapping[str, Sourced] = field(default_factory=dict)

    @property
    def price_per_rate(self) -> Uncertain | None:
        """Price of one flop/s."""
        return None if self.price is None else combine(np.divide, known(self.price), self.rate.figure)

    @property
    def rate_per_watt(self) -> Uncertain | None:
        """flop/s for one watt, which is flop for one joule."""
        return None if self.watts is None else combine(np.divide, self.rate.figure, self.watts.figure)

    @property
    def shares(self) -> dict[str, Uncertain]:
        """Of each peak, as ratios."""
        return {name: combine(np.divide, self.rate.figure, peak.figure) for name, peak in self.peaks.items()}


@dataclass(frozen=True)
class Tariff:
    """What running costs.

    Attributes
    ----------
    joule
        Price of one joule; None where nobody said.
    years
        For which the machine is used before its price is lost; None: its price is left out.
    use
        Share of these in which it computes.
    """

    joule: float | None = None
    years: float | None = None
    use: float = 1.0


@dataclass(frozen=True)
class JobCost:
    """What one job costs: energy [J] and its price, and the share of the machine's price; None: not known."""

    energy: Uncertain | None
    energy_price: Uncertain | None
    capital: Uncertain | None

    @property
    def total(self) -> Uncertain | None:
        """Of those parts that are known; None where neither is."""
        parts = [part for part in (self.energy_price, self.capital) if part is not None]
        return total(parts) if parts else None


def job_cost(seconds: Uncertain, machine: MachineSpec, tariff: Tariff) -> JobCost:
    """What a job of that length costs on the whole machine."""
    energy = None if machine.watts is None else combine(np.multiply, seconds, machine.watts.figure)
    paid = None if energy is None or tariff.joule is None else scaled(energy, tariff.joule)
    if machine.price is None or tariff.years is None:
        return JobCost(energy, paid, None)
    return JobCost(energy, paid, scaled(seconds, machine.price / (tariff.years * YEAR * tariff.use)))


@dataclass(frozen=True)
class GainWorth:
    """What a gain in speed is worth, as nodes share work without loss: so many more of them, and their price.

    Attributes
    ----------
    gain
        As a ratio: .37 is 37 % more.
    of
        Nodes of the machine.
    price
        None where the machine's is not known.
    """

    gain: Uncertain
    of: int
    nodes: Uncertain
    price: Uncertain | None


def gain_worth(gain: Uncertain, nodes: int, machine: MachineSpec) -> GainWorth:
    """A gain on so many nodes does as much as gain × nodes more of them; each costs its share of the machine."""
    price = None if machine.price is None else scaled(gain, machine.price)
    return GainWorth(gain, nodes, scaled(gain, nodes), price)


def owned(machine: MachineSpec, tariff: Tariff) -> Uncertain | None:
    """Price and energy over the years of use; None where a part of it is not known."""
    if machine.price is None or machine.watts is None or tariff.joule is None or tariff.years is None:
        return None
    busy = tariff.years * YEAR * tariff.use * tariff.joule
    return combine(np.add, known(machine.price), scaled(machine.watts.figure, busy))


def total(parts: Sequence[Uncertain]) -> Uncertain:
    """The sum of figures that are independent or share their draws."""
    return combine(_sum, *parts)


def _sum(*parts: Floats) -> Floats:
    return np.asarray(np.sum(parts, axis=0), dtype=float)


def scaled(one: Uncertain, factor: float) -> Uncertain:
    """A figure times a number that has no error."""
    return Uncertain(one.value * factor, one.draws * factor)


def from_interval(
    value: float, low: float | None, high: float | None, random: np.random.Generator, confidence: float = 0.95
) -> Uncertain:
    """A figure from its estimate and interval: two halves of normal distributions that meet in the estimate.

    So the interval of what is drawn is the given one, also where it is not symmetric (Wallis, "The two-piece normal",
    Statistical Science 29(1), 2014). Without an interval there is no uncertainty that could be carried on.
    """
    if low is None or high is None:
        return known(value)
    normal = random.standard_normal(DRAWS) / float(ndtri((1 + confidence) / 2))
    return Uncertain(value, value + np.where(normal < 0, normal * (value - low), normal * (high - value)))


def interval_of(one: Uncertain) -> Interval | None:
    """Its interval; None where it is known without error."""
    found = one.interval()
    return None if found.low == found.high else found


@dataclass(frozen=True)
class Candidate:
    """A node that could be bought.

    Attributes
    ----------
    relative
        Time for one flop, or for the user's work, over the first candidate's: less is better.
    flops
        Whether the machine's rate is in flop/s; else it is runs of the user's program a second.
    """

    name: str
    machine: MachineSpec
    relative: Uncertain
    flops: bool = True


@dataclass(frozen=True)
class Benefit:
    """A candidate's cost for the same work as the first one's: time x price, and with energy over the years.

    Attributes
    ----------
    cost
        Its price for the work that the first one does, over the first one's price: below 1 is better value.
    owned
        The same with its energy over the years of use; None where that is not known.
    """

    candidate: Candidate
    cost: Uncertain | None
    owned: Uncertain | None


def benefits(candidates: Sequence[Candidate], tariff: Tariff) -> list[Benefit]:
    """Each held against the first: Brown's price x time, as a ratio."""
    first = candidates[0].machine
    whole = owned(first, tariff)
    found = []
    for one in candidates:
        price, own = one.machine.price, owned(one.machine, tariff)
        cost = None if price is None or not first.price else scaled(one.relative, price / first.price)
        ratio = None if own is None or whole is None else combine(_over, one.relative, own, whole)
        found.append(Benefit(one, cost, known(1.0) if ratio is not None and one is candidates[0] else ratio))
    return found


def _over(time: Floats, own: Floats, first: Floats) -> Floats:
    return time * own / first


def best_value(found: Sequence[Benefit]) -> Benefit | None:
    """The one whose cost for the work lies surely below all others' at once; None where that can't be told.

    Each being surely dearer than it by itself is not enough: that one of several is cheaper may be likely all the same.
    """
    ratios = {one.candidate.name: one.owned or one.cost for one in found}
    if len(found) < 2 or any(ratio is None for ratio in ratios.values()):
        return None
    best, *others = sorted(found, key=lambda one: _of(one).value)
    cheapest = np.min([_of(one).draws for one in others], axis=0)
    return best if float(np.quantile(_of(best).draws / cheapest, SURE)) < 1 else None


def _of(one: Benefit) -> Uncertain:
    ratio = one.owned or one.cost
    assert ratio is not None  # noqa: S101 - the caller looked
    return ratio
