"""Bisection bandwidth: all nodes in disjoint pairs that stream at the same time; at random, and the worst found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.findings.net.standing_out import estimate_of
from wulf.findings.standing_words import PairMetric, node_finding
from wulf.measure.engine.plan import Cell, Pair
from wulf.measure.engine.probes import Probe
from wulf.stats.cluster.blame import blame
from wulf.stats.cluster.outliers import LEAST_RATIO
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import few_mean_interval
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.net.pairs import STREAM, needs, start_finding
from wulf.workflow.net.waves import CLUSTER, Scribe, by_wave, pooled, ratio, rule_of, shares

HALVINGS, STEPS = 4, 8
"""Random halvings, and steps of the search for a worse one, unless others are asked for."""

ALONE = 8
"""Pairs that are also measured alone, as the measure of what a link can do."""

FULL = 0.95
"""A share of the lone pair's rate from which on it counts as full bisection bandwidth."""

THROUGHPUT = PairMetric("TCP throughput", "throughput", lower=False)

TRIES = 32
"""Swaps drawn until one gives a halving that was not measured yet."""


@dataclass(frozen=True)
class Halving:
    """Disjoint pairs, sender first, that stream at the same time.

    Attributes
    ----------
    kind
        'random'; 'search' where partners were swapped to make it worse; 'confirmed' where the worst was measured anew.
    """

    wave: int
    pairs: tuple[Pair, ...]
    kind: str = "random"

    @property
    def unordered(self) -> frozenset[frozenset[str]]:
        """Who is with whom."""
        return frozenset(map(frozenset, self.pairs))


def random_halving(nodes: Sequence[str], random: np.random.Generator) -> tuple[Pair, ...]:
    """Half of the nodes send to the other half, each node in one pair; of an odd number one sits out."""
    order = random.permutation(len(nodes)).tolist()
    half = len(order) // 2
    return tuple((nodes[a], nodes[b]) for a, b in zip(order[:half], order[half : 2 * half], strict=True))


def swapped(
    pairs: Sequence[Pair], rates: Mapping[Pair, float], random: np.random.Generator, share: float
) -> tuple[Pair, ...]:
    """The pairs with partners changed among the fastest: those that do not yet share what is scarce.

    Parameters
    ----------
    share
        Of the pairs, that change partners: at least two, and an even number.
    """
    fastest = sorted(pairs, key=lambda pair: -rates.get(pair, 0.0))
    pool = fastest[: max(2, round(len(pairs) * min(1.0, 2 * share)))]
    count = min(len(pool), max(2, 2 * round(len(pairs) * share / 2)))
    chosen = [pool[i] for i in random.permutation(len(pool))[: count - count % 2]]
    kept = [pair for pair in pairs if pair not in chosen]
    for (a, b), (c, d) in zip(chosen[::2], chosen[1::2], strict=True):
        kept += [(a, d), (c, b)] if random.random() < 0.5 else [(a, c), (b, d)]
    return tuple(kept)


