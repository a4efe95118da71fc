"""Brown's parts of a program's time, told apart by traces: what ranks compute, and what is left.

Times over workers alone tell Ts + Tip, their sum. A trace says what each rank computes outside of MPI. Of the rank that
computes longest that is Ts + Tp/N, whether it does the serial part alone or every rank does it; what is left of the
program's time is Tip + N·Tis, or with N²: messages, and waiting that is not waiting for that rank. Both are fitted by
themselves over the number of ranks, and summed they are T(N).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wulf.model.speedup.fitting import Fit, least_points
from wulf.model.speedup.forms import AMDAHL, BROWN, BROWN_SQUARED, Form
from wulf.model.speedup.study import Study, karp_flatt, study
from wulf.model.speedup.times import Times, gather
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

WHOLE = {form.name: form for form in (BROWN, BROWN_SQUARED)}

COMMUNICATION = tuple(
    Form(one.name, one.title, one.formula.removesuffix(" + c/N"), one.parts[1:], one.parameters[1:], one.costs[1:],
         one.divided[1:], one.growth)
    for one in WHOLE.values()
)  # fmt: skip
"""What is left of Brown's forms without the work that divides: a is Tip alone, as computing is not in it."""

NOTHING = 1e-9
"""Seconds, a clock's tick: where no more is left than that, nothing was communicated."""


@dataclass(frozen=True)
class TracedTimes:
    """One run of a program, as its trace has it, in seconds.

    Attributes
    ----------
    seconds
        Of the rank that took longest, MPI_Init and MPI_Finalize not in it.
    computing
        Outside of MPI, of the rank that computed longest.
    work
        Outside of MPI, of all ranks together.
    """

    ranks: int
    seconds: float
    computing: float
    work: float

    @property
    def left(self) -> float:
        """What computing does not take: messages, and waiting."""
        return max(0.0, self.seconds - self.computing)


@dataclass(frozen=True)
class TracedParts:
    """Brown's parameters from traces.

    Attributes
    ----------
    parameters
        ts, tp, tip and tis in seconds, those that the traces tell.
    refused
        Why the others are not told, by name.
    study
        Brown's forms of the sums, with N and N²; None where a parameter is not told. Held-out errors are those of what
        is left beside computing, which is where the forms differ.
    """

    runs: Sequence[TracedTimes]
    parameters: Mapping[str, Interval]
    refused: Mapping[str, str]
    study: Study | None


def parts_of(runs: Sequence[TracedTimes], confidence: float = 0.95, seed: int = 0) -> TracedParts:
    """Fit computing and what is left beside it, over the numbers of ranks of these runs.

    A rank that is alone has nobody to talk with: its run says what is computed, and nothing of communication.

    Raises
    ------
    ValueError
        There is no run, or one computed nothing.
    """
    computing = study(_by_ranks(runs, "computing"), confidence=confidence, seed=seed, forms=[AMDAHL])
    left, why = _left_of(runs, confidence, seed)
    work = computing.fits.get(AMDAHL.name)
    parameters: dict[str, Interval] = {}
    refused: dict[str, str] = {}
    if work is None:
        refused |= dict.fromkeys(("ts", "tp"), _few(computing.times.workers, AMDAHL, "Ts + Tp/N, their sum"))
    else:
        parameters |= {"ts": work.parameters["a"], "tp": work.parameters["c"]}
    if left is None or left.best is None:
        refused |= dict.fromkeys(("tip", "tis"), why)
    else:
        own = left.fits[left.best].parameters
        parameters |= {"tip": own["a"], "tis": own["b"]}
    whole = None if work is None or left is None else _whole(runs, work, left, confidence, seed)
    return TracedParts(runs, parameters, refused, whole)


def _by_ranks(runs: Sequence[TracedTimes], name: str) -> dict[float, list[float]]:
    found: dict[float, list[float]] = defaultdict(list)
    for run in runs:
        found[float(run.ranks)].append(getattr(run, name))
    return dict(found)


def _few(numbers: Iterable[float], form: Form, told: str, which: str = "") -> str:
    """Why so many numbers of ranks don't tell a form's parameters apart."""
    counts = ", ".join(f"{n:g}" for n in numbers)
    which = f"{least_points(form)} numbers of ranks{which}"
    return f"traces of {counts} ranks tell {told}; {which} tell them apart" if counts else f"{which} tell them"


def _left_of(runs: Sequence[TracedTimes], confidence: float, seed: int) -> tuple[Study | None, str]:
    """What is left beside computing, fitted; or why it can't be."""
    several = _by_ranks([run for run in runs if run.ranks > 1], "left")
    form = COMMUNICATION[0]
    if len(several) < least_points(form):
        return None, _few(sorted(several), form, "Tip + N·Tis, their sum", " above 1")
    silent = [n for n, seconds in several.items() if min(seconds) <= NOTHING]
    if silent:
        return None, f"at {silent[0]:g} ranks nothing is left beside computing: no communication was traced"
    # Another seed than computing's: errors of both are drawn independently.
    return study(several, confidence=confidence, seed=seed + 1, forms=COMMUNICATION), ""


def _whole(runs: Sequence[TracedTimes], computing: Fit, left: Study, confidence: float, seed: int) -> Study:
    """Brown's forms, whose parameters are the sums of both parts'."""
    times = gather(_by_ranks(runs, "seconds"))
    fits = {name: _sum(WHOLE[name], times, computing, own) for name, own in left.fits.items()}
    fractions = karp_flatt(times, None, confidence, seed, computing.launches)
    return Study(times, fits, left.held_out, {}, left.best, fractions)


def _sum(form: Form, times: Times, computing: Fit, left: Fit) -> Fit:
    """T(N) = Tp/N + (Ts + Tip) + N·Tis; the serial program takes Ts + Tp. The part that fits worse says how well."""
    worse = min(computing, left, key=lambda part: 1.0 if part.misfit is None else part.misfit)

    def summed(work: Floats, rest: Floats) -> Floats:
        return np.stack([work[..., 0], work[..., 1] + rest[..., 0], rest[..., 1]], axis=-1)

    return replace(
        computing, form=form, times=times, theta=summed(computing.theta, left.theta),
        draws=summed(computing.draws, left.draws), misfit=worse.misfit, beyond=worse.beyond,
        serial=(float(computing.theta.sum()), computing.draws.sum(axis=1)),
    )  # fmt: skip
