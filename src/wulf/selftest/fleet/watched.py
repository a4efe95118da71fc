"""The sentry over a simulated fleet: its own detectors, beliefs, choice and incidents, hour by hour.

Only time, nodes and figures are simulated. What `judging` does with a state on disk is done here with arrays that stay;
a unit test holds both against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from wulf.core.durations import DAY, HOUR
from wulf.core.findings import Severity
from wulf.selftest.fleet.nodes import Fleet, Ints
from wulf.sentry.belief import LEAST, Beliefs, weighed
from wulf.sentry.choosing import Candidates, allowance, ranked
from wulf.sentry.incident import Incident, Kind, Observation, What, closed, seen
from wulf.sentry.judging import RECENT, suspicious
from wulf.sentry.plan import SentryPlan
from wulf.stats.samples import Floats
from wulf.stats.series.detector import Limits, Pool, Seen, Tracks, common_shift, observe, ratio_since, shift, unshift

SIGN_ODDS = 20.0
"""What the sentry takes a sign for; the fleet's true odds are other ones."""


@dataclass
class Year:
    """What came of it.

    Attributes
    ----------
    tests
        How many there were.
    false_at
        When there were alarms of nodes that were well, or of metrics that nothing was the matter with.
    events
        What people were told, by what.
    delayed
        Seconds by which jobs were held up, together.
    """

    fleet: Fleet
    tests: int = 0
    false_at: list[float] = field(default_factory=list)
    events: dict[What, int] = field(default_factory=dict)
    delayed: float = 0.0


