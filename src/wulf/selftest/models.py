"""What the models promise, tried on times whose truth is known: `wulf stats selftest`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from wulf.model.speedup.fitting import Fit, fit
from wulf.model.speedup.forms import AMDAHL, BROWN, BROWN_SQUARED, FORMS, USL, Form
from wulf.model.speedup.parts import TracedTimes, parts_of
from wulf.model.speedup.study import study
from wulf.model.speedup.times import gather
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.samples import Floats

WORKERS = np.array([1.0, 2, 4, 8, 16, 32, 64])
NOISE = 0.02
"""Relative standard deviation of a run."""

RUNS = (5, 1)
"""At each number of workers: repeated, or not."""

LAUNCHES = (0.01, 0.02)
"""Relative standard deviations of launches, where they differ."""

COVERED, ACCUSED = 0.93, 0.05

PLANTED = {
    AMDAHL.name: np.array([100.0, 5.0]),
    BROWN.name: np.array([100.0, 5.0, 0.05]),
    BROWN_SQUARED.name: np.array([100.0, 5.0, 0.002]),
    USL.name: np.array([105.0, 4.0, 0.05]),
}
"""Parameters in the order of the form's parts: peaks at 45, 29 and 45 workers."""


AT_BOUND = np.array([100.0, 5.0, 0.0])
"""Of Brown's form, without communication: N* is infinite."""

TRACED = {"ts": 4.0, "c": 100.0, "tip": 1.0, "b": 0.05}
"""Brown's times of a program that is traced: summed, those of `PLANTED`."""

Noise = Callable[[np.random.Generator, int], Floats]
"""Logarithms of so many runs' relative errors."""


def lognormal(random: np.random.Generator, runs: int) -> Floats:
    """Independent, of `NOISE`."""
    return NOISE * random.normal(size=runs)


def heavy_tailed(random: np.random.Generator, runs: int) -> Floats:
    """Student's t with three degrees of freedom: now and then a run is far off."""
    result: Floats = NOISE / 2 * random.standard_t(3, size=runs)
    return result


def truths(form: Form, theta: Floats) -> dict[str, float]:
    """What the fit should find: its parameters, T(128) in seconds, and N*."""
    found = dict(zip(form.parameters, theta.tolist(), strict=True))
    if form is USL:
        t1 = found["t1"]
        found = {"t1": t1, "sigma": found["sigma_t1"] / t1, "kappa": found["kappa_t1"] / t1}
    found["T(128)"] = float(form.columns(np.array([128.0]))[0] @ theta)
    if form.growth:
        found["N*"] = float(form.peak(theta))
    return found


@dataclass(frozen=True)
class Program:
    """A program whose form and parameters are known, run so often at each number of workers."""

    form: Form
    theta: Floats
    runs: int = RUNS[0]
    noise: Noise = lognormal
    name: str = f"{NOISE:.0%} lognormal"
    launch: float = 0.0
    """Relative standard deviation of a launch, which all runs at one number of workers share."""

    def campaign(self, random: np.random.Generator) -> dict[float, Floats]:
        """Its times."""
        seconds = self.form.columns(WORKERS) @ self.theta * np.exp(self.launch * random.normal(size=WORKERS.size))
        return {n: t * np.exp(self.noise(random, self.runs)) for n, t in zip(WORKERS, seconds, strict=True)}

    @property
    def stream(self) -> str:
        """Its noise, for people."""
        launched = f", launches {self.launch:.0%}" if self.launch else ""
        return f"{self.name}{launched}, {self.runs} run{'s' if self.runs > 1 else ''} at each of {WORKERS.size} N"


def planted(form: Form, runs: int = RUNS[0]) -> Program:
    """The program of a form."""
    return Program(form, PLANTED[form.name], runs)


def recovered(random: np.random.Generator, program: Program, size: Size, words: str = "") -> list[Claim]:
    """Do the intervals cover the truth? The figure that is covered least is told."""
    form = program.form
    truth, hits = truths(form, program.theta), Counter[str]()
    for number in range(size.surveys):
        found = fit(form, gather(program.campaign(random)), seed=number)
        for name, value in truth.items():
            hits[name] += _covers(found, name, value)
    least = min(truth, key=lambda name: hits[name])
    what = f"{form.title}{words}: intervals of {', '.join(truth)} cover the truth (least: {least})"
    return [Claim(what, program.stream, hits[least] / size.surveys, size.surveys, COVERED, at_most=False)]


