"""Which nodes deviate from their like: by the judgement that ends a node survey and a survey."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wulf.core.records import Record
from wulf.findings.foreseen import BETWEEN
from wulf.findings.net.link_deviations import deviating
from wulf.findings.node.deviating import node_findings
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Metric
from wulf.selftest.simulated.clusters import (
    GAUSSIAN,
    SPREADS,
    Spread,
    accused,
    falsely,
    records,
    samples,
    surveyed,
    time_rows,
)
from wulf.selftest.simulated.measuring import measured
from wulf.selftest.simulated.noise import CV, everything, over
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.cluster.levelling import error_of
from wulf.stats.cluster.nodes import visible_from
from wulf.stats.samples import Floats
from wulf.stats.series.streams import DEPENDENT, SYNTHETIC, Stream, quantised
from wulf.workflow.node.survey import LOOKS

SLOWER = 1.05
SIZES = {
    "4, 8 or 16 nodes": {4: 0.33, 8: 0.33, 16: 0.33},
    "64 or 256 nodes": {64: 0.33, 256: 0.1},
    "1,000 or 10,000 nodes": {1000: 0.34, 10_000: 0.06},
}
"""Nodes: clusters simulated for each survey of a size, fewer of the larger ones; together enough to prove the goal."""

_NODES_A_SURVEY = 24
"""Where the slow one's detection is tried, a survey's share of nodes: clusters of more are simulated less often."""


def accusations(random: np.random.Generator, spread: Spread, size: Size) -> list[Claim]:
    """Clusters of any size in which nobody is slow but as the spread has it: is anyone named who is not?"""
    claims = []
    for words, sizes in SIZES.items():
        false = n = 0
        for nodes, share in sizes.items():
            for _ in range(max(1, round(share * size.surveys))):
                own = spread.draw(random, nodes)
                named = accused(node_findings(records(samples(random, own, SYNTHETIC[0], spread.tick)), {}))
                false += bool(falsely(named, own))
                n += 1
        claims.append(Claim(f"{words}: someone is accused who is within 3 %", spread.name, false / n, n, 0.05))
    return claims


Naming = Callable[[np.random.Generator, Floats], set[int]]
"""Who is named among nodes with these logarithms of their own."""


def _by_replicates(random: np.random.Generator, own: Floats, stream: Stream, cv: float = CV) -> set[int]:
    """Each node by itself, at rest."""
    return accused(node_findings(records(samples(random, own, stream, cv=cv)), {}))


def _one_slow(random: np.random.Generator, nodes: int, times: float, n: int, naming: Naming) -> tuple[float, float]:
    """Share of clusters in which the slow one is found, and in which another is named falsely."""
    found = false = 0
    for _ in range(n):
        own = GAUSSIAN.draw(random, nodes)
        own[0] += np.log(times)
        named = naming(random, own)
        found += 0 in named
        false += bool(falsely(named, own, [0]))
    return found / n, false / n


def powers(random: np.random.Generator, size: Size) -> list[Claim]:
    """What is found at rest, replicates scattering by 1 % and nodes by half of that."""
    claims = []
    for nodes, times, bound in ((4, 1.10, 0.8), (16, SLOWER, 0.95), (64, SLOWER, 0.95), (1000, SLOWER, 0.95)):
        n = max(1, min(size.surveys, size.surveys * 4 * _NODES_A_SURVEY // nodes))
        found, _ = _one_slow(random, nodes, times, n, partial(_by_replicates, stream=SYNTHETIC[0]))
        what = f"one of {nodes:,} nodes {times - 1:.0%} slower: found"
        claims.append(Claim(what, "lognormal", found, n, bound, at_most=False))
    return claims


def foretold(random: np.random.Generator, size: Size) -> list[Claim]:
    """A node as slow as the command says beforehand that nine in ten surveys would find.

    It is said for the replicates at which most figures end; those that take more see a little more.
    """
    claims = []
    for nodes in (4, 16, 64):
        n = max(1, min(2 * size.campaigns, size.campaigns * 4 * _NODES_A_SURVEY // nodes))
        times = 1 + float(visible_from(nodes, BETWEEN, error_of(LOOKS[0], CV, nodes)))
        found, _ = _one_slow(random, nodes, times, n, partial(_by_replicates, stream=SYNTHETIC[0]))
        what = f"{nodes} nodes, one as slow as nine in ten are said to find ({times - 1:.1%}): found"
        claims += [
            Claim(what, "lognormal", found, n, 0.89, at_most=False),
            Claim("… and not much more often", "lognormal", found, n, 0.94),
        ]
    return claims


def disturbed(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """64 like nodes, one slow by 5 %, over replicates with another noise than the normal one."""
    n = max(1, size.surveys // 4)
    found, false = _one_slow(random, 64, SLOWER, n, partial(_by_replicates, stream=stream))
    return [
        Claim("one of 64 nodes 5 % slower: found", stream.name, found, n, GOALS.get(stream.name, 0.95), at_most=False),
        Claim("… and someone else, who is within 3 %", stream.name, false, n, 0.05),
    ]


FEW, FEW_CV = 4, 0.03
"""Of so few nodes, whose replicates scatter so much, none shows how much they resemble their neighbours."""


def resembling(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """A few nodes, nobody slow, whose replicates scatter widely and depend on those before: nothing is promised."""
    false = sum(
        bool(falsely(_by_replicates(random, own, stream, FEW_CV), own))
        for own in (GAUSSIAN.draw(random, FEW) for _ in range(size.surveys))
    )
    what = f"{FEW} nodes, replicates scatter by {FEW_CV:.0%}: someone is accused who is within 3 %"
    return [Claim(what, stream.name, false / size.surveys, size.surveys, None)]


MANY_NODES, MANY_FIGURES = 16, 64


def many_figures(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """As many figures of each node as a survey has, nobody slow in any: is anyone accused?"""
    n = max(1, size.surveys // 10)
    false = 0
    for _ in range(n):
        owns = [GAUSSIAN.draw(random, MANY_NODES) for _ in time_rows()[:MANY_FIGURES]]
        figures = [
            record
            for own, of in zip(owns, time_rows(), strict=False)
            for record in records(samples(random, own, stream), of)
        ]
        false += bool(falsely(accused(node_findings(figures, {})), np.max(owns, axis=0)))
    what = f"{MANY_NODES} nodes with {MANY_FIGURES} figures each: someone is accused who is within 3 % in all"
    return [Claim(what, stream.name, false / n, n, 0.05)]


HARD_TO_SEE = 0.75
GOALS = dict.fromkeys(
    ("heavy-tailed (t2)", "recorded ping-pong", "quantised clock", *(one.name for one in DEPENDENT)), HARD_TO_SEE
)
"""Noise in which eight replicates do not show a margin of 3 % exceeded by 2 % as often as in the normal one."""

DRIFTS = {"linear drift of 10 σ": 10.0, "linear drift of 40 σ": 40.0}


@dataclass(frozen=True)
class Drifting:
    """A survey during which all nodes become slower together.

    Attributes
    ----------
    name, words
        Of the step, and of its claim.
    nodes
        How many.
    share
        One survey is simulated for so many of the simplest ones.
    named
        A `Naming`, but for its `drift`.
    """

    name: str
    words: str
    nodes: int
    share: int
    named: Callable[..., set[int]]


def drifting(random: np.random.Generator, survey: Drifting, drift: str, size: Size) -> list[Claim]:
    """One node slow by 5 %, measured by the runner."""
    n = max(1, size.surveys // survey.share)
    naming = partial(survey.named, drift=CV * DRIFTS[drift])
    found, false = _one_slow(random, survey.nodes, SLOWER, n, naming)
    what = f"one of {survey.nodes} nodes 5 % slower{survey.words}: found"
    return [
        Claim(what, drift, found, n, 0.95, at_most=False),
        Claim("… and someone else, who is within 3 %", drift, false, n, 0.05),
    ]


def _among_nodes(random: np.random.Generator, own: Floats, drift: float) -> set[int]:
    """Each node by itself."""
    trend = np.linspace(0, drift, LOOKS[-1])
    noise = CV * random.normal(size=(own.size, LOOKS[-1])) + trend + own[:, None]
    return accused(node_findings(surveyed(np.exp(noise)), {}))


_PASSES = 16
"""In which the drift is reached, of the 8 to 24 of a survey."""


def _links(random: np.random.Generator, own: Floats, drift: float) -> list[Record]:
    """Round trips over all pairs, by the runner."""
    names = [f"n{node}" for node in range(own.size)]
    cells = tuple(
        Cell(number, a, b, "tcp", "pingpong", {}, (Metric("rtt", "s"),), "pairs")
        for number, (a, b) in enumerate(itertools.combinations(names, 2))
    )
    asked = itertools.count()

    def figure(client: str, server: str, _: str) -> float:
        now = drift * next(asked) / (_PASSES * len(cells))
        return float(np.exp(own[int(client[1:])] + own[int(server[1:])] + now + CV * random.normal()))

    return measured(Plan(cells, seed=1), figure).records


def _over_links(random: np.random.Generator, own: Floats, drift: float) -> set[int]:
    """All pairs."""
    return accused(deviating(_links(random, own, drift), {}))


DRIFTING = (
    Drifting("node survey", ", by the runner", 16, 4, _among_nodes),
    Drifting("survey", " over its links", 8, 6, _over_links),
)


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    return [
        *((f"accusations, {spread.name}", partial(accusations, spread=spread)) for spread in SPREADS),
        ("slow nodes", powers),
        ("what was foretold", foretold),
        *over("slow nodes", disturbed, _without_drift(everything())),
        *(
            (f"{survey.name}, {drift}", partial(drifting, survey=survey, drift=drift))
            for survey in DRIFTING
            for drift in DRIFTS
        ),
    ]


def _without_drift(streams: Sequence[Stream]) -> list[Stream]:
    return [stream for stream in streams if "drift" not in stream.name]


def harder() -> list[tuple[str, ClaimStep]]:
    """Replicates that depend more, or are read from a coarse clock; and more than one figure a node."""
    return [
        *over("slow nodes", disturbed, (*DEPENDENT[1:], quantised(CV))),
        *over("few nodes", resembling, DEPENDENT[1:]),
        *over("many figures", many_figures, SYNTHETIC[:2]),
    ]
