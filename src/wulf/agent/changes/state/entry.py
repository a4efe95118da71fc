"""One write of a setting, as the journal tells it: what was before, what was asked, what came of it, its undoing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Key = tuple[str, str, str]
"""Mechanism, target and place: two settings of one key are one."""


def key_of(setting: Mapping[str, Any]) -> Key:
    """What a setting is, whatever it is called."""
    return setting["mechanism"], json.dumps(setting["target"], sort_keys=True), setting["place"]


@dataclass
class Entry:
    """A write. It is open while it may still have to be undone.

    Parameters
    ----------
    number
        Of its line in the journal: writes happened in this order.
    before, asked
        Values.
    identity
        What told the place from a later one of its name.
    resets
        Settings that the write sets anew: {name, mechanism, target, place, before} each.
    outcome
        How the write ended; None: the process ended first, so that nobody knows whether it happened.
    after
        What was read back; None where it could not be read.
    plan
        Its undoing has begun, and this is what the settings that it resets were to be: {name, …, value} each.
    undone
        How its undoing ended.
    kept
        The controller wants it to stay, whatever becomes of itself.
    """

    number: int
    campaign: str
    change: int
    name: str
    mechanism: str
    target: dict[str, Any]
    place: str
    identity: str
    boot: str
    before: Any
    asked: Any
    resets: list[dict[str, Any]]
    outcome: str | None = None
    after: Any = None
    plan: list[dict[str, Any]] | None = None
    undone: dict[str, Any] | None = None
    kept: bool = False
    closed: bool = False

    @property
    def key(self) -> Key:
        return self.mechanism, json.dumps(self.target, sort_keys=True), self.place

    @property
    def open(self) -> bool:
        """Whether it may still have to be undone."""
        return not self.closed

    def shown(self) -> dict[str, Any]:
        """What a status says of it."""
        told = ("campaign", "change", "name", "place", "before", "asked", "after", "outcome", "kept", "undone")
        return {word: getattr(self, word) for word in told}
