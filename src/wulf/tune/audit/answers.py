"""What the checklist's questions are asked of, and what an answer is; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wulf.tune.readings import Places, Reading
from wulf.tune.setting import Setting

Facts = Mapping[str, Mapping[str, Any]]


class Answer(StrEnum):
    """To a question of the checklist."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Said:
    """An answer, and what it stands on."""

    answer: Answer
    evidence: str


@dataclass(frozen=True)
class Node:
    """What is known of a node.

    Attributes
    ----------
    interfaces
        Those that carry the cluster's traffic.
    own
        Setting → place → reading.
    settings
        The catalogue.
    addresses
        The node's own in the cluster's network, where known.
    date
        The day of the audit, '2026-11-28'; '' where it is not known.
    """

    facts: Facts
    interfaces: Sequence[str]
    own: Mapping[str, Places]
    settings: Mapping[str, Setting]
    addresses: Sequence[str] = ()
    date: str = ""

    def fact(self, name: str) -> tuple[Any, str]:
        """A fact's value, and why there is none."""
        fact = self.facts.get(name, {})
        return fact.get("value"), str(fact.get("reason") or f"the node does not report {name}")

    def of(self, mechanism: str, **target: Any) -> Iterator[tuple[str, Reading]]:
        """Readings of the settings with that mechanism and these words in its target, with the setting's name."""
        for name, setting in self.settings.items():
            if setting.mechanism == mechanism and all(setting.target.get(key) == word for key, word in target.items()):
                yield from ((name, reading) for reading in self.own.get(name, {}).values())


def together(parts: Sequence[Said], nothing: str) -> Said:
    """No where one part says no, else unknown where one does, else yes; with the evidence of those that decide."""
    for answer in (Answer.NO, Answer.UNKNOWN, Answer.YES):
        deciding = [part.evidence for part in parts if part.answer is answer]
        if deciding:
            return Said(answer, "; ".join(dict.fromkeys(deciding)))
    return Said(Answer.UNKNOWN, nothing)


OFF_WORDS = frozenset({"", "off", "none", "no", "inactive", "disabled", "masked", "stopped", "static", "failed"})


def is_on(value: Any) -> bool:
    return value.lower() not in OFF_WORDS if isinstance(value, str) else bool(value)


def switch(
    readings: Iterable[tuple[str, Reading]], which: str, nothing: str = "not asked", *, absent: bool | None = False
) -> tuple[bool | None, str]:
    """Whether any reading is on; None, with the reason, where none is on and one is not known, or there is none.

    Parameters
    ----------
    which
        'value', or 'startup'.
    absent
        What it means that the node has no such thing: that it is off, or (None) nothing.
    """
    known: list[bool] = []
    reason = ""
    for _, reading in readings:
        value = reading.get(which)
        if value is not None:
            known.append(is_on(value))
        elif reading.get("absent") and absent is not None:
            known.append(absent)
        else:
            own = reading.get("startup_reason") if which == "startup" and "startup_reason" in reading else None
            reason = str(own or reading.get("reason") or reason)
    if any(known):
        return True, ""
    return (False, "") if known and not reason else (None, reason or nothing)


def service(node: Node, unit: str, which: str) -> list[tuple[str, Reading]]:
    """Readings of whether a service runs, and at start-up whether it is enabled; with or without '.service'."""
    readings = [*node.of("service", unit=unit), *node.of("service", unit=f"{unit}.service")]
    active = [(n, r) for n, r in readings if node.settings[n].target.get("what", "active") == "active"]
    told = [(n, r) for n, r in active if r.get(which) is not None or r.get("absent")]
    return told or (readings if which == "startup" else active)
