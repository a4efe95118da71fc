"""Planted faults: what each does to the figures and facts of a simulated cluster, and whether it was found."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from wulf.core.findings import Finding, Severity
from wulf.stats.series.streams import SYNTHETIC, Stream
from wulf.store.run import Facts

RATE, ROUND_TRIP = 1.17e9, 50e-6
"""Of a healthy link, in B/s and s."""

ALIKE = 0.01
"""Relative standard deviation between healthy links: no two are quite the same."""

NOISES = {0.02: (SYNTHETIC[0],), 0.05: SYNTHETIC[:2]}
"""Coefficient of variation of a single replicate → the kinds of noise that it is tried with: lognormal, and t2, whose
tails are heavy.
"""

HEALTHY = "no fault"


@dataclass(frozen=True)
class Planted:
    """An entry of planted.toml, whose head says what its fields mean; none of them: a healthy cluster."""

    name: str
    nodes: int
    plant: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Mapping[str, Any]] | None = None
    blame: tuple[Mapping[str, Any], ...] = ()

    @property
    def names(self) -> list[str]:
        """All nodes, the dead ones included."""
        return [f"n{i}" for i in range(1, self.nodes + 1)]

    @property
    def dead(self) -> list[str]:
        """Nodes that can't be opened."""
        return [one["node"] for one in self.plant if one.get("dead")]

    def fingerprint(self) -> dict[str, Facts]:
        """Node → facts, of those that live."""
        return {name: self.facts_of(name) for name in self.names if name not in self.dead}

    def facts_of(self, node: str) -> dict[str, dict[str, Any]]:
        """One node's facts, as its agent would give them."""
        own = {**_content()["healthy"], **(self.facts or {}).get(node, {})}
        return {name: {"value": value, "provenance": "reported"} for name, value in own.items()}


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads((files("wulf.selftest.simulated") / "planted.toml").read_text(encoding="utf-8"))


@cache
def planted() -> tuple[Planted, ...]:
    """All planted faults."""
    return tuple(Planted(**{**one, "plant": tuple(one.get("plant", ())), "blame": tuple(one["blame"])})
                 for one in _content()["fault"])  # fmt: skip


def healthy(nodes: int) -> Planted:
    """A cluster without a fault."""
    return Planted(HEALTHY, nodes)


def figures(
    fault: Planted, random: np.random.Generator, stream: Stream, cv: float
) -> Callable[[str, str, str], float | None]:
    """What each replicate measures, from client, server and pattern; None: nothing came back."""
    own: dict[tuple[str, str, str], float] = {}
    noise: list[float] = []

    def figure(client: str, server: str, pattern: str) -> float | None:
        if not noise:
            noise.extend((cv * stream.draw(random, 4096)).tolist())
        key = (client, server, pattern)
        if key not in own:
            own[key] = float(np.exp(ALIKE * random.normal()))
        value = _round_trip(fault, client, server) if pattern == "pingpong" else _rate(fault, client, server)
        return None if value is None else value * own[key] * float(np.exp(noise.pop()))

    return figure


def _rate(fault: Planted, client: str, server: str) -> float | None:
    """Bytes per second from client to server: the least of what sender, receiver and path let through."""
    share = 1.0
    for one in fault.plant:
        if _blocks(one, client, server) or (one.get("streams") and _on(one, client, server)):
            return None
        if one.get("node") == client:
            share = min(share, one.get("send", 1.0), one.get("rate", 1.0))
        if one.get("node") == server:
            share = min(share, one.get("receive", 1.0), one.get("rate", 1.0))
        if _on(one, client, server):
            share = min(share, one.get("share", 1.0))
    return RATE * share


def _round_trip(fault: Planted, client: str, server: str) -> float | None:
    """Seconds there and back: every delay on either way adds up."""
    seconds = ROUND_TRIP
    for one in fault.plant:
        if _blocks(one, client, server):
            return None
        if one.get("node") in (client, server) or _on(one, client, server) or _on(one, server, client):
            seconds += one.get("delay", 0.0)
    return seconds


def _on(one: Mapping[str, Any], client: str, server: str) -> bool:
    """Whether a link's or a group's fault lies on the way from client to server."""
    if "link" in one:
        ends = tuple(one["link"].split(">"))
        return (client, server) == ends or (bool(one.get("both")) and (server, client) == ends)
    if "group" in one:
        leaves, enters = client in one["group"], server in one["group"]
        return leaves != enters and {"send": leaves, "receive": enters}.get(one.get("way", "both"), True)
    return False


def _blocks(one: Mapping[str, Any], client: str, server: str) -> bool:
    """Whether no connection from client to server comes about."""
    if "link" in one:
        return bool(one.get("blocked")) and _on(one, client, server)
    blocked = one.get("blocked")
    return (blocked in ("serve", "all") and one["node"] == server) or (blocked == "all" and one["node"] == client)


# Whether it was found.


def accusations(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that blame somebody, or ask to look at something."""
    return [finding for finding in findings if finding.severity is not Severity.INFO]


def mistakes(fault: Planted, findings: Sequence[Finding]) -> list[str]:
    """What is missing, told twice, or said of somebody who has no fault; empty where all is right."""
    left = accusations(findings)
    wrong = []
    for wanted in fault.blame:
        matching = [finding for finding in left if _matches(wanted, finding)]
        left = [finding for finding in left if finding not in matching]
        if len(matching) != 1:
            wrong.append(f"found {len(matching)} times: {dict(wanted)}")
        wrong += [f"without its cause: {wanted['cause']}: {one.text}" for one in matching if not _caused(wanted, one)]
    return wrong + [f"falsely: {finding.kind} {finding.subject}: {finding.text}" for finding in left]


def _matches(wanted: Mapping[str, Any], finding: Finding) -> bool:
    if finding.kind != wanted["kind"]:
        return False
    if "way" in wanted and (finding.evidence[0].way if finding.evidence else None) != wanted["way"]:
        return False
    if "group" in wanted:
        return frozenset(wanted["group"]) in _sides(finding)
    return bool(finding.subject == wanted["subject"])


def _sides(finding: Finding) -> set[frozenset[str]]:
    """The nodes on either side of what cuts a group off."""
    first = finding.evidence[:1]
    return {frozenset(side) for one in first for side in (one.nodes, one.others) if side}


def _caused(wanted: Mapping[str, Any], finding: Finding) -> bool:
    return "cause" not in wanted or any(one.metric == wanted["cause"] for one in finding.evidence)
