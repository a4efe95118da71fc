"""One start of the program that is searched, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wulf.search.space import Config

OK, WRONG, CUT, TIMEOUT, FAILED, NO_FIGURE = "ok", "wrong", "cut", "timeout", "failed", "no-figure"
"""Verdicts of an outcome. A cut trial was ended on purpose: it was slower than the best of its size by the margin."""

TRIAL = ("size", "stage", "outcome")
"""What the parameters of a trial's record hold besides its configuration."""


@dataclass(frozen=True)
class Trial:
    """What is to be run.

    Attributes
    ----------
    number
        From 0, in the order run.
    size
        Of the problem; 1 where the program has one size alone.
    limit
        Seconds after which it is cut; None: not before the program's own time-out.
    block
        Of a comparison: measured side by side with the others of its block.
    """

    number: int
    stage: str
    config: Config
    size: float
    limit: float | None = None
    block: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of it.

    Attributes
    ----------
    cost
        What is minimised: seconds of the program's own, or the reciprocal of a rate; None where there is no figure.
    seconds
        That the run took in all: what the search pays.
    figure
        As the program gave it.
    """

    verdict: str
    cost: float | None
    seconds: float
    figure: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.verdict == OK) != (self.cost is not None):
            raise ValueError(f"an outcome that is {self.verdict} with cost {self.cost}: a figure counts if all is well")


Run = Callable[[Trial], Outcome]
"""Runs a trial. It never raises for what the program did: that is an outcome."""


def line_of(trial: Trial, outcome: Outcome) -> dict[str, Any]:
    """A line of the journal."""
    return {"trial": asdict(trial), "outcome": asdict(outcome)}


def read_line(line: Mapping[str, Any]) -> tuple[Trial, Outcome]:
    """Both of a line of the journal. Raises KeyError, TypeError or ValueError where it is none."""
    trial = dict(line["trial"])
    return Trial(**{**trial, "config": tuple(trial["config"])}), Outcome(**line["outcome"])