class Search:
    """Halvings under way: random ones first, then ever worse ones, then the worst once more.

    Parameters
    ----------
    steps
        Of the search.
    both
        Each pair streams both ways at the same time.
    """

    def __init__(self, probe: Probe, effort: Effort, seed: int, *, halvings: int, steps: int, both: bool) -> None:
        self._params = probe.check("stream", "tcp", STREAM)
        self._metrics = probe.pattern("stream").metrics
        self._rule = rule_of(effort)
        self._random = np.random.default_rng(seed)
        self._wanted, self._steps, self._both = halvings, steps, both
        self.halvings: list[Halving] = []
        self.alone: list[int] = []

    def cells(self, nodes: Sequence[str]) -> tuple[Cell, ...]:
        """The random halvings, and some pairs of the first alone."""
        drawn = [random_halving(nodes, self._random) for _ in range(self._wanted)]
        distinct = list({frozenset(map(frozenset, pairs)): pairs for pairs in drawn}.values())
        self.halvings = [Halving(number, pairs) for number, pairs in enumerate(distinct)]
        self.alone = [len(distinct) + i for i in range(min(ALONE, len(distinct[0])))]
        cells = [cell for halving in self.halvings for cell in self._cells(halving)]
        cells += [self._cell(pair, wave, "alone") for wave, pair in zip(self.alone, distinct[0], strict=False)]
        return tuple(_numbered(cells, 0))

    def _cell(self, pair: Pair, wave: int, phase: str) -> Cell:
        return Cell(0, *pair, "tcp", "stream", self._params, self._metrics, phase, wave=wave)

    def _cells(self, halving: Halving) -> Iterator[Cell]:
        for a, b in halving.pairs:
            yield self._cell((a, b), halving.wave, "bisection")
            if self._both:
                yield self._cell((b, a), halving.wave, "bisection")

    def sums(self, records: Sequence[Record]) -> dict[int, list[float]]:
        """Wave → all pairs' throughput together, of each replicate; only halvings of which every cell has values."""
        waves = by_wave(records)
        sides = 2 if self._both else 1
        found = {h.wave: waves.get(h.wave, []) for h in self.halvings}
        return {
            h.wave: shares(found[h.wave]).sum(axis=1).tolist()
            for h in self.halvings
            if len(found[h.wave]) == sides * len(h.pairs)
        }

    def worst(self, records: Sequence[Record]) -> Halving | None:
        """The halving with the least median sum so far; one measured anew stands for itself alone."""
        medians = {wave: float(np.median(sums)) for wave, sums in self.sums(records).items() if sums}
        tried = [h for h in self.halvings if h.wave in medians and h.kind != "confirmed"]
        return min(tried, key=lambda h: medians[h.wave], default=None)

    def extend(self, records: Sequence[Record], first: int) -> tuple[Cell, ...]:
        """Swap partners in the worst halving so far; when all steps are spent, measure the worst once more."""
        worst = self.worst(records)
        if worst is None or self.halvings[-1].kind == "confirmed":
            return ()
        wave = len(self.halvings) + len(self.alone)
        taken = sum(h.kind == "search" for h in self.halvings)
        pairs = self._new_swap(worst, records) if taken < self._steps else None
        more = Halving(wave, pairs, "search") if pairs else Halving(wave, worst.pairs, "confirmed")
        self.halvings.append(more)
        return tuple(_numbered(list(self._cells(more)), first))

    def _new_swap(self, worst: Halving, records: Sequence[Record]) -> tuple[Pair, ...] | None:
        """A halving near the worst that was not measured yet; None where none is found."""
        rates: dict[Pair, float] = {}
        for record in by_wave(records).get(worst.wave, []):
            pair = (record.nodes[0], record.nodes[1])
            known = pair if pair in worst.pairs else pair[::-1]
            rates[known] = rates.get(known, 0.0) + (record.value or 0.0)
        tried = {h.unordered for h in self.halvings}
        for attempt in range(TRIES):  # a quarter of the pairs at first, more if all those were tried
            pairs = swapped(worst.pairs, rates, self._random, 0.25 + 0.75 * attempt / TRIES)
            if frozenset(map(frozenset, pairs)) not in tried:
                return pairs
        return None

    # What it comes to.

    def records(self, records: Sequence[Record], scribe: Scribe) -> list[Record]:
        """Every halving; the mean of the random ones; the worst; each pair's share, against a pair alone."""
        sums = self.sums(records)
        worst = self.worst(records)
        if worst is None:
            return []
        ways = "both" if self._both else "one"
        made = [
            scribe.record(
                CLUSTER, "bisection", "B/s", self._rule.estimate(sums[h.wave]), samples=sums[h.wave],
                requested=True, phase="halving", halving=h.wave, kind=h.kind, ways=ways,
            )
            for h in self.halvings if h.wave in sums
        ]  # fmt: skip
        medians = [float(np.median(sums[h.wave])) for h in self.halvings if h.kind == "random" and sums.get(h.wave)]
        last = self.halvings[-1]
        confirmed = last.kind == "confirmed" and bool(sums.get(last.wave))
        least = self._rule.estimate(sums[last.wave if confirmed else worst.wave])
        alone = pooled([r for wave in self.alone for r in by_wave(records).get(wave, [])])
        streams = len(worst.pairs) * (2 if self._both else 1)
        share = _by(least, streams)
        mean = few_mean_interval(medians)
        random_share = ratio(_by(mean, streams), alone)
        totals = [
            ("bisection_random", "B/s", mean, "mean"), ("bisection_worst", "B/s", least, "median"),
            ("share_worst", "B/s", share, "median"), ("stream_alone", "B/s", alone, "median"),
            ("full_share_random", "1", random_share, "ratio"), ("full_share_worst", "1", ratio(share, alone), "ratio"),
        ]  # fmt: skip
        kind = "confirmed" if confirmed else "found"
        return made + [
            scribe.record(CLUSTER, metric, unit, estimate, statistic=statistic, ways=ways, kind=kind)
            for metric, unit, estimate, statistic in totals
        ]

    def findings(self, records: Sequence[Record], made: Sequence[Record]) -> list[Finding]:
        """Nodes that hold their pairs back, then what all comes to."""
        waves = by_wave(records)
        streams = [record for h in self.halvings for record in waves.get(h.wave, [])]
        best = sorted(streams, key=lambda record: record.value or 0.0)  # of a pair measured twice, what it can reach
        links = {(record.nodes[0], record.nodes[1]): estimate_of(record) for record in best}
        slow = [
            node_finding(str(outlier.subject), outlier.way, [(THROUGHPUT, outlier)])
            for outlier in blame(links, lower_is_better=False, directed=False).nodes
        ]
        totals = {record.metric: record for record in made if record.metric != "bisection"}
        return slow + ([self._finding(totals)] if totals else [])

    def _finding(self, totals: Mapping[str, Record]) -> Finding:
        worst, mean, alone = (totals[m] for m in ("bisection_worst", "bisection_random", "stream_alone"))
        share, full = totals["share_worst"], totals["full_share_worst"]
        kinds = [h.kind for h in self.halvings]
        found = f"the worst of {len([k for k in kinds if k != 'confirmed'])} that were found"
        found += (
            ", measured anew," if worst.params["kind"] == "confirmed" else " (not measured anew: low by chance, too)"
        )
        text = (
            f"Bisection over {len(self.halvings[0].pairs):,} pairs, {totals['share_worst'].params['ways']} way"
            f"{'s' if self._both else ''}: {kinds.count('random')} random halvings carry {_told(mean)} on average, "
            f"{found} {_told(worst)}. That is {show(share.value, 'B/s')} a stream, where one alone reaches "
            f"{show(alone.value, 'B/s')}: {_fullness(full)}."
        )
        low = full.high is not None and full.high < 1 / LEAST_RATIO
        return Finding(
            kind="bisection",
            severity=Severity.WARN if low else Severity.INFO,
            subject="",
            text=text,
            next_step="look at the switches' uplinks: which pairs of the worst halving share one" if low else "",
            evidence=[
                Evidence(
                    subject="worst halving, a stream", metric="throughput", unit="B/s", value=share.value,
                    low=share.low, high=share.high, expected=alone.value,
                )
            ],
        )  # fmt: skip


