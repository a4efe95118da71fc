"""Which settings a campaign changes: what is recommended or named, less what can't or must not be changed here.

Settings that need or mask each other become one factor, whose levels are their values together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from wulf.tune.dependencies import together
from wulf.tune.setting import Advice, Aim, Setting, Value
from wulf.tune.values import Catalogue, Level, same, value_text

Places = Mapping[str, Mapping[str, Any]]
"""Place → reading, as the agent's `settings` answers."""

Readings = Mapping[str, Mapping[str, Places]]
"""Node → setting → place → reading."""

MOST_LEVELS = 8
"""Of one factor: settings that depend on each other multiply their values."""

SO_ALREADY = "is so already on every node"

OWN_IN_A_LAB = frozenset({"netns", "nic", "queue"})
"""Scopes that belong to a node even where it shares its machine with others."""

BY_NIC = frozenset({"nic", "queue", "irq"})


@dataclass(frozen=True)
class Factor:
    """One knob of the experiment.

    Attributes
    ----------
    members
        Its settings, in the order of writing; several where they depend on each other.
    levels
        What is tried; the first is what is tried where there is one only.
    inert
        The catalogue says that it has no effect on these kernels.
    """

    name: str
    members: tuple[str, ...]
    levels: tuple[Level, ...]
    inert: bool = False


@dataclass(frozen=True)
class Omitted:
    """A setting that the campaign leaves alone, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Selection:
    """What a campaign changes, what it does not, and what to know of it."""

    factors: tuple[Factor, ...]
    omitted: tuple[Omitted, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Criteria:
    """What was asked for.

    Attributes
    ----------
    named
        Settings by name, with the values to try (none: the recommended one); None: all that are recommended.
    shared
        The nodes share a machine: what belongs to that machine is nobody's to change.
    """

    aim: Aim
    named: Mapping[str, tuple[Value, ...]] | None = None
    shared: bool = False
    kernels: Collection[str] = field(default_factory=tuple)


def relevant(readings: Readings, catalogue: Catalogue, interfaces: Mapping[str, str]) -> dict[str, dict[str, Places]]:
    """Readings of what a change would touch: of a node's cards the one that carries the cluster's traffic alone.

    Parameters
    ----------
    interfaces
        Node → the interface that has the probes' address; one that is not known keeps all places.
    """
    kept: dict[str, dict[str, Places]] = {}
    for node, settings in readings.items():
        nic = interfaces.get(node)
        kept[node] = {
            name: places if nic is None or name not in catalogue or catalogue[name].scope not in BY_NIC
            else {place: found for place, found in places.items() if not place or nic_of(place) == nic}
            for name, places in settings.items()
        }  # fmt: skip
    return kept


def nic_of(place: str) -> str:
    """The interface of `eth0` or `rx-0 of eth0`."""
    return place.rpartition(" of ")[2]


def select(catalogue: Catalogue, criteria: Criteria, readings: Readings) -> Selection:
    """The factors of a campaign.

    Parameters
    ----------
    readings
        What the settings are now, `relevant` places alone.
    """
    named = criteria.named
    names = list(named) if named is not None else [n for n, s in catalogue.items() if _values(s, criteria)]
    reasons = {name: _against(catalogue[name], criteria, readings) for name in names}
    chosen = [name for name in names if not reasons[name]]
    factors, omitted = [], [Omitted(name, reason) for name, reason in reasons.items() if reason]
    for group in together(catalogue, chosen):
        levels = tuple(_levels(catalogue, criteria, group, readings))
        if levels:
            changed = tuple(name for name in group if any(name == one for level in levels for one, _ in level.writes))
            inert = all(is_inert(catalogue[name], criteria.kernels) for name in changed)
            factors.append(Factor(" + ".join(changed), changed, levels, inert))
            omitted += [Omitted(name, SO_ALREADY) for name in group if name not in changed]
        else:
            omitted += [Omitted(name, SO_ALREADY) for name in group]
    return Selection(tuple(factors), tuple(omitted), tuple(_notes(catalogue, factors, readings)))


def _values(setting: Setting, criteria: Criteria) -> tuple[Value, ...]:
    """What to try: named values, else the recommended ones."""
    named = (criteria.named or {}).get(setting.name, ())
    advice = setting.advice.get(criteria.aim, Advice(why=""))
    return named or advice.sweep or (() if advice.value is None else (advice.value,))


def _against(setting: Setting, criteria: Criteria, readings: Readings) -> str:
    """Why a setting is not changed; empty where nothing speaks against it."""
    return next(
        filter(None, (_by_nature(setting), _by_caution(setting, criteria), _by_state(setting, criteria, readings))), ""
    )


def _by_nature(setting: Setting) -> str:
    if setting.mechanism == "advice" or setting.scope in ("switch", "firmware"):
        return "only a person can change it"
    if setting.scope == "job":
        return "belongs to a job's launch, not to a node"
    if setting.access == "report":
        return "is shown by an audit, never changed by wulf"
    return "takes effect only after a reboot: not done here" if setting.reboot else ""


def _by_caution(setting: Setting, criteria: Criteria) -> str:
    if criteria.shared and (setting.scope not in OWN_IN_A_LAB or setting.global_in_netns):
        return "would change the machine that these nodes share"
    if criteria.named is None and setting.security == "weakens":
        return "weakens security: changed only where --settings names it"
    if criteria.named is None and setting.confounds:
        return "changes what all others do: tried only where --settings names it"
    if criteria.named is None and is_inert(setting, criteria.kernels):
        return f"has no effect since Linux {setting.kernels.inert_since}"
    return ""


def _by_state(setting: Setting, criteria: Criteria, readings: Readings) -> str:
    if not _values(setting, criteria):
        return f"no value is recommended for {criteria.aim}: name one, {setting.name}=VALUE"
    found = [reading for node in readings.values() for reading in node.get(setting.name, {}).values()]
    if any(reading.get("value") is not None for reading in found):
        return ""
    return next((str(r["reason"]) for r in found if r.get("reason")), "can't be read on any node")


def is_inert(setting: Setting, kernels: Collection[str]) -> bool:
    """Whether it can be written and has no effect, on every node's kernel."""
    since = setting.kernels.inert_since
    return bool(since and kernels) and all(version(kernel) >= version(since or "") for kernel in kernels)


