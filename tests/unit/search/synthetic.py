"""A program whose truth is known: t = a·N³ + b·N² + c·N, where a and b depend on the configuration."""

from __future__ import annotations

from math import exp

import numpy as np

from wulf.search.plan import SearchPlan
from wulf.search.space import Config, Knob, Space
from wulf.search.trial import CUT, OK, Outcome, Run, Trial

SIZES = (500.0, 1000.0, 2000.0)

SPACE = Space(
    (
        Knob("nb", (16, 32, 64, 128, 256, 512), 512),
        Knob("p", (1, 2, 4), 2),
        Knob("bcast", ("ring", "long"), "ring"),
        Knob("fact", ("left", "right", "crout"), "left"),
        Knob("idle", (0, 1), 0),
    ),
)


def truth(config: Config, size: float) -> float:
    """Seconds: small blocks win at small sizes, large ones at large sizes; p and bcast interact; idle does nothing."""
    nb, p, bcast, fact, _ = config
    a = 1.0 + 0.05 * abs(np.log2(int(str(nb)) / 128)) + (0.1 if p != 1 else 0.0)
    a += 0.08 if bcast == "long" and p == 4 else 0.0
    b = 2.0 * int(str(nb)) + {"left": 150, "right": 50, "crout": 0}[str(fact)]
    return float(1e-9 * (a * size**3 + b * size**2 + 1e4 * size))


def plan(seed: int = 1, **more: object) -> SearchPlan:
    """A search of it."""
    given: dict[str, object] = {"rungs": (27, 9, 3), **more}
    return SearchPlan(SPACE, SIZES, 3.0, {"default": SPACE.default}, seed, **given)  # type: ignore[arg-type]


def runner(noise: float = 0.01, seed: int = 0, fails: frozenset[object] = frozenset()) -> Run:
    """Runs it: with noise; a configuration that has one of `fails` among its values gives a wrong answer."""
    random = np.random.default_rng(seed)

    def run(trial: Trial) -> Outcome:
        seconds = truth(trial.config, trial.size) * exp(random.normal(0, noise))
        if fails & set(trial.config):
            return Outcome("wrong", None, seconds, reason="its answer is wrong")
        if trial.limit is not None and seconds > trial.limit:
            return Outcome(CUT, None, trial.limit, reason="slower")
        return Outcome(OK, seconds, seconds, seconds)

    return run


def best() -> Config:
    """The fastest at the full size."""
    return min(SPACE.all(), key=lambda one: truth(one, SIZES[-1]))


def regret(config: Config) -> float:
    """How much slower than the best."""
    return truth(config, SIZES[-1]) / truth(best(), SIZES[-1]) - 1
