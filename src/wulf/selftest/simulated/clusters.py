"""Clusters whose truth is known: spread of many kinds between like nodes, and records as a node survey leaves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.core.findings import Finding
from wulf.core.records import Record, Verdict
from wulf.findings.foreseen import BETWEEN
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import NODE, Metric
from wulf.measure.node.rows import ROW, Row, table
from wulf.selftest.simulated.measuring import measured
from wulf.selftest.simulated.noise import CV
from wulf.stats.cluster.nodes import MARGIN, without_own
from wulf.stats.samples import Floats
from wulf.stats.series.streams import SYNTHETIC, Stream
from wulf.workflow.node.survey import LOOKS

REPLICATES = LOOKS[-1]

TICK = 0.05
"""Of the figure: a clock that tells twenty of it."""


@dataclass(frozen=True)
class Spread:
    """How like nodes differ: nodes → log deviations, and the clock by which they are read (0: any time)."""

    name: str
    draw: Callable[[np.random.Generator, int], Floats]
    tick: float = 0.0


def _of(stream: Stream) -> Callable[[np.random.Generator, int], Floats]:
    return lambda random, n: BETWEEN * stream.draw(random, n)


def _t3(random: np.random.Generator, n: int) -> Floats:
    draws: Floats = BETWEEN * random.standard_t(3, n) / 1.13  # 1.4826 times its upper quartile
    return draws


def _skewed(random: np.random.Generator, n: int) -> Floats:
    draws: Floats = BETWEEN * np.expm1(random.normal(size=n))
    return draws


def _racks(random: np.random.Generator, n: int) -> Floats:
    """Up to sixteen nodes a rack, at least four racks, which differ twice as much as the nodes in one."""
    racks = max(4, n // 16)
    of_rack: Floats = 2 * BETWEEN * random.normal(size=racks)
    return of_rack[np.arange(n) % racks] + BETWEEN * random.normal(size=n)


APART = 0.04
"""Relative distance of the two kinds of node that nobody knew of."""


def _two_kinds(random: np.random.Generator, n: int) -> Floats:
    draws: Floats = BETWEEN * random.normal(size=n) + APART * (random.random(n) < 0.3)
    return draws


GAUSSIAN = Spread("Gaussian spread", _of(SYNTHETIC[0]))
SPREADS = (
    GAUSSIAN,
    Spread("spread t2", _of(SYNTHETIC[1])),
    Spread("spread t3", _t3),
    Spread("spread skewed", _skewed),
    Spread("racks", _racks),
    Spread("two kinds, 4 % apart", _two_kinds),
    Spread("clock of 20 ticks", _of(SYNTHETIC[0]), TICK),
)


def time_rows() -> list[Row]:
    """The rows of the node survey that are measured times."""
    return [row for row in table().rows if row.worse > 0 and row.unit == "s" and row.probe]


def samples(random: np.random.Generator, own: Floats, stream: Stream, tick: float = 0.0, cv: float = CV) -> Floats:
    """What a node survey's passes measure, shape (nodes, passes).

    Each node has noise of its own, pass by pass; noise that wanders is the machine room's, which all nodes are measured
    in, one after the other: a node that wandered alone would not be as it was drawn.
    """
    if stream.median is None:
        passes = stream.draw(random, REPLICATES * own.size).reshape(REPLICATES, own.size)
        noise = random.permuted(passes, axis=1).T
    else:
        noise = np.stack([stream.draw(random, REPLICATES) for _ in own])
    values: Floats = np.exp(cv * noise + own[:, None])
    return np.maximum(1, np.round(values / tick)) * tick if tick else values


def records(values: Floats, of: Row | None = None) -> list[Record]:
    """Records of one row as `surveyed` has them, each of as many passes as the rule wants; without their flags.

    Those cost most of the runner's time; the rule is the runner's own.
    """
    of, rule = of or time_rows()[0], Plan((), seed=1, looks=LOOKS).rule
    ended = [next((n for n in LOOKS if rule.decide(own[:n]).stop), REPLICATES) for own in values.tolist()]
    return [
        Record(
            run="selftest", subject=f"n{node}", probe=NODE, metric=of.metric, unit=of.unit, value=float(np.median(own)),
            replicates=own.size, samples=own.tolist(), verdict=Verdict.OK, at="", phase=ROW, row=of.name,
        )
        for node, own in enumerate(all_passes[:n] for all_passes, n in zip(values, ended, strict=True))
    ]  # fmt: skip


def surveyed(values: Floats) -> list[Record]:
    """Records of a whole node survey of one row by the runner, of nodes × passes."""
    of, nodes = time_rows()[0], len(values)
    cells = tuple(
        Cell(
            node, f"n{node}", f"n{node}", "", of.probe, {}, (Metric(of.metric, of.unit),), ROW, program=NODE,
            name=of.name, rows={of.metric: of.name},
        )
        for node in range(nodes)
    )  # fmt: skip
    passes = [iter(own) for own in values.tolist()]

    def measure(client: str, _: str, __: str) -> float:
        return float(next(passes[int(client[1:])]))

    return measured(Plan(cells, seed=1, looks=LOOKS), measure).records


def accused(findings: Sequence[Finding]) -> set[int]:
    """Nodes that deviate."""
    return {int(finding.subject[1:]) for finding in findings if finding.kind == "deviation"}


def falsely(named: set[int], own: Floats, slow: Sequence[int] = ()) -> set[int]:
    """Of those named, the ones that are within the margin of the others in truth."""
    if not named:
        return set()
    medians, _ = without_own(own)
    return {node for node in named - set(slow) if own[node] - medians[node] <= np.log1p(MARGIN)}
