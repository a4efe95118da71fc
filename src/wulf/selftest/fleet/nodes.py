"""What happens on the nodes: jobs come and go, figures scatter, nodes break and are mended. Nothing of the sentry's.

Its noise is not what the sentry was made for: tails are heavy, nodes differ in level and scatter, all wander together
from day to day, some tests are disturbed by what a job left behind, and signs come without a change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wulf.core.durations import DAY
from wulf.stats.samples import Floats

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

STEP, DRIFT, FLAP = 0, 1, 2
KINDS = ("failing", "slowly failing", "flapping")


@dataclass(frozen=True)
class Habits:
    """How the fleet is.

    Attributes
    ----------
    scatter
        Of each metric from test to test, as a share.
    tails
        Degrees of freedom of Student's t of each metric's noise.
    offsets
        Spread of the nodes' own levels.
    unlike
        Spread of the logarithm of the nodes' own scatter.
    wander
        Spread of what all nodes of a day have in common.
    disturbed
        Share of tests that something disturbs, which are then up to 30 % worse in all metrics.
    faults_a_year
        Of a node in the mean; nodes differ as a Gamma distribution of shape 0.5 does.
    kinds
        Shares of failing, slowly failing and flapping nodes.
    busy, idle
        Mean hours of jobs, and between them.
    told
        Share of faults that a passive sign follows within a day.
    false_signs
        Signs a node and day without a change.
    repair
        Seconds from an alarm until the node is mended.
    """

    scatter: tuple[float, ...] = (0.003, 0.005, 0.01, 0.01, 0.02, 0.03, 0.05, 0.08)
    tails: tuple[float, ...] = (8.0, 3.0, 4.0, 2.5, 8.0, 3.0, 4.0, 3.0)
    offsets: float = 0.02
    unlike: float = 0.25
    wander: float = 0.004
    disturbed: float = 0.01
    faults_a_year: float = 0.5
    kinds: tuple[float, float, float] = (0.6, 0.25, 0.15)
    busy: float = 8.0
    idle: float = 4.0
    told: float = 0.5
    false_signs: float = 0.005
    repair: float = 3 * DAY


@dataclass
class Faults:
    """Every fault of the year; arrays over them.

    Attributes
    ----------
    ends
        When it was mended; infinite: not yet.
    depth
        Faults x metrics: how much worse, in logarithms, at worst.
    grows
        Seconds that a slow one takes to get there.
    told_at
        When the sentry told it, NaN: not.
    """

    node: Ints
    kind: Ints
    begins: Floats
    ends: Floats
    depth: Floats
    grows: Floats
    told_at: Floats
    phases: list[Floats] = field(default_factory=list, repr=False)


class Fleet:
    """So many nodes for so long, hour by hour."""

    def __init__(self, nodes: int, days: int, habits: Habits, seed: int) -> None:
        self.nodes, self.days, self.habits = nodes, days, habits
        self._random = random = np.random.default_rng(seed)
        self.metrics = len(habits.scatter)
        self._level = random.normal(0.0, habits.offsets, (nodes, self.metrics))
        self._scatter = np.exp(random.normal(0.0, habits.unlike, nodes))
        self._wander = _wandering(random, days + 1, self.metrics, habits.wander)
        self.faults = _faults(random, nodes, days * DAY, habits, self.metrics)
        self._of_node: dict[int, list[int]] = {}
        for number, node in enumerate(self.faults.node):
            self._of_node.setdefault(int(node), []).append(number)
        self.idle = random.random(nodes) < habits.idle / (habits.busy + habits.idle)
        self.began_job = np.zeros(nodes, dtype=bool)

    def hour(self) -> None:
        """One hour passes: jobs begin and end."""
        habits = self.habits
        changes = self._random.random(self.nodes) < np.where(self.idle, 1.0 / habits.idle, 1.0 / habits.busy)
        self.began_job = self.idle & changes
        self.idle = self.idle ^ changes

    def figures(self, nodes: Ints, at: float) -> Floats:
        """Logarithms of what a test of each node measures now: nodes x metrics; higher is better."""
        random, habits = self._random, self.habits
        noise = np.stack([random.standard_t(df, len(nodes)) for df in habits.tails], axis=1)
        values = self._level[nodes] + noise * np.array(habits.scatter) * self._scatter[nodes, None]
        values += self._wander[int(at // DAY)]
        disturbed = random.random(len(nodes)) < habits.disturbed
        values[disturbed] += np.log1p(-random.uniform(0.02, 0.3, int(disturbed.sum())))[:, None]
        for place, node in enumerate(nodes):
            for number in self._of_node.get(int(node), ()):
                values[place] -= self.faults.depth[number] * self.share(number, at)
        return np.asarray(values)

    def share(self, number: int, at: float) -> float:
        """How much of a fault's depth there is at a time."""
        faults = self.faults
        since = at - faults.begins[number]
        if since < 0 or at >= faults.ends[number]:
            return 0.0
        if faults.kind[number] == DRIFT:
            return float(min(1.0, since / faults.grows[number]))
        if faults.kind[number] == FLAP:
            return float(np.searchsorted(faults.phases[number], at) % 2)
        return 1.0

    def broken(self, node: int, at: float, within: float = 5 * DAY) -> list[int]:
        """The faults that a node has, or had until just before."""
        faults = self.faults
        return [one for one in self._of_node.get(node, ()) if faults.begins[one] <= at < faults.ends[one] + within]

    def told(self, number: int, at: float) -> None:
        """The sentry told a fault: it is mended some time later."""
        if np.isnan(self.faults.told_at[number]):
            self.faults.told_at[number] = at
            self.faults.ends[number] = at + self.habits.repair

    @cached_property
    def signs(self) -> list[tuple[float, int]]:
        """When passive signs come, of which node; true ones and false ones, by time."""
        random, habits = np.random.default_rng(self._random.integers(2**32)), self.habits
        true = random.random(len(self.faults.node)) < habits.told
        at = self.faults.begins + random.uniform(0, DAY, len(true))
        false = random.poisson(habits.false_signs * self.nodes * self.days)
        return sorted(
            [*((float(at[one]), int(self.faults.node[one])) for one in np.flatnonzero(true)),
             *zip(random.uniform(0, self.days * DAY, false).tolist(), random.integers(0, self.nodes, false).tolist(),
                  strict=True)]
        )  # fmt: skip


