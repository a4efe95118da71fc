"""What the models promise, tried on times whose truth is known: `wulf stats selftest`."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from wulf.model.fitting import Fit, fit
from wulf.model.forms import AMDAHL, BROWN, BROWN_SQUARED, FORMS, USL, Form
from wulf.model.speedup import study
from wulf.model.times import gather
from wulf.stats.samples import Floats
from wulf.stats.simulation import Claim, Size, Step

WORKERS = np.array([1.0, 2, 4, 8, 16, 32, 64])
NOISE = 0.02
"""Relative standard deviation of a run."""

RUNS = (5, 1)
"""At each number of workers: repeated, or not."""

COVERED, ACCUSED = 0.93, 0.05

PLANTED = {
    AMDAHL.name: np.array([100.0, 5.0]),
    BROWN.name: np.array([100.0, 5.0, 0.05]),
    BROWN_SQUARED.name: np.array([100.0, 5.0, 0.002]),
    USL.name: np.array([105.0, 4.0, 0.05]),
}
"""Parameters in the order of the form's parts: peaks at 45, 29 and 45 workers."""


def truths(form: Form) -> dict[str, float]:
    """What the fit should find: its parameters, T(128) in seconds, and N*."""
    theta = PLANTED[form.name]
    found = dict(zip(form.parameters, theta.tolist(), strict=True))
    if form is USL:
        t1 = found["t1"]
        found = {"t1": t1, "sigma": found["sigma_t1"] / t1, "kappa": found["kappa_t1"] / t1}
    found["T(128)"] = float(form.columns(np.array([128.0]))[0] @ theta)
    if form.growth:
        found["N*"] = float(form.peak(theta))
    return found


def campaign(random: np.random.Generator, form: Form, runs: int) -> dict[float, Floats]:
    """Times of a program whose form is known, with lognormal noise."""
    seconds = form.columns(WORKERS) @ PLANTED[form.name]
    return {n: t * np.exp(NOISE * random.normal(size=runs)) for n, t in zip(WORKERS, seconds, strict=True)}


def recovered(random: np.random.Generator, form: Form, runs: int, size: Size) -> list[Claim]:
    """Do the intervals cover the truth? The figure that is covered least is told."""
    truth, hits = truths(form), Counter[str]()
    for number in range(size.surveys):
        found = fit(form, gather(campaign(random, form, runs)), seed=number)
        for name, value in truth.items():
            hits[name] += _covers(found, name, value)
    least = min(truth, key=lambda name: hits[name])
    noise = f"{NOISE:.0%} lognormal, {runs} run{'s' if runs > 1 else ''} at each of {WORKERS.size} N"
    what = f"{form.title}: intervals of {', '.join(truth)} cover the truth (least: {least})"
    return [Claim(what, noise, hits[least] / size.surveys, size.surveys, COVERED, at_most=False)]


def _covers(found: Fit, name: str, value: float) -> bool:
    known = {"T(128)": lambda: found.time(128.0), "N*": lambda: found.peak.workers}
    interval = known[name]() if name in known else found.parameters[name]
    return interval.low <= value <= interval.high


def chosen(random: np.random.Generator, form: Form, size: Size) -> list[Claim]:
    """Is the true form ever told apart from one that is not true?"""
    wrong = alone = 0
    n = max(50, size.surveys // 4)
    for number in range(n):
        found = study(campaign(random, form, RUNS[0]), seed=number)
        wrong += form.name not in found.alike
        alone += set(found.alike) <= {form.name, *(("brown", "usl") if form in (BROWN, USL) else ())}
    noise = f"{NOISE:.0%} lognormal, {RUNS[0]} runs at each of {WORKERS.size} N"
    return [
        Claim(f"{form.title}: is told apart from the best, though it is true", noise, wrong / n, n, ACCUSED),
        Claim(f"{form.title}: all others are told apart", noise, alone / n, n, None),
    ]


def plan() -> list[tuple[str, Step]]:
    """All steps, each with the words for its progress line."""
    steps: list[tuple[str, Step]] = [
        (f"speedup, {form.title}, {runs} runs", partial(recovered, form=form, runs=runs))
        for runs in RUNS
        for form in FORMS
    ]
    return steps + [(f"choice, {form.title}", partial(chosen, form=form)) for form in FORMS]
