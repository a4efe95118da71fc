"""A search as it was asked for: from this, and the journal, follows every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wulf.core.errors import UsageError
from wulf.search.space import Config, Knob, Space

VERSION = 4
"""Of the strategy: a journal of another can't be gone on with, for its steps would be others."""

LEAST_BLOCKS = 6
"""Pairs of which Wilcoxon's signed ranks can convince at 95 % (2 · 2⁻⁶ = 3 %)."""


@dataclass(frozen=True)
class SearchPlan:
    """What a search needs to know.

    Attributes
    ----------
    sizes
        Problem sizes, ascending, the last in full: N/4, N/2, N. One alone: there is none smaller.
    power
        How time grows with size: 3 for a factorisation, 0 with one size.
    baselines
        Name → configuration to be beaten; the first is what there is without a search.
    rungs
        Configurations at each of three steps: 27 at N/4, 9 at N/2, 3 at N.
    repeats
        Further runs at the full size, each of whichever may still be the fastest.
    anchor_every
        Runs between two anchors.
    blocks
        Of the confirmation, winner and baseline side by side; of the path at least.
    cut
        A run is ended at so many times the best of its size; 0: never.
    delta
        What counts as no difference.
    budget
        Seconds; None: as many as it takes.
    joint
        Knobs of which is told whether what each does depends on the others.
    """

    space: Space
    sizes: tuple[float, ...]
    power: float
    baselines: Mapping[str, Config]
    seed: int
    rungs: tuple[int, int, int] = (27, 9, 3)
    repeats: int = 3
    anchor_every: int = 9
    blocks: int = LEAST_BLOCKS
    cut: float = 1.1
    delta: float = 0.01
    budget: float | None = None
    joint: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)) or self.sizes[0] <= 0:
            raise UsageError(f"sizes {self.sizes} are not ascending above 0", "give them as 500,1000,2000")
        if not self.baselines:
            raise UsageError("there is nothing to beat", "give a default")
        if self.blocks < LEAST_BLOCKS:
            raise UsageError(f"{self.blocks} blocks can never convince", f"at least {LEAST_BLOCKS} are needed")
        if self.cut and self.cut <= 1:
            raise UsageError(f"a run can't be cut at {self.cut} times the best time", "1.1 is usual; 0: never")
        if min(self.rungs) < 1 or list(self.rungs) != sorted(self.rungs, reverse=True):
            raise UsageError(f"rungs {self.rungs} do not get smaller", "27,9,3 is usual")

    def size_of(self, rung: int) -> float:
        """The size of a rung: of three, the last; with fewer sizes the last ones share."""
        return self.sizes[max(0, len(self.sizes) - 3 + rung)] if len(self.sizes) > 1 else self.sizes[0]

    @property
    def start(self) -> Config:
        """Where the path begins: the first baseline."""
        return next(iter(self.baselines.values()))

    @property
    def full(self) -> float:
        """The full size."""
        return self.sizes[-1]


def plan_object(plan: SearchPlan) -> dict[str, Any]:
    """As the journal holds it."""
    space = plan.space
    return {
        "version": VERSION,
        "knobs": [
            {"name": k.name, "values": list(k.values), "default": k.default, "setting": k.setting} for k in space.knobs
        ],
        "conditions": list(space.conditions), "given": dict(space.given),
        "sizes": list(plan.sizes), "power": plan.power, "seed": plan.seed,
        "baselines": {name: list(config) for name, config in plan.baselines.items()},
        "rungs": list(plan.rungs), "repeats": plan.repeats, "anchor_every": plan.anchor_every, "blocks": plan.blocks,
        "cut": plan.cut, "delta": plan.delta, "budget": plan.budget, "joint": list(plan.joint),
    }  # fmt: skip


def plan_of(found: Mapping[str, Any]) -> SearchPlan:
    """From a journal's first line.

    Raises
    ------
    UsageError
        It is of another version.
    """
    if found.get("version") != VERSION:
        raise UsageError(
            f"the journal is of version {found.get('version')} of the search, and this wulf's is {VERSION}",
            "start the search anew; what it found so far stands in its journal.jsonl",
        )
    knobs = tuple(Knob(k["name"], tuple(k["values"]), k["default"], k["setting"]) for k in found["knobs"])
    space = Space(knobs, tuple(found["conditions"]), dict(found["given"]))
    own = ("power", "seed", "repeats", "anchor_every", "blocks", "cut", "delta", "budget")
    return SearchPlan(
        space, tuple(found["sizes"]), baselines={n: tuple(c) for n, c in found["baselines"].items()},
        rungs=tuple(found["rungs"]), joint=tuple(found["joint"]), **{name: found[name] for name in own},
    )  # fmt: skip
