"""The facts of a node: every module of this package holds one topic of them in `topic`.

A new fact is a function in one of these modules; a new topic is a new module, found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wulf.agent.fact import Fact, Topic
from wulf.agent.importing import IMPORTING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wulf.agent.machine import Machine

__all__ = ["Fact", "all_facts", "find", "is_uniform", "read", "readings", "unmatched"]


@lru_cache(maxsize=1)
def _topics() -> tuple[Topic, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))  # works inside a zip, too
    with IMPORTING:
        return tuple(importlib.import_module(f"{__name__}.{name}").topic for name in names)


def all_facts() -> list[Fact]:
    """Every fact that this version can read, in the order of their topics."""
    return [fact for topic in _topics() for fact in topic.facts]


def find(name: str) -> Fact | None:
    """The fact that `name` ('nic.eth0.mtu') is an instance of, or None."""
    single, families = _by_name()
    return single.get(name) or next((fact for fact in families if fact.matches(name)), None)


@lru_cache(maxsize=1)
def _by_name() -> tuple[dict[str, Fact], list[Fact]]:
    """Facts that a node has once, and those of which it has one for each instance."""
    known = all_facts()
    return {fact.name: fact for fact in known if "*" not in fact.name}, [fact for fact in known if "*" in fact.name]


def is_uniform(name: str) -> bool:
    """Whether the nodes of a run should agree on the fact `name`; False for a name that this version does not know."""
    fact = find(name)
    return fact is not None and fact.uniform


def unmatched(prefixes: Sequence[str]) -> list[str]:
    """Those of the prefixes that no fact can match: misspelt ones."""
    return [prefix for prefix in prefixes if not any(_may_match(fact.name, prefix) for fact in all_facts())]


def _may_match(pattern: str, prefix: str) -> bool:
    """Whether an instance of `pattern` could lie under `prefix`; a `*` stands for one or more parts."""
    head, star, _ = pattern.partition("*")
    return _under(pattern, prefix) or (bool(star) and (_under(head.rstrip("."), prefix) or prefix.startswith(head)))


def _under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix.rstrip(".") + ".")


def read(machine: Machine, only: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Read a machine's facts.

    Parameters
    ----------
    machine
        The live node or a recorded tree.
    only
        Prefixes of names ('cpu', 'nic.eth0'); None reads all.

    Returns
    -------
    By name {"value": ..., "unit": ...?, "provenance": "reported"}, or {"value": None, "reason": ...}, with
    "absent": True where the node has no such thing (as against: could not be read).
    """

    def wanted(name: str) -> bool:
        return only is None or any(_under(name, prefix) for prefix in only)

    found: dict[str, dict[str, Any]] = {}
    for topic in _topics():
        found.update(topic.read(machine, wanted))
    return found


def readings(machine: Machine, fact: Fact) -> dict[str, dict[str, Any]]:
    """Every instance of one fact, by name, as `read` gives it."""
    found: dict[str, dict[str, Any]] = {}
    for topic in _topics():
        if topic.name == fact.name.partition(".")[0]:
            found.update(topic.read(machine, fact.matches))
    return found