def _covers(found: Fit, name: str, value: float) -> bool:
    known = {"T(128)": lambda: found.time(128.0), "N*": lambda: found.peak.workers}
    interval = known[name]() if name in known else found.parameters[name]
    return interval.low <= value <= interval.high


def chosen(random: np.random.Generator, form: Form, size: Size, launch: float = 0.0) -> list[Claim]:
    """Is the true form ever told apart from one that is not true?"""
    wrong = alone = 0
    n = max(20, size.surveys // 4)
    program = replace(planted(form), launch=launch)
    for number in range(n):
        found = study(program.campaign(random), seed=number)
        wrong += form.name not in found.alike
        alone += set(found.alike) <= {form.name, *(("brown", "usl") if form in (BROWN, USL) else ())}
    return [
        Claim(f"{form.title}: is told apart from the best, though it is true", program.stream, wrong / n, n, ACCUSED),
        Claim(f"{form.title}: all others are told apart", program.stream, alone / n, n, None),
    ]


def traced(random: np.random.Generator, runs: int) -> list[TracedTimes]:
    """Traces of the program of `TRACED`, so many at each number of ranks; one rank does the serial part."""
    found = []
    for n in np.repeat(WORKERS.astype(int), runs).tolist():
        computing, left = TRACED["ts"] + TRACED["c"] / n, TRACED["tip"] + TRACED["b"] * n
        slow = np.exp(NOISE * random.normal(size=2))
        computing, left = computing * slow[0], left * slow[1]
        found.append(TracedTimes(n, computing + left, computing, TRACED["ts"] + TRACED["c"]))
    return found


def told_apart(random: np.random.Generator, size: Size, runs: int) -> list[Claim]:
    """Do the intervals of what traces tell apart cover the truth? The figure that is covered least is told."""
    truth = TRACED | {"T(128)": truths(BROWN, PLANTED[BROWN.name])["T(128)"]}
    hits = Counter[str]()
    for number in range(size.surveys):
        found = parts_of(traced(random, runs), seed=number).study
        assert found is not None  # noqa: S101 - there are numbers of ranks enough
        for name, value in truth.items():
            hits[name] += _covers(found.fits[BROWN.name], name, value)
    least = min(truth, key=lambda name: hits[name])
    what = f"{BROWN.title}, from traces: intervals of {', '.join(truth)} cover the truth (least: {least})"
    stream = f"{NOISE:.0%} lognormal, {runs} trace{'s' if runs > 1 else ''} at each of {WORKERS.size} N"
    return [Claim(what, stream, hits[least] / size.surveys, size.surveys, COVERED, at_most=False)]


def plan() -> list[tuple[str, ClaimStep]]:
    """All steps, each with the words for its progress line."""
    steps: list[tuple[str, ClaimStep]] = [
        (f"speedup, {form.title}, {runs} runs", partial(recovered, program=planted(form, runs)))
        for runs in RUNS
        for form in FORMS
    ]
    return steps + [(f"choice, {form.title}", partial(chosen, form=form)) for form in FORMS]


def harder() -> list[tuple[str, ClaimStep]]:
    """Noise that is not normal, a parameter at its bound, launches that differ, and what traces tell apart."""
    tails = [
        Program(BROWN, PLANTED[BROWN.name], runs, heavy_tailed, f"{NOISE / 2:.0%} heavy-tailed (t3)") for runs in RUNS
    ]
    launched = [replace(planted(form), launch=launch) for form in FORMS for launch in LAUNCHES]
    return [
        *((f"speedup, heavy tails, {one.runs} runs", partial(recovered, program=one)) for one in tails),
        (
            "speedup, at the bound",
            partial(recovered, program=Program(BROWN, AT_BOUND), words=", without communication"),
        ),
        *((f"speedup, launches {one.launch:.0%}, {one.form.title}", partial(recovered, program=one))
          for one in launched),
        *((f"choice, launches, {form.title}", partial(chosen, form=form, launch=LAUNCHES[-1])) for form in FORMS),
        *((f"traces, {runs} at each N", partial(told_apart, runs=runs)) for runs in RUNS),
    ]  # fmt: skip
