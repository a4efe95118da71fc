"""Whether nodes still have what a campaign kept: readings against kept settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wulf.tune.kept import Kept
from wulf.tune.setting import Setting
from wulf.tune.values import same

NOT_OF_A_NODE = {
    "job": "it is given to each job when that starts, and is nowhere on the node",
    "advice": "only a person can see it",
}
"""Mechanisms of which a node says nothing."""


class State(StrEnum):
    """What became of a kept setting."""

    THERE = "there"
    DIFFERS = "differs"
    UNREADABLE = "unreadable"
    ELSEWHERE = "not of the node"


@dataclass(frozen=True)
class Checked:
    """One setting of one node."""

    node: str
    name: str
    place: str
    kept: Any
    now: Any
    state: State
    reason: str = ""
    """Why there is no value; or what will be after the next start, where that is known to differ."""


def requests(kept: Iterable[Kept], catalogue: Mapping[str, Setting]) -> list[dict[str, Any]]:
    """What to ask an agent: {"name", "mechanism", "target"} of each setting that is of a node."""
    first: dict[str, Kept] = {}
    for each in kept:
        first.setdefault(each.name, each)
    found = [(catalogue[name], each) for name, each in first.items()]
    return [
        {"name": setting.name, "mechanism": setting.mechanism, "target": _target(setting, each)}
        for setting, each in found
        if setting.mechanism not in NOT_OF_A_NODE
    ]


def _target(setting: Setting, kept: Kept) -> dict[str, Any]:
    """A bypass of the packet filter is kept as its networks; asked for these, a node answers whether it has them."""
    named = _named(setting.mechanism, kept)
    return {**setting.target, "networks": named} if named else dict(setting.target)


def _named(mechanism: str, kept: Kept) -> list[str]:
    return kept.value.split() if mechanism == "nftables" and isinstance(kept.value, str) else []


def verified(
    node: str, kept: Iterable[Kept], readings: Mapping[str, Mapping[str, Any]], catalogue: Mapping[str, Setting]
) -> list[Checked]:
    """Of one node: each kept setting against what the agent read."""
    return [_checked(node, each, readings, catalogue[each.name].mechanism) for each in kept]


def _checked(node: str, kept: Kept, readings: Mapping[str, Mapping[str, Any]], mechanism: str) -> Checked:
    told = (node, kept.name, kept.place, kept.value)
    if mechanism in NOT_OF_A_NODE:
        return Checked(*told, None, State.ELSEWHERE, NOT_OF_A_NODE[mechanism])
    places = readings.get(kept.name, {})
    reading = places.get(kept.place)
    if reading is None:
        whole = places.get("", {})
        return Checked(*told, None, State.UNREADABLE, whole.get("reason", f"the node has no {kept.place}"))
    now = reading.get("value")
    startup = reading.get("startup")
    if now is None:
        said = "" if startup is None else f"; a start gives it {startup}"
        return Checked(*told, None, State.UNREADABLE, reading.get("reason", "no value") + said)
    wanted = True if _named(mechanism, kept) else kept.value
    if not same(wanted, now):
        return Checked(*told, now, State.DIFFERS)
    passing = "" if startup is None or same(wanted, startup) else f"the next start makes it {startup}"
    return Checked(*told, now, State.THERE, passing)
