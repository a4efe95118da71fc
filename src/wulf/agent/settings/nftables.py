"""The packet filter: what the node's rules do to packets, and a bypass of connection tracking in a table of our own.

Others' tables are read and never touched; ours is 'inet wulf', made and removed in one transaction.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wulf.agent.mechanism import Mechanism
from wulf.agent.net import networks
from wulf.agent.packetfilter import FAMILY, TABLE, drops, expressions, foreign, objects, present, sources
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine
    from wulf.agent.net.networks import Network

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
    for rule in objects(machine, "rule"):
        if (rule["family"], rule["table"], rule["chain"]) == (FAMILY, TABLE, "prerouting"):
            found += [network for part in rule["expr"] for network in sources(part)]
    return networks.parse(found)


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


def _harmless(machine: Machine, untracked: list[Network]) -> None:
    """Raise Unknown where packets without a connection would be dropped by others' rules: a bypass would cut the node.

    Such a table accepts what is 'established' and drops the rest. No chain of ours can accept for another table's.
    """
    for name in sorted({(entry["family"], entry["table"]) for part in foreign(machine) for entry in part.values()}):
        entries = [part for part in foreign(machine) if all((e["family"], e["table"]) == name for e in part.values())]
        states = json.dumps([expressions(entry) for entry in entries])
        if drops(entries) and '"established"' in states and '"untracked"' not in states:
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
    for parts in map(expressions, entries):
        if any({"accept", "goto", "jump"} & set(part) for part in parts):
            found.update(network for part in parts for network in sources(part))
    return found


mechanism = Nftables()
