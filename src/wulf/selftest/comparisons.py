"""Two configurations in randomised blocks (`--versus`), and two runs side by side (`wulf compare`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np

from wulf.measure.comparing import compare_runs
from wulf.measure.engine.plan import Plan
from wulf.selftest.simulated.measuring import measured, pair_cell
from wulf.selftest.simulated.noise import CV, everything, over
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.comparison import DELTA, Comparison, Judgement, PairedRule, versus_rule
from wulf.stats.samples import Floats
from wulf.stats.series.streams import DEPENDENT, SYNTHETIC, Stream, drifting
from wulf.stats.stopping import LOOKS
from wulf.store.run import Run
from wulf.workflow.engine.effort import QUICK_LOOKS

EFFECT = 0.02
"""The difference to be found."""

CELLS = 20
"""Of a run that is compared with another."""

LINKS = tuple(permutations([f"n{i}" for i in range(1, 7)], 2))
"""Of six nodes, both ways: more cells than six samples against six can tell of by themselves."""

CLAIMS = (Judgement.FASTER, Judgement.SLOWER)

OPEN_CV = 0.03
"""Noise in which A/A campaigns end without a verdict, and say what would have been seen."""


def paired(random: np.random.Generator, stream: Stream, n: int, effect: float) -> tuple[Floats, Floats]:
    """A and B of n blocks over one series of noise, AB or BA as a coin falls."""
    noise = CV * stream.draw(random, 2 * n).reshape(n, 2)
    a_first = random.random(n) < 0.5
    a = np.where(a_first, noise[:, 0], noise[:, 1])
    b = np.where(a_first, noise[:, 1], noise[:, 0]) + np.log1p(effect)
    return np.exp(a), np.exp(b)


def versus(
    random: np.random.Generator, stream: Stream, effect: float, *, rule: PairedRule, cv: float = CV
) -> Comparison:
    """One campaign as `--versus` measures it: the product's runner, which lays out the blocks itself."""
    noise: Iterator[float] = iter((cv * stream.draw(random, 2 * rule.most)).tolist())
    slower = {"A": 0.0, "B": float(np.log1p(effect))}
    arms = tuple(replace(pair_cell(i, "n1", "n2"), pattern=arm, phase=arm) for i, arm in enumerate(slower))
    plan = Plan(arms, int(random.integers(2**31)), versus=rule)
    found = measured(plan, lambda _, __, arm: float(np.exp(next(noise) + slower[arm]))).comparison
    assert found is not None  # noqa: S101 - the plan compares
    return found


