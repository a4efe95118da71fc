"""Before and after in interleaved, randomised blocks: what switches between them, settings of nodes, links of a lab, or
networks that the nodes have.

All leave a `CampaignState`: how far it came, what could not be taken back, what to know.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from wulf.core.errors import LabError, UsageError
from wulf.lab import Lab, LabNode
from wulf.lab.emulation import OPTIONS, parse
from wulf.lab.rates import show as show_rate
from wulf.measure.engine.watcher import UNWATCHED, Progress, Watcher
from wulf.model.impact import AFTER, ARMS, BEFORE
from wulf.tune.campaign.arms import Arm, Stage, Step
from wulf.tune.values import Level
from wulf.workflow.tune.campaign import CampaignState, Conductor, Measure
from wulf.workflow.tune.nodes import Leftover

LEAST_BLOCKS, BLOCKS = 6, 8
"""Blocks in which a difference can be proven at 5 % if it wins each of them; and with two to spare."""


def stage_of(changes: Mapping[str, Level | None], blocks: int, seed: int) -> Stage:
    """Both arms once a block, in an order that is drawn anew for each.

    Raises
    ------
    UsageError
        Fewer blocks than could ever prove a difference.
    """
    if blocks < LEAST_BLOCKS:
        raise UsageError(f"{blocks} blocks can never prove a difference", f"--blocks {LEAST_BLOCKS} at least")
    random = np.random.default_rng([seed, 4])
    steps = tuple(Step(block, int(arm)) for block in range(blocks) for arm in random.permutation(len(ARMS)))
    return Stage("main", (Arm(BEFORE, "baseline", {}), Arm(AFTER, "combined", dict(changes))), steps)


class SettingsArms(Conductor):
    """A campaign of two arms: nothing changed, and all settings changed together; then everything is taken back."""

    def _all(self) -> None:
        self._canary()
        if not self._factors:
            said = "; ".join(
                f"{one.name}: {one.outcome.reason or 'has the value already'}" for one in self.told.findings
            )
            raise UsageError(f"none of the settings can be changed here ({said})", "`wulf tune NODESET` shows the plan")
        chosen = {factor.name: factor.levels[0] for factor in self._factors}
        stage = stage_of(chosen, self._campaign.blocks, self._campaign.seed)
        self._expected = len(stage.steps)
        self._try(stage.arms[1])
        self._measured(stage)


def parse_links(texts: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The options of both arms' links: `delay=200us` and `delay=20us,loss=0.1%`; one not named in an arm is none there.

    Raises
    ------
    UsageError
        There are not two, or an option is malformed.
    """
    if len(texts) != len(ARMS):
        raise UsageError(f"--links got {len(texts)} descriptions", "give two: --links delay=200us delay=20us")
    first, second = (_options(text) for text in texts)
    names = {**first, **second}
    both = tuple({name: one.get(name, "none") for name in names} for one in (first, second))
    if both[0] == both[1]:
        raise UsageError(f"both links are {texts[0]!r}", "name two that differ")
    return both[0], both[1]


def _options(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in re.split(r"[\s,]+", text.strip()):
        name, is_there, value = word.partition("=")
        if not is_there or name not in OPTIONS:
            raise UsageError(f"{word!r} describes no link", f"write NAME=VALUE, of {', '.join(OPTIONS)}: delay=20us")
        found[name] = value
    try:
        parse(found, "--links")
    except LabError as error:
        raise UsageError(error.what, error.next_step) from error
    return found


class Visits(ABC):
    """Both arms, visited in the order of a stage; in the end all is as it was."""

    def __init__(self, stage: Stage, clock: Callable[[], float], watch: Watcher) -> None:
        self._stage, self._clock, self._watch = stage, clock, watch
        self.told = CampaignState()

    @abstractmethod
    def switch(self, arm: str) -> None:
        """Make what is measured next that of an arm."""

    @abstractmethod
    def restore(self) -> None:
        """All as it was found."""

    def run(self, measure: Measure) -> CampaignState:
        """All steps; every way out restores, or says what is not as before."""
        began = self._clock()
        with self.told.accounted(self.restore):
            for number, step in enumerate(self._stage.steps):
                arm = self._stage.arms[step.arm].name
                self._report(number, f"block {step.block + 1}/{self._stage.blocks}: {arm}", self._clock() - began)
                self.switch(arm)
                measure({"stage": self._stage.name, "arm": arm, "block": step.block, **self._truth()})
        return self.told

    @abstractmethod
    def _truth(self) -> dict[str, str]:
        """What there is at this moment, for the records."""

    def _report(self, done: int, now: str, spent: float) -> None:
        left = spent / done * (len(self._stage.steps) - done) if done else None
        self._watch.on_progress(Progress(done, len(self._stage.steps), left, now))


class LinkArms(Visits):
    """The links of a lab's nodes, one way or the other; in the end as they were.

    Parameters
    ----------
    links
        What both arms' links do to frames, as `parse_links` has them.
    """

    def __init__(
        self, lab: Lab, nodes: Sequence[str], links: tuple[Mapping[str, str], Mapping[str, str]], stage: Stage, *,
        clock: Callable[[], float] = time.monotonic, watch: Watcher = UNWATCHED,
    ) -> None:  # fmt: skip
        super().__init__(stage, clock, watch)
        self._lab, self._links = lab, dict(zip(ARMS, links, strict=True))
        self._before = {node.name: node for node in lab.nodes if node.name in nodes}

    def switch(self, arm: str) -> None:
        """Make all links those of an arm."""
        for node in self._before:
            self._lab.set_link(node, self._links[arm])

    def restore(self) -> None:
        """Every link as it was found."""
        for node in self._before.values():
            try:
                _restore(self._lab, node)
            except LabError as error:
                self.told.leftovers.append(Leftover(node.name, "link", "", "unknown", error.what))

    def _truth(self) -> dict[str, str]:
        """What the lab itself says of its links at this moment."""
        return {f"link.{node.name}": node.emulation for node in self._lab.nodes if node.name in self._before}


class NetworkArms(Visits):
    """Two networks that the nodes have: nothing is changed on them, only what is measured next.

    Attributes
    ----------
    networks
        Arm → network, as CIDR.
    arm
        That is measured now.
    """

    def __init__(
        self, networks: tuple[str, str], stage: Stage, *,
        clock: Callable[[], float] = time.monotonic, watch: Watcher = UNWATCHED,
    ) -> None:  # fmt: skip
        super().__init__(stage, clock, watch)
        self.networks = dict(zip(ARMS, networks, strict=True))
        self.arm = BEFORE

    def switch(self, arm: str) -> None:
        """From here on the network of that arm."""
        self.arm = arm

    def restore(self) -> None:
        """Nothing was changed."""

    def _truth(self) -> dict[str, str]:
        return {"network": self.networks[self.arm]}


def _restore(lab: Lab, node: LabNode) -> None:
    if node.link is None:
        lab.set_link(node.name, {}, emulator="none")
        lab.set_rate(node.name, node.rate)
        return
    for side in ("out", "in"):
        known = {name: _text(name, value) for name, value in node.link[side].items()}
        lab.set_link(node.name, {name: known.get(name, "none") for name in OPTIONS}, direction=side)


def _text(name: str, value: float) -> str:
    """An option as people write it, from SI units."""
    if name == "rate":
        return show_rate(round(value))
    if name in ("queue", "mtu"):
        return str(int(value))
    return f"{value:.12f}s" if name in ("delay", "jitter", "moderate") else f"{100 * value:.12f}%"
