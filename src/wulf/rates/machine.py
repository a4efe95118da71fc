"""Whose rates they are: the facts of hardware and kernel that must be equal for a rate to hold, and their digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

FACTS = (
    "cpu.microcode",
    "cpu.model",
    "cpu.online",
    "cpu.stepping",
    "kernel.architecture",
    "kernel.parameters",
    "kernel.release",
    "kernel.version",
    "memory.size",
)
"""Facts of the agent. Settings that change at run time (governor, THP) are not among them: the refresh sees those."""

Identity = dict[str, str]
"""Fact → its value as text; facts that could not be read are left out."""


def identity(facts: Mapping[str, Mapping[str, Any]]) -> Identity:
    """What identifies a machine, of its facts as a run's fingerprint.json holds them."""
    values = {name: facts.get(name, {}).get("value") for name in FACTS}
    return {name: str(value) for name, value in values.items() if value is not None}


def read_identity(machine: Machine | None = None) -> Identity:
    """Read the identity of this machine, or of a recorded tree, from /proc and /sys."""
    from wulf.agent.facts import cpu, kernel, memory
    from wulf.agent.machine import Machine

    facts: dict[str, Any] = {}
    with machine or Machine() as read:
        for topic in (cpu.topic, kernel.topic, memory.topic):
            facts |= topic.read(read, FACTS.__contains__)
    return identity(facts)


def digest(known: Identity) -> str:
    """Sixteen hex digits of SHA-256 over the identity: equal machines, equal digests."""
    return hashlib.sha256(json.dumps(known, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def differences(published: Identity, here: Identity) -> list[str]:
    """What differs, for a person: "kernel.release was 6.1.0, is 6.2.0".

    A fact that one side could not read says nothing: in a container some can't be read.
    """
    both = [name for name in FACTS if name in published and name in here]
    return [f"{name} was {published[name]}, is {here[name]}" for name in both if published[name] != here[name]]
