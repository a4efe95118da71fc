"""A campaign as it is planned: what it changes, its arms and their order, its time and its risks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.core.errors import UsageError
from wulf.tune.campaign.arms import DesignName, Stage, blocks_for, check_blocks, design_of, main_stage, sweep_stage
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.campaign.selecting import Factor, Places, Readings, Selection
from wulf.tune.setting import Aim
from wulf.tune.values import Catalogue, Level, level_text, same, value_text

CHANGE_SECONDS = 2.0
"""What one change costs, for the estimate: two sessions over ssh a node, the writes, and taking them back."""

CONFIRM_SECONDS, LEASE_SECONDS = 30.0, 120.0
"""A node takes a change back that is not confirmed, or whose controller is silent, for so long."""


def lease_of(confirm: float) -> float:
    """Seconds that a controller may be silent, where nodes wait so long for its confirmation."""
    return LEASE_SECONDS / CONFIRM_SECONDS * confirm


ALPHA, DELTA = 0.05, 0.01


@dataclass(frozen=True)
class Campaign:
    """What is to be done.

    Attributes
    ----------
    nodes
        The first is the canary: every change is tried there alone before the others see it.
    measured
        What is measured, in words.
    visit_seconds
        How long one measurement takes, about.
    blocks
        How often every arm is measured.
    keep
        Whether what is proven faster stays.
    """

    aim: Aim
    nodes: tuple[str, ...]
    selection: Selection
    metric: CampaignMetric
    measured: str
    visit_seconds: float
    blocks: int
    seed: int
    design: DesignName = "auto"
    keep: bool = True
    alpha: float = ALPHA
    delta: float = DELTA
    confirm: float = CONFIRM_SECONDS
    lease: float = LEASE_SECONDS

    @property
    def canary(self) -> str:
        """The node on which every change is tried first."""
        return self.nodes[0]


def blocks_wanted(given: int | None, selection: Selection, alpha: float, *, quick: bool = False) -> int:
    """How often every arm is measured: as given, else so often that every setting can be proven.

    Raises
    ------
    UsageError
        Fewer than could ever prove anything.
    """
    claims = len(selection.factors)
    blocks = given if given is not None else blocks_for(claims, alpha) - (2 if quick else 0)
    check_blocks(blocks, claims, alpha)
    return blocks


def stages_of(campaign: Campaign, catalogue: Catalogue) -> list[Stage]:
    """The stages as far as they are known beforehand: of what is swept the first value stands for the best."""
    factors = campaign.selection.factors
    if not factors:
        return []
    texts = texts_of(factors, catalogue)
    first = {factor.name: factor.levels[0] for factor in factors}
    blocks, seed = campaign.blocks, campaign.seed
    swept = sweep_stage(factors, texts, blocks, seed)
    main = main_stage(factors, first, texts, blocks=blocks, seed=seed, design=campaign.design)
    return [*([swept] if swept else []), main]


def texts_of(factors: Sequence[Factor], catalogue: Catalogue) -> dict[Level, str]:
    """What people call every value that is tried."""
    return {level: level_text(catalogue, level) for factor in factors for level in factor.levels}


def seconds_of(campaign: Campaign, stages: Sequence[Stage]) -> float:
    """About how long it takes: canary, stages, confirmation."""
    steps = [stage.arms[step.arm] for stage in stages for step in stage.steps]
    canary = 1 + sum(len(factor.levels) for factor in campaign.selection.factors)
    visits = len(steps) + fresh_visits(campaign)
    changes = canary + sum(bool(arm.writes) for arm in steps) + fresh_visits(campaign) // 2
    return visits * campaign.visit_seconds + changes * CHANGE_SECONDS


def fresh_visits(campaign: Campaign) -> int:
    """Measurements that confirm one setting, and then say what it is worth; each further one needs an arm more."""
    return 4 * campaign.blocks


@dataclass(frozen=True)
class Planned:
    """One setting of the plan: what it is now, on which nodes and places, and what it would become."""

    name: str
    title: str
    now: tuple[tuple[str, str], ...]
    """(value, where it has that)."""
    to: tuple[str, ...]


def planned_settings(campaign: Campaign, catalogue: Catalogue, readings: Readings) -> list[Planned]:
    """What each setting is now, and what is tried."""
    found = []
    for factor in campaign.selection.factors:
        for name in factor.members:
            values: list[Any] = []
            for level in factor.levels:
                values += [v for n, v in level.writes if n == name and not any(same(v, one) for one in values)]
            if values:
                to = tuple(value_text(catalogue[name], value) for value in values)
                found.append(Planned(name, catalogue[name].title, tuple(_where(name, catalogue, readings)), to))
    return found


def _where(name: str, catalogue: Catalogue, readings: Readings) -> Iterator[tuple[str, str]]:
    """Each value with the nodes and places that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for node, settings in readings.items():
        for place, reading in settings.get(name, {}).items():
            if reading.get("value") is not None:
                found.setdefault((value_text(catalogue[name], reading["value"]), place), []).append(node)
    for (value, place), nodes in found.items():
        yield value, " on ".join(filter(None, (place, folded(nodes))))


