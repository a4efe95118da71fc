"""What is to be said of settings: pure, from readings, the catalogue and an aim.

Nodes in the same state are told of together from the start, so that a thousand alike nodes cost little more than one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from wulf.tune.readings import Reading, Readings, shown
from wulf.tune.setting import Advice, Aim, Setting
from wulf.tune.values import same


class Mark(StrEnum):
    """What is remarkable about a state."""

    RANGE = "range"
    """The value is none that the catalogue allows."""
    ODD = "odd"
    """Unlike most nodes of its role."""
    SPLIT = "split"
    """The nodes of the role differ, and none of their values has a majority."""
    STARTUP = "startup"
    """A reboot would change it."""
    ADVICE = "advice"
    """Not what is recommended for the aim."""
    INERT = "inert"
    """The kernel takes it, and nothing comes of it."""
    MASKED = "masked"
    """Another setting keeps it from having an effect."""
    UNKNOWN = "unknown"
    """It could not be read."""
    ABSENT = "absent"
    """The node has no such thing."""


DEVIATIONS = frozenset({Mark.RANGE, Mark.ODD, Mark.SPLIT, Mark.STARTUP})
"""What is wrong whatever the aim is."""


@dataclass(frozen=True)
class State:
    """One setting as it is on some nodes of a role.

    Attributes
    ----------
    places
        Where on these nodes: ('',) for the node itself, ('eth0',), ('cpu0', 'cpu1').
    value, startup
        None where not known; then `reason` and `startup_reason` say why.
    masked_by
        What keeps it from having an effect, in words.
    usual
        What most others have, where the state is odd.
    """

    setting: Setting
    role: str
    places: tuple[str, ...]
    nodes: tuple[str, ...]
    value: Any
    reason: str
    startup: Any
    startup_reason: str
    masked_by: str
    marks: frozenset[Mark]
    usual: Any = None

    @property
    def deviates(self) -> bool:
        """Whether it is wrong whatever the aim is."""
        return bool(self.marks & DEVIATIONS)


class _Key(NamedTuple):
    """What nodes in one state have in common; values as `_key` has them."""

    role: str
    place: str
    value: Any
    startup: Any
    reason: str
    startup_reason: str
    absent: bool
    inert: bool
    masked: str


@dataclass
class _Group:
    nodes: list[str] = field(default_factory=list)
    value: Any = None
    startup: Any = None


def audit(
    settings: Iterable[Setting], readings: Readings, roles: Mapping[str, str], aim: Aim, kernels: Mapping[str, str]
) -> list[State]:
    """The states of all settings, in the settings' order; those with most nodes first.

    Parameters
    ----------
    roles
        Node → role: nodes of one role should be alike.
    kernels
        Node → release of its kernel ("6.1.0-18-amd64"); '' where it is not known.
    """
    return [state for setting in settings for state in _states(setting, readings, roles, aim, kernels)]


def _states(
    setting: Setting, readings: Readings, roles: Mapping[str, str], aim: Aim, kernels: Mapping[str, str]
) -> list[State]:
    groups: dict[_Key, _Group] = defaultdict(_Group)
    for node, own in readings.items():
        inert = is_inert(setting, kernels.get(node, ""))
        for place, reading in own.get(setting.name, {}).items():
            masked = mask(setting, own, place) if setting.masked_by else ""
            group = groups[_key(roles.get(node, ""), place, reading, inert, masked)]
            group.nodes.append(node)
            group.value, group.startup = reading.get("value"), reading.get("startup")
    usual = _majorities(setting, groups) if setting.uniform else {}
    judged = [_judge(setting, key, group, usual, aim) for key, group in groups.items()]
    return sorted(_joined(judged), key=lambda state: (state.role, -len(state.nodes)))


def _key(role: str, place: str, reading: Reading, inert: bool, masked: str) -> _Key:
    get = reading.get
    return _Key(
        role, place, _plain(get("value")), _plain(get("startup")), get("reason", ""), get("startup_reason", ""),
        bool(get("absent")), inert, masked,
    )  # fmt: skip


def _plain(value: Any) -> Any:
    """Something that can be a key: equal where values are."""
    return json.dumps(value, sort_keys=True) if isinstance(value, (list, dict)) else value


def is_inert(setting: Setting, kernel: str) -> bool:
    """Whether the setting has no effect on this release of Linux ("6.1.0-18-amd64"); not told where it is not known."""
    since = setting.kernels.inert_since
    return since is not None and bool(kernel) and version(kernel) >= version(since)


def version(text: str) -> tuple[int, ...]:
    """The first two numbers of a release: '6.1.0-18-amd64' is (6, 1)."""
    parts = text.replace("-", ".").split(".")[:2]
    return tuple(int(part) if part.isdecimal() else 0 for part in parts)


def mask(setting: Setting, own: Mapping[str, Mapping[str, Reading]], place: str) -> str:
    """What keeps a setting from having an effect there, in words; empty for nothing.

    Parameters
    ----------
    own
        Setting → place → reading, of the node.
    place
        The same place of the other setting counts; where it has none of that name, the whole node.
    """
    for name, value in setting.masked_by.items():
        places = own.get(name, {})
        reading = places.get(place) or places.get("") or {}
        if reading.get("value") is not None and same(reading["value"], value):
            return f"{name} = {shown(value)}"
    return ""


def _voters(setting: Setting, key: _Key) -> tuple[str, str]:
    """Who votes together: CPUs of a role all together, other places each with its like on other nodes."""
    return (key.role, "" if setting.scope == "cpu" else key.place)


def _majorities(setting: Setting, groups: Mapping[_Key, _Group]) -> dict[tuple[str, str], tuple[bool, Any]]:
    """Voters → whether more than half agree, and on what; only where not all do. Who can't tell does not vote."""
    votes: dict[tuple[str, str], Counter[Any]] = defaultdict(Counter)
    for key, group in groups.items():
        if key.value is not None or key.absent:
            votes[_voters(setting, key)][key.value] += len(group.nodes)
    found = {}
    for voters, counts in votes.items():
        if len(counts) > 1:
            winner, count = counts.most_common(1)[0]
            found[voters] = (2 * count > counts.total(), winner)
    return found


