"""The survey: facts, all pairs, one size sweep, findings, report: the main job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wulf.core.records import Param, Record
from wulf.findings.foreseen import foreseen
from wulf.findings.net.coverage import coverage_finding, coverage_words
from wulf.findings.net.link_deviations import hardware_classes
from wulf.measure.engine.plan import Cell, Pair
from wulf.measure.engine.probes import Probe
from wulf.measure.net.pairing import ALL_NODES, SAMPLED_ROUNDS, Coverage, coverage, matchings
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study

SWEEP_SIZES = tuple(2**exponent for exponent in range(23))
"""1 B to 4 MiB."""

METRICS = 3
"""Of each node over its links: round trips over TCP and UDP, and TCP's throughput."""

PINGPONG_SECONDS, STREAM_SECONDS, SWEEP_SECONDS = 0.06, 0.25, 0.05
"""Of one replicate. Long enough for hundreds of round trips, and for making ready to be less than a third of the time;
short, because drift is caught between replicates."""

PINGPONG_WARMUP, STREAM_WARMUP = 0.005, 0.05
"""Before it. 50 ms are 50 round trips of 1 ms, in which no congestion control of Linux is still starting."""


def ordered_pairs(nodes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every unordered pair once, in the order of the inventory; one node alone is paired with itself (loopback)."""
    if len(nodes) == 1:
        yield nodes[0], nodes[0]
    for i, first in enumerate(nodes):
        for second in nodes[i + 1 :]:
            yield first, second


def survey_cells(
    connected: Connected,
    probe: Probe,
    sweep_pair: tuple[str, str] | None = None,
    rounds: Sequence[Sequence[Pair]] | None = None,
) -> tuple[Cell, ...]:
    """All pairs' TCP and UDP round trip and both directions' TCP stream, and the size sweep on one pair.

    A round trip is the same from either end; a stream is not. Only nodes that have a session take part.

    Parameters
    ----------
    rounds
        Rounds of disjoint pairs, a sample of all pairs; None: all.
    """
    cells: list[Cell] = []
    place = {pair: number for number, pairs in enumerate(rounds or ()) for pair in pairs}

    def add(pair: tuple[str, str], transport: str, pattern: str, phase: str, **params: Param) -> None:
        checked = probe.check(pattern, transport, connected.placed(*pair, params))
        metrics, number = probe.pattern(pattern).metrics, place.get(pair, place.get(pair[::-1]))
        cells.append(Cell(len(cells), *pair, transport, pattern, checked, metrics, phase, round=number))

    pairs = list(place) if rounds else list(ordered_pairs(list(connected.sessions)))
    for a, b in pairs:
        for transport in ("tcp", "udp"):
            add(
                (a, b),
                transport,
                "pingpong",
                "pairs",
                bytes=1,
                seconds=PINGPONG_SECONDS,
                warmup_seconds=PINGPONG_WARMUP,
            )
        for direction in dict.fromkeys([(a, b), (b, a)]):
            add(direction, "tcp", "stream", "pairs", seconds=STREAM_SECONDS, warmup_seconds=STREAM_WARMUP)
    swept = sweep_pair if sweep_pair and set(sweep_pair) <= set(connected.sessions) else pairs[0]
    for size in SWEEP_SIZES:
        add(swept, "tcp", "pingpong", "sweep", bytes=size, seconds=SWEEP_SECONDS, warmup_seconds=PINGPONG_WARMUP)
    return tuple(cells)


class Survey(Study):
    """A survey of the nodes (see the module's first line).

    Of more nodes than `ALL_NODES`, a sample of the pairs; a finding says what it may miss.

    Parameters
    ----------
    sweep_pair
        The pair of the size sweep; None: the first.
    """

    def __init__(self, given: Conditions, sweep_pair: tuple[str, str] | None = None) -> None:
        super().__init__(given)
        self._sweep_pair = sweep_pair
        self._coverage: list[Coverage] = []

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """All pairs, or a sample of them, and the sweep."""
        nodes, say = list(connected.sessions), self.given.watch.say
        if len(nodes) > 1:
            kinds = hardware_classes(nodes, connected.fingerprint)
            say(foreseen(kinds, self.effort.looks[0], METRICS, self.effort.margin))
        if len(nodes) <= ALL_NODES:
            return survey_cells(connected, probe, self._sweep_pair)
        rounds = matchings(nodes, SAMPLED_ROUNDS, np.random.default_rng(self.given.seed))
        self._coverage = [coverage(nodes, rounds)]
        say(coverage_words(self._coverage[0]))
        return survey_cells(connected, probe, self._sweep_pair, rounds)

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What a sample may miss."""
        return [], [*map(coverage_finding, self._coverage)]