def folded(nodes: Sequence[str]) -> str:
    """`n[1-4]`."""
    from ClusterShell.NodeSet import NodeSet

    return str(NodeSet.fromlist(nodes))


def risks(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """What may go wrong, or is to be known, before any of it is done."""
    members = [name for factor in campaign.selection.factors for name in factor.members]
    flaps = [name for name in members if catalogue[name].flap]
    weaker = [name for name in members if catalogue[name].security == "weakens"]
    machine = [name for name in members if catalogue[name].global_in_netns or catalogue[name].scope in ("cpu", "host")]
    said = []
    if flaps:
        said.append(f"The link goes down for a moment at each change: {', '.join(flaps)}.")
    if weaker:
        said.append(f"Weakens security while it is measured, and afterwards where it is kept: {', '.join(weaker)}.")
    if machine:
        said.append(f"Holds for the whole machine, not for the cluster's traffic alone: {', '.join(machine)}.")
    said.append(
        f"Each change is tried on {campaign.canary} first. A node that does not get a confirmation over a new session "
        f"within {campaign.confirm:g} s, or hears nothing for {campaign.lease:g} s, takes its changes back by itself."
    )
    said.append("Jobs that run on these nodes meanwhile are slowed, and disturb what is measured: drain them first.")
    return said


def journalled(settings: Sequence[Planned]) -> list[str]:
    """What every node writes down before it writes anything."""
    return [f"{one.name}: {value} at {where or 'the node'}" for one in settings for value, where in one.now]


def change_of(
    writes: Sequence[tuple[str, Any]], places: Mapping[str, Places], catalogue: Catalogue, inert: Collection[str] = ()
) -> list[dict[str, Any]]:
    """What a node is asked to write, in order: only where the value is another one now.

    Parameters
    ----------
    places
        Setting → place → reading: what the node has now.
    inert
        Settings that have no effect on this kernel, so that the node says so.
    """
    asked = []
    for name, value in writes:
        for place, reading in places.get(name, {}).items():
            now = reading.get("value")
            if now is not None and not same(now, value):
                change = {"name": name, **_how(name, catalogue), "place": place, "value": value}
                resets = list(_resets(name, places, catalogue))
                asked.append(
                    change | ({"resets": resets} if resets else {}) | ({"inert": True} if name in inert else {})
                )
    return asked


def _how(name: str, catalogue: Catalogue) -> dict[str, Any]:
    return {"mechanism": catalogue[name].mechanism, "target": dict(catalogue[name].target)}


def _resets(name: str, places: Mapping[str, Places], catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """What a change of this setting sets anew, where the node has it: to be saved and restored with it."""
    for other in catalogue[name].resets:
        if other in catalogue:
            for place, reading in places.get(other, {}).items():
                if reading.get("value") is not None:
                    yield {"name": other, **_how(other, catalogue), "place": place}


def check_design(campaign: Campaign) -> None:
    """Refuse what can't be measured, before anything is.

    Raises
    ------
    UsageError
        There is nothing to change, or no such design.
    """
    factors = campaign.selection.factors
    if not factors:
        why = "; ".join(f"{one.name}: {one.reason}" for one in campaign.selection.omitted[:6])
        raise UsageError(
            f"there is nothing to change for {campaign.aim} on {folded(campaign.nodes)}: {why}",
            "name settings with --settings NAME=VALUE",
        )
    design_of([factor.name for factor in factors], campaign.design)
