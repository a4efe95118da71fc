"""Facts on which the nodes of a run should agree and do not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Fingerprint = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Facts by node and name, as fingerprint.json holds them."""


@dataclass(frozen=True)
class FactDeviation:
    """One fact on which nodes differ.

    Parameters
    ----------
    fact
        Its name: 'nic.eth0.mtu'.
    majority
        The value of more than half of the nodes; None where these have no such thing, or where there is no majority.
    nodes
        Value by node: of the nodes that deviate from the majority; without a majority, of all nodes. None means that
        the node has no such thing.
    has_majority
        Tells a majority of nodes without the thing from no majority.
    """

    fact: str
    majority: Any
    nodes: dict[str, Any]
    has_majority: bool = True


def deviating_facts(fingerprint: Fingerprint, uniform: Callable[[str], bool]) -> list[FactDeviation]:
    """Facts that differ between nodes though they should not, sorted by name.

    A node votes with its value, or with "has no such thing" (a null fact with `absent`). A node that could not read the
    fact, or does not list it at all, knows nothing and does not vote: neither no permission nor an interface of another
    name (which `nic.interfaces` tells, once) is a deviation.

    Parameters
    ----------
    fingerprint
        Facts by node and name.
    uniform
        Whether nodes should agree on a fact, by its name; `wulf.agent.facts.is_uniform`.
    """
    names = {name for facts in fingerprint.values() for name in facts}  # asked once each: nodes may be 10,000
    found = (_deviation(name, _votes(fingerprint, name)) for name in sorted(filter(uniform, names)))
    return [deviation for deviation in found if deviation is not None]


def _votes(fingerprint: Fingerprint, name: str) -> dict[str, Any]:
    """Value by node, of the nodes that know it."""
    return {
        node: facts[name].get("value")
        for node, facts in fingerprint.items()
        if name in facts and (facts[name].get("value") is not None or facts[name].get("absent", False))
    }


def _deviation(name: str, votes: dict[str, Any]) -> FactDeviation | None:
    keys = {node: json.dumps(value, sort_keys=True) for node, value in votes.items()}  # values may be unhashable
    counts = Counter(keys.values())
    if len(counts) < 2:
        return None
    winner, count = counts.most_common(1)[0]
    if 2 * count <= len(votes):
        return FactDeviation(name, None, votes, has_majority=False)
    odd = {node: value for node, value in votes.items() if keys[node] != winner}
    return FactDeviation(name, json.loads(winner), odd)
