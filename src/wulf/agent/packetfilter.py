"""The packet filter's rules, as nft lists them: those of others, which are read and never touched, and our table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wulf.agent.machine import Machine

FAMILY, TABLE = "inet", "wulf"
"""Our own table."""

_DROPPING = {"drop", "reject"}
_LEGACY = ("proc/net/ip_tables_names", "proc/net/ip6_tables_names")


def present(machine: Machine, what: str) -> Any:
    """What others' rules come to: how many `rules`, how many that are `drops`, whether one `tracks` connections."""
    if what not in _PRESENCE:
        raise Unknown(f"nothing is known of '{what}' in the packet filter; bypass, {', '.join(_PRESENCE)} are")
    _no_legacy(machine)
    return _PRESENCE[what](foreign(machine))


def input_policy(machine: Machine) -> str:
    """`drop` where a chain of others that sees arriving packets drops what no rule accepts, else `accept`."""
    _no_legacy(machine)
    chains = [entry["chain"] for entry in foreign(machine) if "chain" in entry]
    arriving = [chain for chain in chains if chain.get("hook") in ("prerouting", "input", "ingress")]
    return "drop" if any(chain.get("policy") == "drop" for chain in arriving) else "accept"


@shared
def _ruleset(machine: Machine) -> list[dict[str, Any]]:
    try:
        said = machine.ask("output", "nft", "-j", "list", "ruleset")
    except Unknown as unknown:  # that the program is absent does not say that there are no rules
        raise Unknown(f"{unknown.reason}: its packet filter's rules can't be listed") from unknown
    if said["status"] != 0:
        raise Unknown(f"nft can't list the rules: {' '.join(said['err'].split())[:300]}")
    try:
        found: list[dict[str, Any]] = json.loads(said["out"])["nftables"]
    except (ValueError, KeyError, TypeError) as error:
        raise Unknown(f"nft's list of rules is no JSON: {error}") from error
    return found


def objects(machine: Machine, kind: str) -> Iterator[dict[str, Any]]:
    return (entry[kind] for entry in _ruleset(machine) if kind in entry)


def foreign(machine: Machine) -> list[dict[str, Any]]:
    """Chains and rules of all tables but ours: {"chain": …} and {"rule": …}."""
    return [
        {kind: entry}
        for kind in ("chain", "rule")
        for entry in objects(machine, kind)
        if (entry["family"], entry["table"]) != (FAMILY, TABLE)
    ]


def _no_legacy(machine: Machine) -> None:
    """Rules of the old iptables live beside nftables, which does not list them."""
    for path in _LEGACY:
        if machine.exists(path):
            try:
                tables = machine.text(path).split()
            except Unknown as unknown:
                if unknown.absent:  # empty: none in use
                    continue
                raise
            raise Unknown(f"tables of the old iptables are in use, too ({', '.join(tables)}), which nft does not list")


def drops(entries: list[dict[str, Any]]) -> int:
    """Base chains that drop by policy, and rules that drop or reject."""
    policies = [entry for entry in entries if entry.get("chain", {}).get("policy") == "drop"]
    rules = [entry for entry in entries if any(_DROPPING & set(part) for part in expressions(entry))]
    return len(policies) + len(rules)


def _tracks(entries: list[dict[str, Any]]) -> bool:
    """Whether packets are tracked for these rules' sake: they ask for a connection's state, or translate addresses."""
    nat = any(entry["chain"].get("type") == "nat" for entry in entries if "chain" in entry)
    return nat or any(_of_connections(part) for entry in entries for part in expressions(entry))


def expressions(entry: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = entry["rule"]["expr"] if "rule" in entry else []
    return found


def _of_connections(part: Mapping[str, Any]) -> bool:
    return '"ct"' in json.dumps(part) or bool({"snat", "dnat", "masquerade", "redirect", "flow"} & set(part))


def _rules(entries: list[dict[str, Any]]) -> int:
    return len([entry for entry in entries if "rule" in entry])


def sources(expression: Mapping[str, Any]) -> list[str]:
    """Networks of a match such as 'ip saddr 10.0.0.0/24', as nft's JSON has it; none of any other expression."""
    match = expression.get("match", {})
    left, right = match.get("left"), match.get("right")
    if not isinstance(left, dict) or left.get("payload", {}).get("field") != "saddr" or match.get("op") == "!=":
        return []
    members = right.get("set", [right]) if isinstance(right, dict) else [right]
    prefixes = [member.get("prefix") for member in members if isinstance(member, dict)]
    plain = [member for member in members if isinstance(member, str) and not member.startswith("@")]
    return [*plain, *(f"{prefix['addr']}/{prefix['len']}" for prefix in prefixes if prefix)]


_PRESENCE: dict[str, Callable[[list[dict[str, Any]]], Any]] = {"drops": drops, "tracks": _tracks, "rules": _rules}