def _judge(
    setting: Setting, key: _Key, group: _Group, majorities: Mapping[tuple[str, str], tuple[bool, Any]], aim: Aim
) -> State:
    marks, usual = set(_own_marks(setting, key, group, aim)), None
    votes = key.value is not None or key.absent
    if votes and (found := majorities.get(_voters(setting, key))):
        decided, usual = found
        if not decided:
            marks.add(Mark.SPLIT)
        elif usual != key.value:
            marks.add(Mark.ODD)
    return State(
        setting, key.role, (key.place,), tuple(group.nodes), group.value, key.reason, group.startup,
        key.startup_reason, key.masked, frozenset(marks), usual if Mark.ODD in marks else None,
    )  # fmt: skip


def _own_marks(setting: Setting, key: _Key, group: _Group, aim: Aim) -> Iterator[Mark]:
    """What can be told of a state without looking at others."""
    if group.value is None:
        yield Mark.ABSENT if key.absent else Mark.UNKNOWN
        return
    if not allowed(setting, group.value):
        yield Mark.RANGE
    if key.inert:
        yield Mark.INERT
    elif key.masked:
        yield Mark.MASKED
    if key.startup is not None and not same(group.value, group.startup):
        yield Mark.STARTUP
    advised = advice(setting, aim)
    effective = not (key.inert or key.masked)
    if effective and advised and advised.value is not None and not same(group.value, advised.value):
        yield Mark.ADVICE


def advice(setting: Setting, aim: Aim) -> Advice | None:
    """What is recommended of it for the aim; None where nothing is."""
    return setting.advice.get(aim)


def allowed(setting: Setting, value: Any) -> bool:
    """Whether the catalogue knows such a value: within its limits, one of its choices, or a mode of its own."""
    if any(same(value, special.value) for special in setting.special):
        return True
    if setting.choices:
        return any(same(value, choice) for choice in setting.choices)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return True
    return not (setting.low is not None and value < setting.low) and not (
        setting.high is not None and value > setting.high
    )


def _joined(states: Sequence[State]) -> list[State]:
    """States that differ in the place alone become one: 128 CPUs are one line."""
    places: dict[tuple[Any, ...], list[State]] = defaultdict(list)
    for state in states:
        own = (state.role, state.nodes, _plain(state.value), _plain(state.startup), state.reason)
        places[*own, state.startup_reason, state.masked_by, state.marks, _plain(state.usual)].append(state)
    return [
        State(**{**vars(same_state[0]), "places": tuple(state.places[0] for state in same_state)})
        for same_state in places.values()
    ]
