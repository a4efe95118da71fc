"""What changed since a baseline was saved: pure, from two sets of readings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wulf.tune.readings import Reading, Readings
from wulf.tune.setting import Setting
from wulf.tune.values import same


@dataclass(frozen=True)
class SettingDrift:
    """The same change on some nodes.

    Attributes
    ----------
    what
        'value', or 'startup': what a reboot would give.
    before, now
        None where there was, or is, no such thing.
    """

    setting: Setting
    what: str
    before: Any
    now: Any
    places: tuple[str, ...]
    nodes: tuple[str, ...]


def changes(settings: Iterable[Setting], before: Readings, now: Readings) -> list[SettingDrift]:
    """All that changed on nodes of which both know, in the settings' order.

    Counters (settings that are only reported, and may differ between nodes) change all the time, and are left out. What
    could not be read, then or now, is not known to have changed.
    """
    nodes = [node for node in now if node in before]
    return [change for setting in settings for change in _changes(setting, nodes, before, now)]


def _changes(setting: Setting, nodes: Iterable[str], before: Readings, now: Readings) -> Iterator[SettingDrift]:
    if setting.access == "report" and not setting.uniform:
        return
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    known: dict[str, tuple[str, Any, Any]] = {}
    for node in nodes:
        old, new = before[node].get(setting.name, {}), now[node].get(setting.name, {})
        for place in dict.fromkeys([*old, *new]) if old else ():  # no old one: the baseline is older than the entry
            changed = _changed(old.get(place, _GONE), new.get(place, _GONE))
            if changed:
                known[repr(changed)] = changed
                found[repr(changed), place].append(node)
    joined: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (key, place), on in found.items():
        joined[key, tuple(on)].append(place)
    for (key, same_nodes), places in joined.items():
        what, was, is_now = known[key]
        yield SettingDrift(setting, what, was, is_now, tuple(places), same_nodes)


_GONE: Mapping[str, Any] = {"value": None, "absent": True}


def _changed(old: Reading, new: Reading) -> tuple[str, Any, Any] | None:
    """What changed between two readings of one setting at one place; None for nothing that is known of."""
    if _known(old) and _known(new) and not _alike(old.get("value"), new.get("value")):
        return "value", old.get("value"), new.get("value")
    if "startup" in old and "startup" in new and not _alike(old["startup"], new["startup"]):
        return "startup", old["startup"], new["startup"]
    return None


def _known(reading: Reading) -> bool:
    return reading.get("value") is not None or bool(reading.get("absent"))


def _alike(one: Any, other: Any) -> bool:
    return one is other if one is None or other is None else same(one, other)


def unlike(before: Iterable[str], now: Iterable[str]) -> tuple[list[str], list[str]]:
    """Nodes that only the baseline has, and nodes that it lacks."""
    old, new = set(before), set(now)
    return sorted(old - new), sorted(new - old)