@dataclass
class Watch:
    """A sentry, and how it chooses.

    Parameters
    ----------
    choose
        Given this watch and the hour, the nodes to test: `by_likelihood`, `daily`, `before_jobs`.
    observe
        What is made of their figures: the sentry's detector, or another one to compare with.
    """

    fleet: Fleet
    plan: SentryPlan
    limits: Limits
    choose: Callable[[Watch, float], Ints]
    observe: Callable[..., Seen] = observe
    year: Year = field(init=False)

    def __post_init__(self) -> None:
        nodes, metrics = self.fleet.nodes, self.fleet.metrics
        self.tracks = [Tracks.fresh(nodes) for _ in range(metrics)]
        self.pools = [Pool() for _ in range(metrics)]
        self.beliefs = Beliefs(np.full(nodes, LEAST), np.zeros(nodes), np.zeros(nodes), np.zeros(nodes))
        self.last = np.full(nodes, -np.inf)
        self.odds = np.ones(nodes)
        self.spent = np.zeros(24 * self.fleet.days)
        self.incidents: dict[tuple[int, int], Incident] = {}
        self._gathered: dict[tuple[int, int], list[tuple[float, float]]] = {}
        self.year = Year(self.fleet)
        self._signs = iter(self.fleet.signs)
        self._sign = next(self._signs, None)

    def run(self) -> Year:
        """The whole time."""
        for hour in range(24 * self.fleet.days):
            self.fleet.hour()
            now = hour * HOUR
            self._take_signs(now)
            nodes = self.choose(self, now)
            if len(nodes):
                self._test(nodes, now)
                self.spent[hour] = len(nodes) * self.plan.measure[0].seconds
        return self.year

    def _take_signs(self, now: float) -> None:
        while self._sign is not None and self._sign[0] <= now:
            self.odds[self._sign[1]] *= SIGN_ODDS
            self._sign = next(self._signs, None)

    def _test(self, nodes: Ints, now: float) -> None:
        figures = self.fleet.figures(nodes, now)
        evidence, worse = np.zeros((self.fleet.metrics, len(nodes))), np.zeros(len(nodes), dtype=bool)
        for metric, (tracks, pool) in enumerate(zip(self.tracks, self.pools, strict=True)):
            common = self._common(tracks, nodes)
            own = tracks.pick(nodes)
            seen_now = self.observe(own, pool, figures[:, metric], now, common=common, limits=self.limits)
            self._remember(metric, nodes, own, figures[:, metric], now)
            for place in np.flatnonzero(seen_now.alarm):
                key = int(nodes[place]), metric
                worse[place] |= self._alarm(own, pool, key, int(place), common=float(common[place]), now=now)
            for place in np.flatnonzero(seen_now.mended):
                unshift(own, int(place))
                self._close((int(nodes[place]), metric), now)
            tracks.put(nodes, own)
            evidence[metric] = seen_now.evidence
        self.beliefs.chance = weighed(self.beliefs.chance, self.odds)
        self.odds[:] = 1.0
        self.beliefs.test(nodes, evidence.mean(axis=0), worse, now)
        self.last[nodes] = now
        self.year.tests += len(nodes)

    def _common(self, tracks: Tracks, nodes: Ints) -> Floats:
        """What the others did of late, for each node: without its own."""
        known = np.flatnonzero(np.isfinite(tracks.residual) & np.isnan(tracks.shifted))
        if not len(known):
            return np.zeros(len(nodes))
        newest = known[np.argsort(-tracks.seen_at[known], kind="stable")[: RECENT + 1]]
        usual = common_shift(tracks.residual[newest[:RECENT]])
        return np.array(
            [common_shift(tracks.residual[newest[newest != node][:RECENT]]) if node in newest else usual
             for node in nodes]
        )  # fmt: skip

    def _remember(self, metric: int, nodes: Ints, own: Tracks, figures: Floats, now: float) -> None:
        """Figures since evidence began to gather: how great a change is."""
        gathers = (own.up > 0) | (own.down > 0)
        for place in np.flatnonzero(gathers):
            self._gathered.setdefault((int(nodes[place]), metric), []).append((now, float(figures[place])))
        for place in np.flatnonzero(~gathers):
            self._gathered.pop((int(nodes[place]), metric), None)

    def _alarm(self, own: Tracks, pool: Pool, key: tuple[int, int], place: int, *, common: float, now: float) -> bool:
        """Tell a change; whether it is one for the worse."""
        rises = bool(own.up[place] >= own.down[place])
        since = float((own.up_since if rises else own.down_since)[place])
        level = float(own.levels()[0][place])
        residuals = [one - level - common for at, one in self._gathered[key] if at > since]
        middle, _, _ = ratio_since(residuals, pool, int(own.counts[place]))
        shift(own, place, middle)
        node, metric = key
        severity = Severity.INFO if rises else Severity.BAD
        what = Observation(Kind.CHANGED, f"n{node}", str(metric), severity, since, now, "")
        self.incidents[key], told = seen(self.incidents.get(key), what, now)
        self._count(told)
        if rises:
            return False
        causes = [one for one in self.fleet.broken(node, now) if self.fleet.faults.depth[one, metric] > 0]
        for one in causes:
            self.fleet.told(one, now)
        if not causes:
            self.year.false_at.append(now)
        return True

    def _close(self, key: tuple[int, int], now: float) -> None:
        if key in self.incidents:
            self.incidents[key] = closed(self.incidents[key], now)
            self._count(What.CLOSED)

    def _count(self, what: What | None) -> None:
        if what is not None:
            self.year.events[what] = self.year.events.get(what, 0) + 1

    @property
    def suspects(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Nodes whose figures stand out in some metric."""
        found = np.zeros(self.fleet.nodes, dtype=bool)
        for one in self.tracks:
            found |= np.isnan(one.shifted) & (np.maximum(one.up, one.down) >= suspicious(self.limits))
        return found


def by_likelihood(watch: Watch, now: float) -> Ints:
    """As the sentry chooses, within the plan's budget."""
    hour, measure, plan = int(now // HOUR), watch.plan.measure[0], watch.plan
    left = allowance(plan, watch.spent[max(0, hour - 24) : hour].sum(), watch.spent[max(0, hour - 1) : hour].sum())
    chance = weighed(watch.beliefs.at(now), watch.odds)
    of = Candidates(chance, now - watch.last, watch.fleet.idle, watch.suspects)
    order = [places for _, places in ranked(of, measure.every, plan.alarm.confirm, plan.budget.rest)]
    return np.concatenate(order)[: int(left // measure.seconds)]


def daily(watch: Watch, now: float) -> Ints:
    """Every node each day, as soon as it is idle."""
    return np.flatnonzero(watch.fleet.idle & (now - watch.last >= DAY))


def before_jobs(watch: Watch, _now: float) -> Ints:
    """Every node before each of its jobs, which waits for it."""
    found = np.flatnonzero(watch.fleet.began_job)
    watch.year.delayed += len(found) * watch.plan.measure[0].seconds
    return found
