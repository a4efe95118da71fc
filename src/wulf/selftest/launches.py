"""Launches of MPI that differ by themselves: what intervals hold of the median over all launches."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wulf.core.records import Record
from wulf.measure.comparing import compare_runs
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import MPI
from wulf.measure.mpi.probes import BLOCKS, SHARED
from wulf.selftest.simulated.measuring import RTT, measured
from wulf.selftest.simulated.noise import CV
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.comparison import Judgement
from wulf.store.run import Run
from wulf.workflow.engine.effort import Effort
from wulf.workflow.mpi.launching import Launch, LaunchSession

SPREADS = (0.0, 0.01, 0.02)
"""Standard deviations from launch to launch, of the logarithm; a run within a launch has `CV` besides."""

SUBJECT = "n1>n2"

TRUTH = 1.0
"""The median over all launches."""


class World:
    """Ranks that never run: each launch has a level of its own, and every run noise around it."""

    def __init__(self, random: np.random.Generator, spread: float) -> None:
        self._random, self._spread = random, spread
        self.places = ("n1", "n2")
        self.session = self
        self.alive = True
        self.relaunch()

    def relaunch(self) -> None:
        """Draw another level."""
        self._level = self._spread * self._random.normal()

    def close(self) -> None:
        """Nothing runs."""

    def call(self, op: str, **_: Any) -> Future[dict[str, Any]]:
        """Nothing but runs is asked."""
        raise NotImplementedError(op)

    def run(self, _: str, __: Mapping[str, Any], ___: float) -> dict[str, Any]:
        """One replicate."""
        value = TRUTH * float(np.exp(self._level + CV * self._random.normal()))
        return {"ok": True, "metrics": {"rtt": {"unit": "s", "value": value}}}


def figure(random: np.random.Generator, how: str, spread: float) -> tuple[Plan, Record]:
    """What `wulf mpi pingpong --launch HOW` measures."""
    launch = Launch(how=how).alone
    cell = Cell(0, SUBJECT, SUBJECT, "", "pingpong", {"bytes": 8}, RTT, program=MPI, about={"launch": how})
    plan = Plan((cell,), 0, looks=Effort().looks)
    session = LaunchSession(World(random, spread), launch)  # type: ignore[arg-type]  # has what is asked of one
    try:
        (record,) = measured(plan, lambda *_: None, others={MPI: {SUBJECT: session}}).records
    finally:
        session.close()
    return plan, record


def intervals(random: np.random.Generator, *, size: Size, how: str, spread: float) -> list[Claim]:
    """Whether a figure's interval covers the median over all launches."""
    covered = resolved = 0
    for _ in range(size.campaigns):
        _, found = figure(random, how, spread)
        if found.low is not None and found.high is not None:
            resolved += 1
            covered += found.low <= TRUTH <= found.high
    share, where = covered / max(1, resolved), f"launches differ by {spread:.0%}"
    if how == SHARED:
        return [Claim("naive: one launch: its interval covers the median of all", where, share, resolved, None)]
    return [Claim("MPI, a launch a block: the interval covers the median", where, share, resolved, 0.93, at_most=False)]


def comparisons(random: np.random.Generator, *, size: Size, how: str, spread: float) -> list[Claim]:
    """`wulf compare` of two runs of the same."""
    claimed = 0
    for _ in range(size.surveys):
        a, b = (_run(name, *figure(random, how, spread)) for name in "ab")
        (cell,) = compare_runs(a, b).cells
        claimed += cell.judgement in (Judgement.SLOWER, Judgement.FASTER)
    where = f"launches differ by {spread:.0%}"
    what = "runs of one launch" if how == SHARED else "runs of a launch a block"
    return [Claim(f"MPI, {what} compared: a difference is claimed", where, claimed / size.surveys, size.surveys, 0.05)]


def _run(name: str, plan: Plan, record: Record) -> Run:
    return Run(Path(name), {"id": name}, plan.to_json(), records=[record])


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    simulations = (("launches", intervals), ("launches compared", comparisons))
    return [
        (f"{words}, {how}, {spread:.0%}", partial(simulate, how=how, spread=spread))
        for words, simulate in simulations
        for how in (BLOCKS, SHARED)
        for spread in SPREADS
    ]
