"""The survey: facts, all pairs, one size sweep, findings, report: the main job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from wulf.cluster.inventory import Inventory
from wulf.core.findings import Finding
from wulf.core.records import Param, Record
from wulf.findings.foreseen import foreseen
from wulf.findings.net.coverage import coverage_finding, coverage_words
from wulf.findings.net.link_deviations import hardware_classes
from wulf.measure.engine.plan import Cell, Pair
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.net.pairing import ALL_NODES, SAMPLED_ROUNDS, Coverage, coverage, matchings
from wulf.stats.comparison import PairedRule
from wulf.store.run import RunWriter
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.measuring import Effort, Outcome, measure, write_html

SWEEP_SIZES = tuple(2**exponent for exponent in range(23))
"""1 B to 4 MiB."""

METRICS = 3
"""Of each node over its links: round trips over TCP and UDP, and TCP's throughput."""

PINGPONG_SECONDS, STREAM_SECONDS, SWEEP_SECONDS = 0.06, 0.2, 0.05
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


def survey(
    inventory: Inventory,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    sweep_pair: tuple[str, str] | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Survey the nodes of an inventory (see the module's first line), report included.

    Of more nodes than `ALL_NODES`, a sample of the pairs; a finding says what it may miss.
    """
    sampled: list[Coverage] = []

    def cells(connected: Connected, probe: Probe) -> tuple[Cell, ...]:
        nodes = list(connected.sessions)
        if len(nodes) > 1:
            kinds = hardware_classes(nodes, connected.fingerprint)
            watch.say(foreseen(kinds, effort.looks[0], METRICS, effort.margin))
        if len(nodes) <= ALL_NODES:
            return survey_cells(connected, probe, sweep_pair)
        rounds = matchings(nodes, SAMPLED_ROUNDS, np.random.default_rng(seed))
        sampled.append(coverage(nodes, rounds))
        watch.say(coverage_words(sampled[-1]))
        return survey_cells(connected, probe, sweep_pair, rounds)

    def judge(_: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        return [], [coverage_finding(found) for found in sampled]

    outcome = measure(inventory, cells, effort, writer, seed, judge=judge, watch=watch)
    write_html(outcome.run)
    return outcome


def single(
    inventory: Inventory,
    cell: Cell,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure one cell, whose parameters were checked against the probe's description."""

    def cells(connected: Connected, _: Probe) -> tuple[Cell, ...]:
        placed = replace(cell, params=connected.placed(cell.client, cell.server, cell.params))
        return (placed,) if {cell.client, cell.server} <= set(connected.sessions) else ()

    return measure(inventory, cells, effort, writer, seed, watch=watch)


def versus(
    inventory: Inventory,
    arms: tuple[Cell, Cell],
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    rule: PairedRule,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure two configurations of one pair against each other, in blocks of AB or BA as a coin falls."""

    def cells(connected: Connected, _: Probe) -> tuple[Cell, ...]:
        if not {arms[0].client, arms[0].server} <= set(connected.sessions):
            return ()
        return tuple(replace(arm, params=connected.placed(arm.client, arm.server, arm.params)) for arm in arms)

    return measure(inventory, cells, effort, writer, seed, versus=rule, watch=watch)
