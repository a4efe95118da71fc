"""The packet filter: what the node's rules do to packets, and a bypass of connection tracking in a table of our own.

Others' tables are read and never touched; ours is 'inet wulf', made and removed in one transaction.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wulf.agent import networks
from wulf.agent.machine import shared
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wulf.agent.machine import Machine
    from wulf.agent.networks import Network

FAMILY, TABLE = "inet", "wulf"
_DROPPING = {"drop", "reject"}
_LEGACY = ("proc/net/ip_tables_names", "proc/net/ip6_tables_names")
_UNSEEN = {("ip", 6), ("ip6", 4)}
"""Family of a table, and the version of the Internet protocol whose packets it never sees."""
_BOOT = "etc/nftables.conf"


class Nftables(Mechanism):
    help = (
        "packet filter: what = 'bypass' (networks that connection tracking leaves alone; networks = ['10.0.0.0/24']; "
        "true, false or their text), and read only 'drops' (rules and policies that drop or reject), 'tracks' (whether "
        "rules ask for connection tracking), 'rules' (how many there are)"
    )
    words = ("what",)
    optional = ("networks",)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        what = target["what"]
        if what == "bypass":
            return _bypass(machine, target)
        return present(machine, what)

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        if target["what"] != "bypass":
            raise Unknown("others' rules are never changed")
        wanted: list[Network] = []
        if value is not False:
            wanted = networks.parse(target.get("networks", ()) if value is True else str(value).split())
            if not wanted:
                raise Unknown("no networks are named whose packets should pass untracked: target needs networks = […]")
            _harmless(machine, wanted)
        machine.tell("program", "nft", "-f", "-", text=_transaction(wanted))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        if target["what"] != "bypass":
            raise Unknown("what a boot's rules will do is not known before")
        if machine.exists(_BOOT) and f"table {FAMILY} {TABLE}" in machine.text(_BOOT):
            raise Unknown(f"/{_BOOT} has a table {TABLE}, whose rules are not read")
        return False


def present(machine: Machine, what: str) -> Any:
    """What others' rules come to: how many `rules`, how many that are `drops`, whether one `tracks` connections."""
    if what not in _PRESENCE:
        raise Unknown(f"nothing is known of '{what}' in the packet filter; bypass, {', '.join(_PRESENCE)} are")
    _no_legacy(machine)
    return _PRESENCE[what](_foreign(machine))


def input_policy(machine: Machine) -> str:
    """`drop` where a chain of others that sees arriving packets drops what no rule accepts, else `accept`."""
    _no_legacy(machine)
    chains = [entry["chain"] for entry in _foreign(machine) if "chain" in entry]
    arriving = [chain for chain in chains if chain.get("hook") in ("prerouting", "input", "ingress")]
    return "drop" if any(chain.get("policy") == "drop" for chain in arriving) else "accept"


def _bypass(machine: Machine, target: Mapping[str, Any]) -> bool | str:
    """False without our table; True if it has the target's networks (any, if none are named); else those it has."""
    found = [str(network) for network in _bypassed(machine)]
    if not found:
        return False
    wanted = [str(network) for network in networks.parse(target.get("networks", ()))]
    return True if wanted in ([], found) else " ".join(found)


def _bypassed(machine: Machine) -> list[Network]:
    """Networks that our table's prerouting chain leaves untracked."""
    found = []
    for rule in _objects(machine, "rule"):
        if (rule["family"], rule["table"], rule["chain"]) == (FAMILY, TABLE, "prerouting"):
            found += [network for part in rule["expr"] for network in _sources(part)]
    return networks.parse(found)


def _sources(expression: Mapping[str, Any]) -> list[str]:
    """Networks of a match such as 'ip saddr 10.0.0.0/24', as nft's JSON has it; none of any other expression."""
    match = expression.get("match", {})
    left, right = match.get("left"), match.get("right")
    if not isinstance(left, dict) or left.get("payload", {}).get("field") != "saddr" or match.get("op") == "!=":
        return []
    members = right.get("set", [right]) if isinstance(right, dict) else [right]
    prefixes = [member.get("prefix") for member in members if isinstance(member, dict)]
    plain = [member for member in members if isinstance(member, str) and not member.startswith("@")]
    return [*plain, *(f"{prefix['addr']}/{prefix['len']}" for prefix in prefixes if prefix)]


