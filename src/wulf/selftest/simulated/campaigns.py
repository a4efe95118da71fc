"""Campaigns of `wulf tune` over a node in memory: all that a user's campaign runs but sessions and probes.

Settings are selected, blocks counted, arms planned and ordered, figures judged, confirmed and kept by the product; what
a configuration measures is a truth that is known, times noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from math import exp
from typing import Any

import numpy as np

from wulf.core.records import Param
from wulf.stats.samples import Floats
from wulf.stats.series.streams import Stream
from wulf.tune.campaign.arms import DesignName
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.campaign.plan import ALPHA, Campaign, blocks_wanted, stages_of
from wulf.tune.campaign.selecting import Criteria, select
from wulf.tune.setting import Aim, Setting
from wulf.workflow.tune.campaign import CampaignState, Conductor
from wulf.workflow.tune.nodes import Leftover
from wulf.workflow.tune.result import result_object

NODE, PREFIX = "n1", "net."

Effect = Callable[[frozenset[str]], float]
"""Which knobs are on → the change of the logarithm of what is measured."""


@dataclass(frozen=True)
class SimulatedCampaign:
    """What is tried, and on what noise.

    Attributes
    ----------
    knobs
        Settings, a letter each.
    blocks
        None: as many as a campaign takes that is given no number.
    cv
        Standard deviation of the noise, on the logarithm.
    """

    knobs: str
    effect: Effect
    stream: Stream
    cv: float
    design: DesignName = "ablation"
    blocks: int | None = None


@dataclass(frozen=True)
class Held:
    """A campaign that was held, and its outcome as campaign.json has it."""

    told: CampaignState
    result: Mapping[str, Any]

    @property
    def settings(self) -> dict[str, Mapping[str, Any]]:
        """Knob → what the outcome says of it."""
        return {one["name"].removeprefix(PREFIX): one for one in self.result["settings"]}

    @property
    def claimed(self) -> dict[str, str]:
        """Knob → faster or slower, where that is claimed."""
        return {n: str(s["judgement"]) for n, s in self.settings.items() if s["judgement"] in ("faster", "slower")}

    @property
    def kept(self) -> dict[str, Mapping[str, Any]]:
        """Knob → its effect as kept.json has it."""
        return {one["name"].removeprefix(PREFIX): one["effect"] for one in self.result["kept"]}


def held(planned: SimulatedCampaign, random: np.random.Generator) -> Held:
    """One campaign, from the plan to what it keeps."""
    known = _catalogue(planned.knobs)
    readings = {NODE: {name: {"": {"value": 0}} for name in known}}
    selection = select(known, Criteria(Aim.LATENCY, dict.fromkeys(known, ())), readings)
    campaign = Campaign(
        Aim.LATENCY, (NODE,), selection, CampaignMetric("rtt", "s"), "a truth that is known", 0.1,
        blocks_wanted(planned.blocks, selection, ALPHA), int(random.integers(2**31)), design=planned.design,
    )  # fmt: skip
    node = _Node(dict.fromkeys(known, 0))
    main = sum(len(stage.steps) for stage in stages_of(campaign, known))
    lengths = {"main": main, "confirm": 2 * campaign.blocks, "estimate": (len(known) + 2) * campaign.blocks}
    measure = _Truth(node, planned, random, lengths)
    told = Conductor(campaign, known, node, measure, readings).run()
    return Held(told, result_object("selftest", campaign, known, told))


@cache
def _catalogue(knobs: str) -> Mapping[str, Setting]:
    """A setting for each letter, off at 0 and on at 1."""
    return {
        name: Setting.model_validate({
            "name": name, "title": name, "what": "", "why": "", "type": "int", "mechanism": "sysctl",
            "target": {"key": name}, "scope": "netns", "tested": "netns",
            "advice": {"latency": {"value": 1, "why": ""}},
        })
        for name in (f"{PREFIX}{letter}" for letter in knobs)
    }  # fmt: skip


@dataclass
class _Node:
    """A node that takes every value and gives it back."""

    values: dict[str, Any]
    taken_back: set[tuple[str, str, str]] = field(default_factory=set)
    _changed: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        return (NODE,)

    @property
    def on(self) -> frozenset[str]:
        """The knobs that are changed."""
        return frozenset(name.removeprefix(PREFIX) for name, value in self.values.items() if value)

    def read(self, wanted: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        return {NODE: {one["name"]: {"": {"value": self.values[one["name"]]}} for one in wanted}}

    def apply(self, asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
        return {node: [self._write(one) for one in some] for node, some in asked.items() if some}

    def _write(self, one: Mapping[str, Any]) -> dict[str, Any]:
        before = self._changed[one["name"]] = self.values[one["name"]]
        self.values[one["name"]] = one["value"]
        return {"name": one["name"], "place": "", "before": before, "after": one["value"], "outcome": "applied"}

    def revert(self) -> list[Leftover]:
        self.values |= self._changed
        self.taken_back = {(NODE, name, "") for name in self._changed}
        self._changed = {}
        return []

    def keep(self, names: Mapping[str, Sequence[str]]) -> None:
        self._changed = {name: before for name, before in self._changed.items() if name not in names[NODE]}

    def settle(self, names: Sequence[str]) -> None:
        """Its network always carries."""

    def renewing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def end(self) -> dict[str, str]:
        return {}


@dataclass
class _Truth:
    """What is measured: the planned effect of what the node has, times noise, drawn anew for each stage."""

    node: _Node
    planned: SimulatedCampaign
    random: np.random.Generator
    lengths: Mapping[str, int]
    _stage: str = ""
    _noise: Floats = field(default_factory=lambda: np.empty(0))
    _done: int = 0

    def __call__(self, about: Mapping[str, Param]) -> float:
        if about["stage"] != self._stage:
            self._stage, self._done = str(about["stage"]), 0
            self._noise = self.planned.cv * self.planned.stream.draw(self.random, self.lengths[self._stage])
        self._done += 1
        return 5e-5 * exp(self.planned.effect(self.node.on) + float(self._noise[self._done - 1]))
