"""Plans: which cells to measure, and in which order so that pairs that run together do not disturb each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from wulf.core.errors import UsageError
from wulf.core.given import first_fault
from wulf.core.records import Param
from wulf.measure.engine.probes import NET, Metric
from wulf.stats.comparison import PairedRule
from wulf.stats.intervals import least_samples
from wulf.stats.stopping import LOOKS, FixedRule, StoppingRule, WatchRule, WidthRule, further_looks

Pair = tuple[str, str]


@dataclass(frozen=True)
class SharedSet:
    """A working set that cells measured one after another share, each once a pass: fresh in every pass.

    Attributes
    ----------
    name
        One a program and node.
    bytes
        As many as the largest of them needs.
    spoils
        Whether this cell leaves there what others have no use for: they are measured before it.
    """

    name: str
    bytes: int
    spoils: bool = False


@dataclass(frozen=True)
class Cell:
    """One point of a plan: a probe's pattern with its parameters on a pair of nodes, or on one node.

    Attributes
    ----------
    id
        Unique within the plan.
    client, server
        Node names. For a stream the client is the sender. Of a node's own probes both are the node.
    pattern
        What is done: a pattern of wulf-net over `transport`, or a probe of `program`, which has no transport.
    params
        What the probe is asked, in SI base units.
    metrics
        What it measures; the first decides when the cell has been measured long enough.
    phase
        The part of the command that wanted it: 'pairs', 'sweep', 'single'.
    every
        Measured in every n-th pass only.
    wave
        Cells with one number are measured at the same time, whatever they share, and end together; None: a cell of
        its own.
    round
        Pairs of one number have no node in common, and are measured side by side. None: every pass lays its pairs
        out anew; the few pairs of a sample would then be strewn over thousands of rounds.
    program
        Which program measures: "net" for wulf-net between two sessions, "node" and "agent" for wulf-node and the agent
        in one, "mpi" for wulf-mpi, whose ranks have one session: client and server are then both the name of the
        record's subject. "app" is an application of the user's, which says itself what it measured.
    name
        What it is called on every node that is measured in it, "curve#3" for a curve's fourth point: nodes that are
        measured alone, side by side, measure cells of one name at the same time.
    rows
        Metric → the row of the node survey's table that it fills.
    about
        What a record says beside the parameters, though no probe is asked it: which MPI, how many ranks.
    patience
        Seconds that an answer may take beyond the measuring and what is usual: many ranks have to meet first.
    attempts
        Failed replicates after which it is given up: once may be chance, three times is a fact.
    shares
        The working set that it shares with others, and is measured beside them for; None: it has its own.
    address
        Where the client reaches the server; None: as everything of this run.
    """

    id: int
    client: str
    server: str
    transport: str
    pattern: str
    params: Mapping[str, Param]
    metrics: tuple[Metric, ...]
    phase: str = "single"
    every: int = 1
    wave: int | None = None
    round: int | None = None
    program: str = NET
    name: str = ""
    rows: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Param] = field(default_factory=dict)
    patience: float = 0.0
    attempts: int = 3
    shares: SharedSet | None = None
    address: str | None = None

    @property
    def subject(self) -> str:
        """The pair or the node, as records name it."""
        return f"{self.client}>{self.server}" if self.program == NET else self.client

    @property
    def what(self) -> str:
        """In a few words, for people."""
        return " ".join(filter(None, (self.transport, self.pattern)))

    @property
    def pair(self) -> Pair:
        """The two nodes without direction."""
        return (self.client, self.server) if self.client <= self.server else (self.server, self.client)

    @property
    def seconds(self) -> float:
        """How long one replicate measures, warm-up included, where the parameters say so."""
        return sum(float(self.params.get(name) or 0.0) for name in ("seconds", "warmup_seconds"))


@dataclass(frozen=True)
class Plan:
    """All cells of a run with what the order and the stopping need.

    Attributes
    ----------
    width
        Full width of each interval relative to its value.
    budget
        Seconds of measuring; None = until all intervals are narrow enough, or the last look. With one, a cell whose
        interval is not at the last of several looks goes on, and is looked at ever more rarely (`further_looks`).
    looks
        Numbers of replicates at which to look whether the interval is narrow enough.
    hosts
        Node → machine it lives on: nodes that share one are never measured at the same time.
    watch
        Look after every replicate instead, for as long as it takes.
    versus
        How the two cells, A and B, are compared; None where nothing is. Every pass is then a block, AB or BA.
    together
        No cell ends before all can, so that each block holds all of them: what is subtracted was measured together.
    endless
        No cell ends by itself, nor because replicates fail: the budget or Ctrl-C ends it, or the death of a node.
    synchronised
        What is measured at the same time is of one kind, and begins at an agreed moment.
    steps
        Node → the step of its clock [s], where it is known.
    """

    cells: tuple[Cell, ...]
    seed: int
    width: float = 0.05
    confidence: float = 0.95
    budget: float | None = None
    looks: tuple[int, ...] = LOOKS
    hosts: Mapping[str, str] = field(default_factory=dict)
    watch: bool = False
    versus: PairedRule | None = None
    together: bool = False
    endless: bool = False
    synchronised: bool = False
    steps: Mapping[str, float] = field(default_factory=dict)

    def rule_of(self, cell: Cell, metric: Metric) -> StoppingRule:
        """The rule, told the step of the clock by which the cell's single round trips are timed."""
        step = self.steps.get(cell.client, 0.0) if cell.program == NET and metric.unit == "s" else 0.0
        return replace(self.rule, step=step) if step and isinstance(self.rule, WidthRule | WatchRule) else self.rule

    @cached_property
    def rule(self) -> StoppingRule:
        """When a cell has been measured long enough, and the interval it then has."""
        if self.watch or self.endless:
            return WatchRule(self.width, self.confidence)
        if self.looks[-1] < least_samples(self.confidence):
            return FixedRule(self.looks[-1], self.confidence)
        return WidthRule(self.width, self.confidence, self.looks, self._beyond)

    @property
    def _beyond(self) -> tuple[int, ...]:
        """Looks for as long as there is time."""
        return further_looks(self.looks[-1]) if self.budget is not None and len(self.looks) > 1 else ()

    @property
    def all_looks(self) -> tuple[int, ...]:
        """Those planned, and those for as long as there is time."""
        return self.looks + self._beyond

    @property
    def _order(self) -> str:
        """In which order it is measured, in words."""
        text = "every pass measures each open cell once; a pass is rounds of disjoint pairs, "
        if any(cell.wave is not None for cell in self.cells):
            return (
                "every pass measures each open wave once, all its cells at the same time, in random order from the seed"
            )
        if any(cell.round is not None for cell in self.cells):
            return text + "those of the sample; rounds and cells in random order from the seed"
        text += "nodes, rounds and cells in random order from the seed"
        if any(cell.shares for cell in self.cells):
            text += "; those that share a working set one after another"
        return text

    def to_json(self) -> dict[str, Any]:
        """What plan.json holds."""
        return {
            "seed": self.seed,
            "width": self.width,
            "confidence": self.confidence,
            "budget": self.budget,
            "looks": list(self.looks),
            "watch": self.watch,
            "versus": asdict(self.versus) if self.versus else None,
            "together": self.together,
            "endless": self.endless,
            "hosts": dict(self.hosts),
            "synchronised": self.synchronised,
            "steps": dict(self.steps),
            "phases": sorted({cell.phase for cell in self.cells}),
            "order": self._order,
            "cells": [_cell_json(cell) for cell in self.cells],
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Plan:
        """The inverse of `to_json`.

        Raises
        ------
        UsageError
            It is no plan of wulf's: names the field.
        """
        try:
            return TypeAdapter(Plan).validate_python(dict(content))
        except ValidationError as error:
            raise UsageError(f"the run's plan.json is none of wulf's: {first_fault(error)}") from error


def _cell_json(cell: Cell) -> dict[str, Any]:
    """As `dataclasses.asdict`, which takes ten times as long: a large plan has 100,000 cells."""
    return {
        **vars(cell),
        "params": dict(cell.params),
        "metrics": [vars(metric) for metric in cell.metrics],
        "rows": dict(cell.rows),
        "about": dict(cell.about),
        "shares": vars(cell.shares) if cell.shares else None,
    }


def round_of(i: int, j: int, n: int) -> int:
    """The round in which nodes i and j of n meet, if all pairs meet in the fewest rounds, each node once a round.

    The circle method for round-robin tournaments (Kirkman 1847): n-1 rounds, n if n is odd. Closed form, so that a
    sparse plan over 10,000 nodes costs no more than its cells.
    """
    rounds = n - 1 if n % 2 == 0 else n
    last = max(i, j)
    if n % 2 == 0 and last == n - 1:
        return 2 * min(i, j) % rounds
    return (i + j) % rounds


def _split_by_host(cells: Iterable[Cell], hosts: Mapping[str, str]) -> list[list[Cell]]:
    """Cells into the fewest groups, first fit, in which no machine serves two cells."""
    groups: list[tuple[set[str], list[Cell]]] = []
    for cell in cells:
        needs = {hosts.get(cell.client, cell.client), hosts.get(cell.server, cell.server)}
        for busy, members in groups:
            if not busy & needs:
                busy.update(needs)
                members.append(cell)
                break
        else:
            groups.append((needs, [cell]))
    return [members for _, members in groups]


def order_pass(
    cells: Sequence[Cell], hosts: Mapping[str, str], random: np.random.Generator, *, alike: bool = False
) -> list[list[Cell]]:
    """One pass over the cells: waves that may run at the same time, in random order.

    Each wave is drawn from one round of disjoint pairs over randomly numbered nodes, and split where nodes share a
    machine. Cells that belong to a wave of their own stay together, and apart from all others. Cells that share a
    working set come one after another. Every cell appears once.

    Parameters
    ----------
    alike
        Waves hold one transport and pattern each, as far as all pairs have the same cells.
    """
    bound: dict[int, list[Cell]] = {}
    waiting: dict[Pair, list[Cell]] = {}
    for index in random.permutation(len(cells)):
        cell = cells[index]
        if cell.wave is not None:
            bound.setdefault(cell.wave, []).append(cell)
        else:
            waiting.setdefault(cell.pair, []).append(cell)
    if alike:
        for queue in waiting.values():
            queue.sort(key=lambda cell: (cell.transport, cell.pattern))
    return _shuffled([*bound.values(), *_waves_of_rounds(waiting, hosts, random)], random)


def _shuffled(waves: Sequence[list[Cell]], random: np.random.Generator) -> list[list[Cell]]:
    """In random order, but for those whose cells share a working set, which follow one another.

    They are in random order, too: first those that leave it as it was, then those that do not. One set follows the
    other: what is given back is what the next is laid on, before a virtual machine's host has taken it.
    """
    groups: list[list[list[Cell]]] = []
    sharing: list[tuple[SharedSet, list[Cell]]] = []
    for wave in waves:
        shares = next((cell.shares for cell in wave if cell.shares), None)
        if shares:
            sharing.append((shares, wave))
        else:
            groups.append([wave])
    if sharing:
        groups.append(_by_set([sharing[i] for i in random.permutation(len(sharing))]))
    return [wave for i in random.permutation(len(groups)) for wave in groups[i]]


def _by_set(sharing: Sequence[tuple[SharedSet, list[Cell]]]) -> list[list[Cell]]:
    """Waves with the sets that their cells share, set by set as these come up."""
    rank = {name: number for number, name in enumerate(dict.fromkeys(shares.name for shares, _ in sharing))}
    return [wave for _, wave in sorted(sharing, key=lambda one: (rank[one[0].name], one[0].spoils))]


ALONE = -1
"""The round of the nodes that are measured with themselves, or alone: none is in another's way."""


def _waves_of_rounds(
    waiting: Mapping[Pair, Sequence[Cell]], hosts: Mapping[str, str], random: np.random.Generator
) -> list[list[Cell]]:
    """The pairs' cells laid into rounds of disjoint pairs, in each as many waves as a pair has cells."""
    nodes = sorted({node for pair in waiting for node in pair})
    number = dict(zip(nodes, random.permutation(len(nodes)).tolist(), strict=True))
    rounds: dict[tuple[str, int], list[Sequence[Cell]]] = {}
    for (a, b), queue in waiting.items():
        if queue[0].round is not None:
            rounds.setdefault(("given", queue[0].round), []).append(queue)
        else:
            key = round_of(number[a], number[b], len(nodes)) if a != b else ALONE
            rounds.setdefault(("drawn", key), []).append(queue)
    waves: list[list[Cell]] = []
    for queues in rounds.values():
        for layer in _layers(queues):
            waves.extend(_split_by_host(layer, hosts))
    return waves


def _layers(queues: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """What may be measured at the same time: of each queue one cell, the one of the same name where they have names.

    A wave lasts as long as its longest cell: with an order of its own for each node, nearly every wave of a large
    cluster would wait for the one node that happens to be at a long one.
    """
    layers: dict[str | int, list[Cell]] = {}
    for queue in queues:
        for depth, cell in enumerate(queue):
            layers.setdefault(cell.name or depth, []).append(cell)
    return list(layers.values())