def comparisons(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """A/A and A/B campaigns with the stopping rule as `--versus` uses it."""
    rule, n = versus_rule(), size.campaigns // 6
    outcomes = {
        effect: [versus(random, stream, effect, rule=rule) for _ in range(n)] for effect in (0.0, DELTA / 2, EFFECT)
    }
    slower = outcomes[EFFECT]
    covered = sum(c.low is not None and c.high is not None and c.low <= 1 + EFFECT <= c.high for c in slower)
    found = sum(c.judgement is Judgement.SLOWER for c in slower)
    named = SYNTHETIC[0].name == stream.name
    return [
        Claim("A/A: a difference is claimed", stream.name, _claimed(outcomes[0.0]), n, 0.05),
        Claim("half of delta: a difference is claimed", stream.name, _claimed(outcomes[DELTA / 2]), n, 0.05),
        Claim("2 % slower: the ratio's interval covers it", stream.name, covered / n, n, 0.93, at_most=False),
        Claim(
            "2 % slower: found within 40 pairs", stream.name, found / n, n, 0.9 if named else None, at_most=False
        ),
    ]  # fmt: skip


def _claimed(outcomes: list[Comparison]) -> float:
    return float(np.mean([outcome.changed for outcome in outcomes]))


def visible(random: np.random.Generator, size: Size, *, name: str, rule: PairedRule) -> list[Claim]:
    """Campaigns that ended open say what nine of ten would have found: then so many do, of that very effect."""
    stream, n = SYNTHETIC[0], size.campaigns // 3
    found = []
    for _ in range(n):
        nothing = versus(random, stream, 0.0, rule=rule, cv=OPEN_CV)
        if nothing.judgement is Judgement.INCONCLUSIVE and nothing.least_visible is not None:
            found.append(versus(random, stream, nothing.least_visible, rule=rule, cv=OPEN_CV).changed)
    share, of = float(np.mean(found)), len(found)
    return [
        Claim(f"{name}: what nine of ten find is found", stream.name, share, of, 0.88, at_most=False),
        Claim(f"{name}: … and not more often", stream.name, share, of, 0.92),
    ]


def one_run(random: np.random.Generator, stream: Stream, slower: Mapping[str, float]) -> Run:
    """A survey of `CELLS` cells, some of them slower by so much, as it is read back."""
    noise = {f"n{i}": iter((CV * stream.draw(random, LOOKS[-1])).tolist()) for i in range(CELLS)}
    plan = Plan(tuple(pair_cell(i, f"n{i}", f"m{i}") for i in range(CELLS)), 1, looks=LOOKS)
    told = measured(plan, lambda node, *_: float(np.exp(next(noise[node])) * (1 + slower.get(node, 0.0))))
    return Run(Path("selftest"), {"id": "selftest"}, plan.to_json(), records=told.records)


def runs(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Two runs, of which nothing changed, or one cell by half of delta, or by a tenth."""
    n, effects = max(12, size.surveys // 6), (0.0, DELTA / 2, 0.1)
    claims = dict.fromkeys(effects, 0)
    for _ in range(n):
        before = one_run(random, stream, {})
        for effect in effects:
            found = compare_runs(before, one_run(random, stream, {"n3": effect}))
            claims[effect] += any(cell.judgement in CLAIMS for cell in found.cells)
    shares = {effect: count / n for effect, count in claims.items()}
    return [
        Claim("compare, 20 cells: any is claimed", stream.name, shares[0.0], n, 0.05),
        Claim("… where one is slower by half of delta", stream.name, shares[DELTA / 2], n, 0.05),
        Claim("… where one is slower by 10 %", stream.name, shares[0.1], n, None),
    ]


def quick_run(random: np.random.Generator, stream: Stream, slower: Mapping[str, float]) -> Run:
    """A quick survey of all links between six nodes, some of these slower; half of the noise is all links' together."""
    (looks,) = QUICK_LOOKS
    shared = stream.draw(random, looks)
    noise = {link: iter(np.hypot(0.5, 0.5) * CV * (shared + stream.draw(random, looks))) for link in LINKS}
    cells = tuple(pair_cell(number, *link) for number, link in enumerate(LINKS))

    def figure(client: str, server: str, _: str) -> float:
        worse = max(slower.get(client, 0.0), slower.get(server, 0.0))
        return float(np.exp(next(noise[client, server])) * (1 + worse))

    plan = Plan(cells, 1, looks=QUICK_LOOKS)
    return Run(Path("selftest"), {"id": "selftest"}, plan.to_json(), records=measured(plan, figure).records)


def by_node(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Two quick runs, whose single cells can't speak: nothing changed, or one node by a tenth."""
    n = max(12, size.surveys // 6)
    told = {effect: [_changed(random, stream, {"n3": effect}) for _ in range(n)] for effect in (0.0, 0.1)}
    falsely = sum(bool(nodes) for nodes in told[0.0]) / n
    others = sum(bool(nodes - {"n3"}) for nodes in told[0.1]) / n
    found = sum("n3" in nodes for nodes in told[0.1]) / n
    return [
        Claim("compare, quick runs: any node is told", stream.name, falsely, n, 0.05),
        Claim("… where one is slower by 10 %: another is told", stream.name, others, n, 0.05),
        Claim("… that one is told", stream.name, found, n, None),
    ]


def _changed(random: np.random.Generator, stream: Stream, slower: Mapping[str, float]) -> set[str]:
    found = compare_runs(quick_run(random, stream, {}), quick_run(random, stream, slower))
    return {one.node for one in found.nodes}


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    rules = {"40 pairs": versus_rule(), "one look at 12": PairedRule(looks=(12,))}
    return [
        *over("comparisons", comparisons, (*everything(), *DEPENDENT[1:], drifting(40.0))),
        *((f"what is visible, {name}", partial(visible, name=name, rule=rule)) for name, rule in rules.items()),
        *over("runs", runs, (SYNTHETIC[0], DEPENDENT[0])),
        *over("runs by node", by_node, (SYNTHETIC[0], DEPENDENT[0])),
    ]
