"""Nodes that keep the change protocol in memory, and a measurement whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import exp
from typing import Any

import numpy as np

from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError
from wulf.tune.setting import Setting

Key = tuple[str, str]


def setting(name: str, **fields: Any) -> Setting:
    content: dict[str, Any] = {
        "name": name, "title": name, "what": "", "why": "", "type": "int", "mechanism": "sysctl",
        "target": {"key": name}, "scope": "netns", "tested": "netns",
        "advice": {"latency": {"value": 1, "why": ""}},
    }  # fmt: skip
    return Setting.model_validate({**content, **fields})


@dataclass
class FakeNode:
    """One node: values, lock, journal. `clamp` and `refuse` say how its kernel takes values."""

    name: str
    values: dict[Key, Any]
    clamp: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    refuse: Mapping[str, str] = field(default_factory=dict)
    holder: str | None = None
    journal: list[dict[str, Any]] = field(default_factory=list)
    pending: dict[int, int] = field(default_factory=dict)
    """Change → the newest session when it was made: only a newer one may confirm."""
    dead: bool = False
    changes: int = 0

    def write(self, one: Mapping[str, Any]) -> dict[str, Any]:
        key = (one["name"], one["place"])
        before, asked = self.values[key], one["value"]
        head = {"name": one["name"], "place": one["place"], "before": before, "asked": asked}
        if one["name"] in self.refuse:
            return {**head, "after": before, "outcome": "refused", "reason": self.refuse[one["name"]]}
        after = self.clamp.get(one["name"], lambda value: value)(asked)
        self.journal.append({"key": key, "before": before, "wrote": after, "kept": False})
        self.values[key] = after
        return {**head, "after": after, "outcome": self._outcome(one, before, after)}

    @staticmethod
    def _outcome(one: Mapping[str, Any], before: Any, after: Any) -> str:
        if after != one["value"]:
            return "clamped"
        return "inert" if one.get("inert") else "unchanged" if after == before else "applied"

    def take_back(self) -> list[dict[str, Any]]:
        results = []
        for entry in [entry for entry in reversed(self.journal) if not entry["kept"]]:
            self.journal.remove(entry)
            now = self.values[entry["key"]]
            told = {"name": entry["key"][0], "place": entry["key"][1], "now": now, **entry}
            if now != entry["wrote"]:
                results.append({**told, "outcome": "changed-since"})
                continue
            self.values[entry["key"]] = entry["before"]
            results.append({**told, "outcome": "reverted"})
        self.pending.clear()
        return [{key: value for key, value in one.items() if key not in ("key", "kept")} for one in results]


class FakeSession:
    def __init__(self, cluster: FakeCluster, node: FakeNode, number: int) -> None:
        self._cluster, self._node, self.number = cluster, node, number
        self.closed = False

    @property
    def alive(self) -> bool:
        return not (self.closed or self._node.dead)

    def close_input(self) -> None:
        self.closed = True

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        try:
            future.set_result(self._answer(op, fields))
        except (NodeError, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            future.set_exception(error)
        return future

    def _answer(self, op: str, fields: dict[str, Any]) -> dict[str, Any]:
        self._cluster.log.append((self._node.name, op))
        self._cluster.calls[self._node.name, op] += 1
        fault = self._cluster.faults.get((self._node.name, op, self._cluster.calls[self._node.name, op]))
        if not self.alive:
            raise NodeError(self._node.name, "the session is lost")
        if fault is not None and (answer := fault(self._node)) is not None:
            return answer
        return getattr(self, f"_{op}")(**fields)

    def _settings(self, read: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {one["name"]: {} for one in read}
        for (name, place), value in self._node.values.items():
            if name in found:
                found[name][place] = {"value": value}
        return {"settings": found}

    def _change_apply(self, campaign: str, by: str, settings: Any, confirm: float, lease: float) -> dict[str, Any]:
        node = self._node
        if node.holder not in (None, campaign):
            raise RequestError(node.name, "change_apply", "locked", f"campaign {node.holder} holds it")
        node.holder, node.changes = campaign, node.changes + 1
        node.pending[node.changes] = self._cluster.opened
        return {"change": node.changes, "results": [node.write(one) for one in settings]}

    def _change_confirm(self, campaign: str, change: int) -> dict[str, Any]:
        if self.number <= self._node.pending[change]:
            raise RequestError(self._node.name, "change_confirm", "bad-parameter", "not over a new session")
        del self._node.pending[change]
        return {}

    def _change_revert(self, campaign: str) -> dict[str, Any]:
        return {"results": self._node.take_back()}

    def _change_keep(self, campaign: str, names: Sequence[str]) -> dict[str, Any]:
        for entry in self._node.journal:
            entry["kept"] = entry["kept"] or entry["key"][0] in names
        return {}

    def _change_renew(self, campaign: str) -> dict[str, Any]:
        return {}

    def _change_end(self, campaign: str) -> dict[str, Any]:
        self._node.holder = None
        return {}


@dataclass
class Opened:
    sessions: dict[str, FakeSession]
    failed: dict[str, NodeError]


class FakeCluster:
    """Nodes by name; `faults` are (node, op, number of the call) → what happens there instead."""

    def __init__(self, nodes: Mapping[str, FakeNode]) -> None:
        self.nodes = dict(nodes)
        self.calls: Counter[tuple[str, str]] = Counter()
        self.faults: dict[tuple[str, str, int], Callable[[FakeNode], dict[str, Any] | None]] = {}
        self.log: list[tuple[str, str]] = []
        self.opened = 0

    def open(self, names: Sequence[str]) -> Opened:
        self.opened += 1
        dead = {name: NodeError(name, "no route to host") for name in names if self.nodes[name].dead}
        alive = {name: FakeSession(self, self.nodes[name], self.opened) for name in names if name not in dead}
        return Opened(alive, dead)

    def state(self) -> dict[str, dict[Key, Any]]:
        return {name: dict(node.values) for name, node in self.nodes.items()}


@dataclass
class Truth:
    """A measurement: planted effects as logarithms for each setting that is not at 0, noise, drift."""

    cluster: FakeCluster
    effects: Mapping[str, float]
    both: Mapping[tuple[str, str], float] = field(default_factory=dict)
    noise: float = 0.01
    drift: float = 0.0
    base: float = 50e-6
    seed: int = 1
    abouts: list[dict[str, Any]] = field(default_factory=list)
    at: dict[int, Callable[[], float | None]] = field(default_factory=dict)
    """What happens instead at the n-th measurement."""

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def __call__(self, about: Mapping[str, Any]) -> float | None:
        self.abouts.append(dict(about))
        number = len(self.abouts)
        if number in self.at:
            return self.at[number]()
        on = {name for node in self.cluster.nodes.values() for (name, _), value in node.values.items() if value}
        known = sum(effect for name, effect in self.effects.items() if name in on)
        known += sum(effect for pair, effect in self.both.items() if on.issuperset(pair))
        return self.base * exp(known + self.drift * number + self._random.normal(0, self.noise))