def _wandering(random: np.random.Generator, days: int, metrics: int, spread: float) -> Floats:
    """AR(1) with ρ = 0.7 from day to day."""
    found = np.zeros((days, metrics))
    for day in range(1, days):
        found[day] = 0.7 * found[day - 1] + random.normal(0.0, spread * np.sqrt(1 - 0.49), metrics)
    return found


def _faults(random: np.random.Generator, nodes: int, seconds: float, habits: Habits, metrics: int) -> Faults:
    rates = random.gamma(0.5, habits.faults_a_year / 0.5, nodes) * seconds / (365 * DAY)
    node = np.repeat(np.arange(nodes), random.poisson(rates))
    count = len(node)
    kind = random.choice(3, count, p=habits.kinds)
    worst = -np.log1p(-random.uniform(0.05, 0.4, count))
    struck = random.random((count, metrics)) < 2.0 / metrics
    struck[np.arange(count), random.integers(0, metrics, count)] = True
    begins = random.uniform(0, seconds, count)
    absent = np.full(count, np.nan)
    found = Faults(
        node,
        kind,
        begins,
        np.full(count, np.inf),
        np.where(struck, worst[:, None], 0.0),
        random.uniform(20, 90, count) * DAY,
        absent,
    )
    found.phases = [
        begin + np.concatenate(([0.0], np.cumsum(random.exponential(1.5 * DAY, 500)))) if own == FLAP else np.empty(0)
        for begin, own in zip(begins, kind, strict=True)
    ]
    return found
