"""Facts that differ between nodes, gathered by what they mean: one cause for each node, however many facts show it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from wulf.agent.facts import is_uniform
from wulf.findings.facts.deviations import FactDeviation, deviating_facts
from wulf.store.run import Facts
from wulf.tune.catalogue import catalogue


@dataclass(frozen=True)
class Cause:
    """An entry of network_causes.toml, whose head says what its fields mean."""

    facts: tuple[str, ...]
    folds: tuple[str, ...]
    words: str
    effects: tuple[str, ...]
    step: str
    prove: str = ""
    aim: str = ""
    setting: str = ""
    when: str = ""
    alone: bool = True
    rules: tuple[str, ...] = ()


@cache
def causes() -> tuple[Cause, ...]:
    """The table of network_causes.toml, the most telling first."""
    content = tomllib.loads((files("wulf.findings.facts") / "network_causes.toml").read_text(encoding="utf-8"))
    return tuple(_cause(entry) for entry in content["cause"])


def _cause(entry: Mapping[str, Any]) -> Cause:
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}
    return Cause(**fields)


@dataclass(frozen=True)
class Difference:
    """What one cause makes differ.

    Attributes
    ----------
    cause
        None for a fact that no cause names.
    nodes
        Those that have it: all of them the same way.
    facts
        Fact → its value on these nodes; the one that tells most first. Without a majority, value by node.
    majority
        Fact → the value of the others; empty where no value is that of more than half of the nodes.
    """

    cause: Cause | None
    nodes: tuple[str, ...]
    facts: Mapping[str, Any]
    majority: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fact(self) -> str:
        """The fact that tells most."""
        return next(iter(self.facts))


def differences(fingerprint: Mapping[str, Facts]) -> list[Difference]:
    """What differs between the nodes, one entry for each cause and each set of nodes that have it alike."""
    found = deviating_facts({node: dict(facts) for node, facts in fingerprint.items()}, _looked_at)
    return [*_of_few(found), *_of_all([one for one in found if not one.has_majority])]


def _looked_at(name: str) -> bool:
    """Whether nodes should agree on a fact, or it is a cause although they need not."""
    return is_uniform(name) or any(_any(name, cause.facts) for cause in causes() if not cause.alone)


def _of_few(found: Sequence[FactDeviation]) -> list[Difference]:
    """Of nodes that deviate from a majority."""
    own: dict[str, dict[str, Any]] = {}
    majority = {one.fact: one.majority for one in found if one.has_majority}
    for one in found:
        for node, value in one.nodes.items() if one.has_majority else ():
            own.setdefault(node, {})[one.fact] = value
    alike: dict[str, tuple[Cause | None, dict[str, Any], list[str]]] = {}
    for node, facts in sorted(own.items()):
        for cause, names in _gathered(list(facts)):
            part = {name: facts[name] for name in names}
            alike.setdefault(repr(part), (cause, part, []))[2].append(node)
    return [
        Difference(cause, tuple(nodes), facts, {name: majority[name] for name in facts})
        for cause, facts, nodes in alike.values()
    ]  # fmt: skip


def _of_all(found: Sequence[FactDeviation]) -> list[Difference]:
    """Of nodes of which no value is that of the majority: value by node in place of a value."""
    values = {one.fact: dict(one.nodes) for one in found}
    gathered = []
    for cause, names in _gathered(list(values)):
        nodes = sorted({node for name in names for node in values[name]})
        gathered.append(Difference(cause, tuple(nodes), {name: values[name] for name in names}))
    return gathered


def _gathered(names: Sequence[str]) -> list[tuple[Cause | None, list[str]]]:
    """Facts by cause, the most telling cause and in it the most telling fact first; then those without one, by name."""
    left, gathered = list(names), list[tuple[Cause | None, list[str]]]()
    for cause in causes():
        lead = [name for pattern in cause.facts for name in left if fnmatchcase(name, pattern)]
        if lead:
            lead = list(dict.fromkeys(lead))
            folded = [name for name in left if name not in lead and _any(name, cause.folds)]
            gathered.append((cause, [*lead, *folded]))
            left = [name for name in left if name not in lead and name not in folded]
    return [*gathered, *((None, [name]) for name in left)]


def _any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def acts(one: Difference, effects: Sequence[str]) -> bool:
    """Whether a cause acts on what stands out: `rtt`, `throughput/send`, `blocked`."""
    if one.cause is None or not one.majority:
        return False
    wanted = {effect: effect.partition("/")[0] for effect in effects}
    hits = any(effect in one.cause.effects or whole in one.cause.effects for effect, whole in wanted.items()) or any(
        known.partition("/")[0] in effects for known in one.cause.effects
    )
    return hits and _worse(one)


def _worse(one: Difference) -> bool:
    """Whether the number lies on the harmful side, where the cause has one."""
    own, others = one.facts[one.fact], one.majority[one.fact]
    if one.cause is None or not one.cause.when or not all(isinstance(x, int | float) for x in (own, others)):
        return True
    return bool(own > others if one.cause.when == "more" else own < others)


def told_rules(found: Sequence[Difference]) -> dict[str, frozenset[str]]:
    """Rule → the nodes of which a differing fact says the same already."""
    told: dict[str, frozenset[str]] = {}
    for one in found:
        for rule in one.cause.rules if one.cause is not None else ():
            told[rule] = told.get(rule, frozenset()).union(one.nodes)
    return told


def how_to_prove(one: Difference, node: str, others: Sequence[str], effects: Sequence[str]) -> str:
    """What proves the cause, for a node: a campaign that gives it the others' value, or what else does.

    Parameters
    ----------
    others
        Nodes that do not stand out.
    effects
        What stands out, as `acts` takes it.
    """
    cause = one.cause
    setting = (cause.setting or _setting(one.fact)) if cause is not None and cause.aim else ""
    if cause is not None and setting in catalogue():
        value = "" if cause.setting else f"={_value(one.majority[one.fact])}"
        nodes = ",".join(proving_nodes(node, others, effects))
        asked = f"'{setting}{value}'" if " " in value else f"{setting}{value}"
        return f"`wulf tune {nodes} --settings {asked} --aim {cause.aim} --apply --no-keep`"
    if cause is not None and cause.prove:
        return cause.prove.format(node=node)
    return f"set {one.fact} on {node} as the others have it, survey again, and `wulf compare` the two runs"


def proving_nodes(node: str, others: Sequence[str], effects: Sequence[str]) -> list[str]:
    """The node and partners by whose order a campaign has it send, or receive, as what stands out asks.

    `wulf tune` takes nodes in order, each first sending to the next, and the last of three to the first.
    """
    ordered = sorted({*others, node}, key=lambda name: (len(name), name))
    place = ordered.index(node)
    before, after = ordered[:place], ordered[place + 1 :]
    if any(effect.endswith("/receive") for effect in effects):
        return [before[-1], node] if before else [node, *after[:2]]
    if any(effect.endswith("/send") for effect in effects):
        return [node, after[0]] if after else [*before[:2], node]
    return [before[-1], node] if before else [node, *after[:1]]


_OTHER_NAMES = {
    "offload.gro_hardware": "nic.gro_hw", "offload.tx_checksum_ipv4": "nic.tx_checksum", "rings.rx": "nic.ring_rx",
    "rings.tx": "nic.ring_tx", "channels.combined": "nic.channels", "channels.rx": "nic.channels_rx",
    "channels.tx": "nic.channels_tx", "pause.rx": "nic.pause_rx", "pause.tx": "nic.pause_tx",
    "pause.autonegotiation": "nic.pause_autoneg", "coalescing.rx_delay": "nic.rx_usecs",
    "coalescing.tx_delay": "nic.tx_usecs",
}  # fmt: skip
"""Facts of an interface that are called otherwise than their settings."""


def _setting(fact: str) -> str:
    """The setting that a fact shows, as `wulf tune` names it: nic.mtu, nic.tso, tcp.rmem, net.rmem_max."""
    parts = fact.split(".")
    if parts[0] == "nic":
        return _OTHER_NAMES.get(".".join(parts[2:]), f"nic.{parts[-1]}")
    return fact.removeprefix("sysctl.").replace("net.ipv4.tcp_", "tcp.").replace("net.core.", "net.")


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