def _transaction(untracked: list[Network]) -> str:
    """nft's script: our table made anew with these networks, or removed if there are none. Applied whole or not at all.

    `add` before `delete`, for a table that is not there can't be deleted.
    """
    lines = [f"add table {FAMILY} {TABLE}", f"delete table {FAMILY} {TABLE}"]
    if untracked:
        both = [f"{_ip(network)} saddr {network} {_ip(network)} daddr {network}" for network in untracked]
        notrack = "".join(f"    {match} notrack\n" for match in both)
        accept = "".join(f"    {match} ct state untracked accept\n" for match in both)
        lines += [
            f"table {FAMILY} {TABLE} {{",
            f"  chain prerouting {{\n    type filter hook prerouting priority raw; policy accept;\n{notrack}  }}",
            f"  chain output {{\n    type filter hook output priority raw; policy accept;\n{notrack}  }}",
            f"  chain input {{\n    type filter hook input priority filter; policy accept;\n{accept}  }}",
            "}",
        ]
    return "\n".join(lines) + "\n"


def _ip(network: Network) -> str:
    return "ip" if network.version == 4 else "ip6"


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


def _objects(machine: Machine, kind: str) -> Iterator[dict[str, Any]]:
    return (entry[kind] for entry in _ruleset(machine) if kind in entry)


def _foreign(machine: Machine) -> list[dict[str, Any]]:
    """Chains and rules of all tables but ours: {"chain": …} and {"rule": …}."""
    return [
        {kind: entry}
        for kind in ("chain", "rule")
        for entry in _objects(machine, kind)
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


def _drops(entries: list[dict[str, Any]]) -> int:
    """Base chains that drop by policy, and rules that drop or reject."""
    policies = [entry for entry in entries if entry.get("chain", {}).get("policy") == "drop"]
    rules = [entry for entry in entries if any(_DROPPING & set(part) for part in _expressions(entry))]
    return len(policies) + len(rules)


def _tracks(entries: list[dict[str, Any]]) -> bool:
    """Whether packets are tracked for these rules' sake: they ask for a connection's state, or translate addresses."""
    nat = any(entry["chain"].get("type") == "nat" for entry in entries if "chain" in entry)
    return nat or any(_of_connections(part) for entry in entries for part in _expressions(entry))


def _expressions(entry: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = entry["rule"]["expr"] if "rule" in entry else []
    return found


def _of_connections(part: Mapping[str, Any]) -> bool:
    return '"ct"' in json.dumps(part) or bool({"snat", "dnat", "masquerade", "redirect", "flow"} & set(part))


def _rules(entries: list[dict[str, Any]]) -> int:
    return len([entry for entry in entries if "rule" in entry])


def _harmless(machine: Machine, untracked: list[Network]) -> None:
    """Raise Unknown where packets without a connection would be dropped by others' rules: a bypass would cut the node.

    Such a table accepts what is 'established' and drops the rest. No chain of ours can accept for another table's.
    """
    for name in sorted({(entry["family"], entry["table"]) for part in _foreign(machine) for entry in part.values()}):
        entries = [part for part in _foreign(machine) if all((e["family"], e["table"]) == name for e in part.values())]
        states = json.dumps([_expressions(entry) for entry in entries])
        if _drops(entries) and '"established"' in states and '"untracked"' not in states:
            seen = [network for network in untracked if (name[0], network.version) not in _UNSEEN]
            if {str(network) for network in seen} <= _admitted(entries):
                continue
            raise Unknown(
                f"table {' '.join(name)} accepts packets of established connections and drops others: untracked ones "
                "would be lost; let it accept 'ct state untracked', or the cluster's networks (a zone), first"
            )


def _admitted(entries: list[dict[str, Any]]) -> set[str]:
    """Networks that a rule accepts, or sends to a chain of their own, as firewalld's zones do."""
    found: set[str] = set()
    for expressions in map(_expressions, entries):
        if any({"accept", "goto", "jump"} & set(part) for part in expressions):
            found.update(network for part in expressions for network in _sources(part))
    return found


_PRESENCE: dict[str, Callable[[list[dict[str, Any]]], Any]] = {"drops": _drops, "tracks": _tracks, "rules": _rules}

mechanism = Nftables()