def _numbered(cells: Sequence[Cell], first: int) -> Iterator[Cell]:
    return (replace(cell, id=first + number) for number, cell in enumerate(cells))


def _by(estimate: Estimate, streams: int) -> Estimate:
    """A sum's estimate as each stream's share of it."""
    value, low, high = (None if x is None else x / streams for x in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.confidence, estimate.n, estimate.reason)


def _told(record: Record) -> str:
    interval = f" ({show_interval(record.low, record.high, 'B/s')})" if record.low is not None else ""
    return f"{show(record.value, 'B/s')}{interval}"


def _fullness(full: Record) -> str:
    """`full bisection bandwidth`, or which part of it."""
    if full.value is None or full.low is None or full.high is None:
        return f"no fraction can be given: {full.reason}"
    interval = f"{full.value:.0%} ({full.low:.0%}–{full.high:.0%})"
    return f"full bisection bandwidth, {interval}" if full.high >= FULL else f"{interval} of full bisection bandwidth"


class Bisection(Study):
    """Random halvings, a worse one searched by swapping partners, and the worst measured once more.

    The worst of many noisy figures is low by chance, too (regression to the mean): so what is reported of it is what
    it gives when it is measured anew.

    Parameters
    ----------
    halvings, steps
        Random ones, and steps of the search for a worse one.
    both
        Each pair streams both ways at the same time.
    """

    side_by_side = True
    synchronised = True

    def __init__(self, given: Conditions, *, halvings: int = HALVINGS, steps: int = STEPS, both: bool = True) -> None:
        super().__init__(given)
        needs(given.inventory, 4, "bisection")
        self._halvings, self._steps, self._both = halvings, steps, both
        self._search: Search | None = None

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The random halvings."""
        if len(connected.sessions) < 2:
            return ()
        self._search = Search(
            probe, self.effort, self.given.seed, halvings=self._halvings, steps=self._steps, both=self._both
        )
        return self._search.cells(list(connected.sessions))

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """A step of the search."""
        return self._search.extend(records, first) if self._search else ()

    def judge(self, records: Sequence[Record]) -> Judgement:
        """The halvings as records, and what holds them back."""
        if self._search is None:
            return [], []
        scribe = Scribe(self.given.writer.id, {"transport": "tcp", "pattern": "bisection"}, self.effort.width)
        made = self._search.records(records, scribe)
        return made, [*self._search.findings(records, made), *start_finding(records)]
