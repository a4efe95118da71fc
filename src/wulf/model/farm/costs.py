"""The master-worker farm: what a message costs the master, how many workers it feeds, and how small a unit may be.

The master serves a message of b units in o = a + c·b. So at most 1/o messages a second pass it, W* = (t·b + RTT +
o_w)/o workers keep it busy, and half of the workers' time is lost at units of about METG = max(RTT + o_w, W·o/2): a
worker that waits for its answer loses as much as it works where t = RTT + o_w, and one that waits for a busy master
where t = W·o/2. With two batches a worker under way the answer is there before it is needed: max(o_w, (o_w + RTT)/3,
W·o/2). All of these are claims that the measured METG can refute.

METG, the minimum effective task granularity, needs points on both sides of 50 %: Slaughter et al., Task Bench, SC'20.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.model.draws import DRAWS, Uncertain, combine, mean_of
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

HALF = 0.5

CLOSE = 1.3
"""METG is searched until the points on its two sides are within this factor."""

STEP = 4.0
"""By which the search goes on where all points are on one side."""

LEAST_SPIN, MOST_SPIN = 1e-8, 1e-2
"""Seconds between which METG is searched."""


@dataclass(frozen=True)
class MasterCost:
    """o = a + c·b: the master's time a message of b units.

    Attributes
    ----------
    a, c
        Seconds a message, and a unit in it; drawn together.
    misfit
        χ² of the means about the line, by its degrees of freedom; None where two batches leave none. Their draws are
        as much wider as its root is above 1 (Birge 1932).
    """

    a: Uncertain
    c: Uncertain
    misfit: float | None

    def at(self, batch: int) -> Uncertain:
        """o(b)."""
        return combine(lambda a, c: np.maximum(a + c * batch, 0.0), self.a, self.c)


def master_cost(samples: Mapping[int, Sequence[float]], random: np.random.Generator) -> MasterCost:
    """Fit the line through the means of each batch, weighted by their errors.

    Parameters
    ----------
    samples
        Batch → seconds a message of each replicate.

    Raises
    ------
    ValueError
        Fewer than two batches, or fewer than two replicates of one; or one whose messages took no time.
    """
    batches = sorted(samples)
    if len(batches) < 2:
        raise ValueError(f"o = a + c·b needs two batches, and got {len(batches)}")
    if timeless := [batch for batch in batches if not np.mean(samples[batch]) > 0]:
        raise ValueError(f"messages of batches of {timeless[0]} took no time that the master's clock saw")
    drawn = [mean_of(samples[batch], random) for batch in batches]
    means = np.array([one.value for one in drawn])
    dof = sum(len(samples[batch]) - 1 for batch in batches)
    relative = (
        sum(float(np.var(samples[b])) * len(samples[b]) / np.mean(samples[b]) ** 2 for b in batches) / dof
    ) ** 0.5
    errors = np.maximum(relative, 1e-9) * means / np.sqrt([len(samples[batch]) for batch in batches])
    columns = np.stack([np.ones(len(batches)), np.array(batches, dtype=float)], axis=1) / errors[:, None]
    solve = np.linalg.pinv(columns)
    theta = solve @ (means / errors)
    left = means / errors - columns @ theta
    misfit = float(left @ left) / (len(batches) - 2) if len(batches) > 2 else None
    widened = max(1.0, (misfit or 0.0) ** 0.5)
    noise = random.standard_t(dof, (DRAWS, len(batches))) * widened
    both = theta + noise @ solve.T
    return MasterCost(Uncertain(float(theta[0]), both[:, 0]), Uncertain(float(theta[1]), both[:, 1]), misfit)


def saturation(unit: Uncertain, batch: int, rtt: Uncertain, overhead: Uncertain, cost: Uncertain) -> Uncertain:
    """W*: with as many workers the master has no idle time left; infinite where its time may be none."""
    return combine(lambda t, r, w, o: busy_workers(np.maximum(t * batch + r + w, 0.0), o), unit, rtt, overhead, cost)


def busy_workers(own: Floats, masters: Floats) -> Floats:
    """How many workers that need `own` seconds a message by themselves keep a master busy that needs `masters`.

    Both of one shape, which is the result's; infinite where the master needs no time.
    """
    found = masters > 0
    return np.where(found, own / np.where(found, masters, 1.0), np.inf)


def metg_waiting(workers: int, rtt: Uncertain, overhead: Uncertain, cost: Uncertain) -> Uncertain:
    """max(RTT + o_w, W·o/2): a worker has nothing to do until its answer is there."""
    return combine(lambda r, w, o: np.maximum(r + w, workers * o / 2), rtt, overhead, cost)


def metg_buffered(workers: int, rtt: Uncertain, overhead: Uncertain, cost: Uncertain) -> Uncertain:
    """max(o_w, (o_w + RTT)/3, W·o/2): the next batch is there, or on its way, while one is worked on."""
    return combine(
        lambda r, w, o: np.maximum(np.maximum(w, (w + r) / 3), workers * o / 2), rtt, overhead, cost
    )  # fmt: skip


def refuted(measured: Interval, predicted: Interval) -> bool:
    """Whether the two have no value in common."""
    return measured.low > predicted.high or predicted.low > measured.high


@dataclass(frozen=True)
class Metg:
    """The measured METG(50 %).

    Attributes
    ----------
    value
        Seconds a unit; None where all points were on one side.
    below, above
        The nearest points, in seconds a unit, with less than half and with at least half of the workers' time used.
    """

    value: Uncertain | None
    below: float | None
    above: float | None


def metg(points: Mapping[float, Sequence[float]], random: np.random.Generator, target: float = HALF) -> Metg:
    """Where efficiency crosses `target`: on a line between the nearest points, in the logarithm of the unit's time.

    Parameters
    ----------
    points
        Seconds a unit → efficiency of each replicate.
    """
    below, above = _bracket({spin: float(np.mean(values)) for spin, values in points.items()}, target)
    if below is None or above is None:
        return Metg(None, below, above)
    first, second = mean_of(points[below], random), mean_of(points[above], random)

    def cross(low: Floats, high: Floats) -> Floats:
        share = np.clip((target - low) / np.where(high > low, high - low, np.inf), 0.0, 1.0)
        result: Floats = below * (above / below) ** share
        return result

    return Metg(combine(cross, first, second), below, above)


def _bracket(means: Mapping[float, float], target: float) -> tuple[float | None, float | None]:
    """The longest unit below the target, and the next longer one; the shortest above it where none is below."""
    spins = sorted(means)
    low = [spin for spin in spins if means[spin] < target]
    above = [spin for spin in spins if means[spin] >= target and (not low or spin > low[-1])]
    return (low[-1] if low else None), (above[0] if above else None)


def next_spin(points: Mapping[float, Sequence[float]], target: float = HALF) -> float | None:
    """Which unit to measure next; None where METG is known well enough, or is not between the search's ends."""
    means = {spin: float(np.mean(values)) for spin, values in points.items()}
    below, above = _bracket(means, target)
    if below is not None and above is not None:
        return float((below * above) ** 0.5) if above / below > CLOSE else None
    edge = max(means) * STEP if above is None else min(means) / STEP
    return edge if LEAST_SPIN <= edge <= MOST_SPIN else None


