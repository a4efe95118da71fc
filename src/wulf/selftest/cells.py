"""One figure: a cell measured as surveys, `wulf node`, `--quick`, `--watch` and `--budget` measure it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from wulf.core.records import Record, Verdict
from wulf.findings.resembling import resembling
from wulf.measure.engine.plan import Plan
from wulf.selftest.simulated.measuring import measured, pair_cell
from wulf.selftest.simulated.noise import CV, recording
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.series.streams import DEPENDENT, SYNTHETIC, TICKS, Stream, drifting, quantised, recorded, shuffled
from wulf.stats.stopping import LOOKS
from wulf.workflow.engine.effort import Effort
from wulf.workflow.node.survey import LOOKS as NODE_LOOKS

HARD = ("AR(1), ρ = 0.6", "AR(1), ρ = 0.8")
"""Noise of which 24 replicates amount to six and fewer than three: no claim about so few can hold, and none is made."""


@dataclass(frozen=True)
class Way:
    """One way in which the product measures a cell.

    Attributes
    ----------
    effort
        As the command line makes it.
    most
        Replicates of which noise is drawn beforehand; more are never asked.
    share
        Of the campaigns that a size gives, so that the long ways take no longer than the others.
    """

    name: str
    effort: Effort
    most: int = LOOKS[-1]
    share: float = 1.0


SURVEY = Way("survey", Effort(width=0.02), share=0.5)
NODE = Way("node", Effort(patience=NODE_LOOKS), share=0.5)
QUICK = Way("--quick", Effort(quick=True), share=0.25)
WATCH = Way("--watch", Effort(width=0.02, watch=True), most=11_000, share=0.15)
BUDGET = Way("--budget", Effort(width=0.01, budget=60.0), most=11_000, share=0.15)
WAYS = (SURVEY, NODE, QUICK, WATCH, BUDGET)


IN_BUDGET = 300
"""Replicates a cell, on average, for which the simulated budget is enough."""


def campaigns(random: np.random.Generator, stream: Stream, way: Way, count: int) -> list[Record]:
    """So many cells of one kind of noise, by the product's runner: the record of each."""
    noise: dict[str, Iterator[float]] = {
        f"n{i}": iter(np.exp(CV * stream.draw(random, way.most)).tolist()) for i in range(count)
    }
    cells = tuple(pair_cell(i, f"n{i}", f"m{i}") for i in range(count))
    steps = dict.fromkeys(noise, 1 / TICKS) if stream.name == quantised(CV).name else {}
    plan = Plan(
        cells,
        1,
        way.effort.width,
        budget=way.effort.budget,
        looks=way.effort.looks,
        watch=way.effort.watch,
        steps=steps,
    )
    taken = 0

    def figure(client: str, *_: str) -> float:
        nonlocal taken
        taken += 1
        return next(noise[client])

    return measured(plan, figure, clock=lambda: 60.0 * taken / (IN_BUDGET * count)).records


def _share(records: list[Record], truth: float) -> float:
    """Of the records that have an interval, how many cover the truth."""
    return float(np.mean([r.low <= truth <= r.high for r in records if r.low is not None and r.high is not None]))


def covered(random: np.random.Generator, size: Size, *, stream: Stream, way: Way) -> list[Claim]:
    """Does an interval that is said to cover with 95 % do so, and is a cell called ok whose interval does not?"""
    count = max(20, round(way.share * size.campaigns))
    records = campaigns(random, stream, way, count)
    truth = float(np.exp(CV * (stream.median or 0.0)))
    known = [record for record in records if record.confidence is not None and record.confidence > 0.949]
    ok = [record for record in known if record.verdict is Verdict.OK]
    depends = stream in DEPENDENT
    open_ended = way in (WATCH, BUDGET)
    promised = not depends or open_ended or (way is not QUICK and stream.name not in HARD)
    claims = [
        Claim(
            f"{way.name}: an interval of 95 % covers the median", stream.name, _share(known, truth), len(known),
            0.93 if promised else None, at_most=False,
        )
    ]  # fmt: skip
    if way is SURVEY:
        claims.append(Claim("… is called ok", stream.name, len(ok) / count, count, None))
        missed = len(ok) - round(_share(ok, truth) * len(ok)) if ok else 0
        claims.append(
            Claim("… is called ok, and misses it", stream.name, missed / count, count, None if depends else 0.05)
        )
    if way is NODE and not depends:
        said = sum("depends on the one before" in (record.reason or "") for record in records)
        claims.append(Claim("node: independent, called dependent", stream.name, said / count, count, 0.05))
    return claims


def rest(random: np.random.Generator, size: Size, *, stream: Stream, total: float) -> list[Claim]:
    """A machine that drifts while a survey measures it: no figure is true of all its time, but one of a cell's own."""
    count = max(30, size.campaigns // 8)
    records = campaigns(random, stream, Way("survey", Effort(width=0.5)), count)
    ok = [record for record in records if record.verdict is Verdict.OK]
    missed = 0
    for record in ok:
        halfway = float(np.exp(CV * total * (record.replicates - 1) / 2 / (LOOKS[-1] - 1)))
        missed += record.low is None or record.high is None or not record.low <= halfway <= record.high
    return [
        Claim("survey: a drifting cell is called ok", stream.name, len(ok) / count, count, None),
        Claim("… and misses the level of its own time", stream.name, missed / count, count, 0.05),
    ]


_CELLS = 24
"""Of four nodes, by two metrics both ways."""


def told(random: np.random.Generator, size: Size, *, stream: Stream, way: Way) -> list[Claim]:
    """A run of several cells, of which one by one cannot be said how they depend on their past: is it told of all?"""
    count = max(10, size.surveys // 10)
    said = sum(bool(resembling(campaigns(random, stream, way, _CELLS))) for _ in range(count)) / count
    what = f"{way.name} of {_CELLS} cells: told that replicates resemble those before them"
    if stream not in DEPENDENT:
        return [Claim(what, stream.name, said, count, 0.02)]
    bound = 0.95 if stream.name in HARD and way is SURVEY else None
    return [Claim(what, stream.name, said, count, bound, at_most=False)]


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    steady = (*SYNTHETIC[:3], *DEPENDENT, quantised(CV), shuffled(recorded(recording())))
    long = (SYNTHETIC[0], *DEPENDENT)  # of which open-ended ways are tried: they take a hundred times as long
    steps: list[tuple[str, ClaimStep]] = [
        (f"cells, {way.name}, {stream.name}", partial(covered, stream=stream, way=way))
        for stream in steady
        for way in WAYS
        if way.most <= LOOKS[-1] or stream in long
    ]
    drifts = ((drifting(total), total) for total in (10.0, 40.0))
    steps += [
        (f"a run's cells, {way.name}, {stream.name}", partial(told, stream=stream, way=way))
        for stream in (*SYNTHETIC[:2], *DEPENDENT)
        for way in (SURVEY, NODE)
    ]
    return [*steps, *((f"cells, {s.name}", partial(rest, stream=s, total=total)) for s, total in drifts)]