def version(release: str) -> tuple[int, ...]:
    """`6.1.0-18-amd64` as (6, 1)."""
    parts = release.split("-", maxsplit=1)[0].split(".")[:2]
    return tuple(int(part) for part in parts if part.isdigit())


def _levels(catalogue: Catalogue, criteria: Criteria, group: Sequence[str], readings: Readings) -> list[Level]:
    """All values of a group together that change something, and in which no change is masked."""
    now = {name: _now(readings, name) for name in group}
    alone = len(group) == 1
    choices = [
        [*([] if alone else now[name]), *_new(_values(catalogue[name], criteria), now[name], alone)] for name in group
    ]
    found = []
    for values in product(*choices):
        wanted = dict(zip(group, values, strict=True))
        changed = {name: value for name, value in wanted.items() if not _is_so(now[name], value)}
        if changed and not any(_masked(catalogue[name], wanted) for name in changed):
            found.append(Level(tuple(changed.items())))
    return sorted(found, key=lambda level: -len(level.writes))[:MOST_LEVELS]


def _new(values: Sequence[Value], now: Sequence[Any], alone: bool) -> list[Value]:
    return [value for value in values if alone or not any(same(value, one) for one in now)]


def _now(readings: Readings, name: str) -> list[Any]:
    """The values that it has, on any node, each once."""
    found: list[Any] = []
    for node in readings.values():
        for reading in node.get(name, {}).values():
            value = reading.get("value")
            if value is not None and not any(same(value, one) for one in found):
                found.append(value)
    return found


def _is_so(now: Sequence[Any], value: Any) -> bool:
    return len(now) == 1 and same(now[0], value)


def _masked(setting: Setting, values: Mapping[str, Any]) -> bool:
    return any(name in values and same(values[name], value) for name, value in setting.masked_by.items())


def _notes(catalogue: Catalogue, factors: Sequence[Factor], readings: Readings) -> Iterator[str]:
    """What masks a chosen setting and was not chosen, and what else a change does."""
    chosen = {name for factor in factors for name in factor.members}
    for name in sorted(chosen):
        for other, value in catalogue[name].masked_by.items():
            if other not in chosen and any(same(value, now) for now in _now(readings, other)):
                yield f"{name} has no effect while {other} is {value_text(catalogue[other], value)}: name both"
        if catalogue[name].side_effects:
            yield f"{name}: {catalogue[name].side_effects}"