def karp_flatt(speedup: float, workers: float) -> float:
    """The serial fraction that one speedup comes to: (1/S - 1/N)/(1 - 1/N) (Karp & Flatt, CACM 33, 1990).

    Raises
    ------
    ValueError
        There is one worker, or less.
    """
    if workers <= 1:
        raise ValueError("one worker's speedup says nothing of a serial fraction")
    return (1 / speedup - 1 / workers) / (1 - 1 / workers)


MESSAGES_A_CYCLE = 2
"""Work to a worker, and its results."""


@dataclass(frozen=True)
class Tables:
    """The tables of the 2007 report, of any farm: workers → batch → figure.

    Attributes
    ----------
    units
        In each run.
    seconds
        Means.
    """

    units: int
    seconds: Mapping[int, Mapping[int, float]]

    @property
    def batches(self) -> list[int]:
        """Of all runs."""
        return sorted({batch for row in self.seconds.values() for batch in row})

    def messages(self, batch: int) -> int:
        """To the master, in one run: the last may be a smaller batch."""
        return -(-self.units // batch)

    def rate(self, workers: int, batch: int) -> float:
        """Messages a second at the master."""
        return self.messages(batch) / self.seconds[workers][batch]

    def message_time(self, workers: int, batch: int) -> float:
        """Seconds a message, of the whole run."""
        return 1 / self.rate(workers, batch)

    def overhead(self, workers: int, batch: int) -> float | None:
        """Seconds more than with the largest batch; None without that one."""
        row = self.seconds[workers]
        return row[batch] - row[self.batches[-1]] if self.batches[-1] in row else None

    def overhead_cycle(self, workers: int, batch: int) -> float | None:
        """The same by cycles: a batch that goes to a worker, and its results that come back."""
        total = self.overhead(workers, batch)
        return None if total is None else total / self.messages(batch)

    def overhead_message(self, workers: int, batch: int) -> float | None:
        """The same by messages, of which a cycle has two: as the report of 2007 defines it."""
        each = self.overhead_cycle(workers, batch)
        return None if each is None else each / MESSAGES_A_CYCLE

    def speedup(self, workers: int, batch: int, base: float | None = None) -> float | None:
        """Against `base` seconds; without it against one worker with the same batch, where that was measured."""
        alone = base if base is not None else self.seconds.get(1, {}).get(batch)
        return None if alone is None else alone / self.seconds[workers][batch]

    def least_cost_bound(self, batch: int) -> float:
        """What the master's time a message can't exceed: it took in all messages of the quickest run in that run."""
        return min(row[batch] for row in self.seconds.values() if batch in row) / self.messages(batch)
