"""The checklist's questions about the packet filter: whether it is in the way of the cluster's packets.

A firewall need not be off: a bypass for the cluster's network counts. Pure.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from wulf.tune.audit.answers import Answer, Node, Said, is_on, service, switch

FILTERING = ("firewalld", "ufw")
"""Services that always filter; what `LOADING` ones load is whatever their files say."""

LOADING = ("nftables", "iptables")

HINDERING = frozenset({"drops", "tracks"})
"""What rules may do that costs time: of the mechanism nftables."""


def firewall_off(node: Node) -> Said:
    """2a: no rule filters or tracks the cluster's packets, or a bypass spares them both."""
    return _firewall(node, "value")


def firewall_off_at_startup(node: Node) -> Said:
    """2b: so after the next boot, too."""
    return _firewall(node, "startup")


_AT = {"value": "", "startup": " at start-up"}


def _firewall(node: Node, which: str) -> Said:
    """By the bypass if there is one; else by the rules; else by the services that would load some."""
    spared = _bypass(node, which)
    if spared is not None and spared.answer is Answer.YES:
        return spared
    readings = [(n, r) for n, r in node.of("nftables") if node.settings[n].target.get("what") in HINDERING]
    # a node without nft may have rules all the same: it is only that nobody sees them
    hinders, why_not = switch(readings, which, "nobody read the rules of the packet filter", absent=None)
    if hinders is not None:
        words = "rules filter or track packets" if hinders else "no rule filters or tracks packets"
        return Said(Answer.NO if hinders else Answer.YES, words + _AT[which] + (_no_bypass(spared) if hinders else ""))
    return _by_services(node, which, why_not)


def _no_bypass(spared: Said | None) -> str:
    return f", and {spared.evidence}" if spared is not None else ", and there is no bypass"


def _bypass(node: Node, which: str) -> Said | None:
    """Yes where one covers the node's addresses in the cluster, no where it is for others; None where there is none."""
    ways = (
        ("a bypass spares the cluster's network", node.of("nftables", what="bypass")),
        ("firewalld trusts the cluster's network (its packets are still tracked)", node.of("firewalld")),
    )
    others = None
    for words, readings in ways:
        for _, reading in readings:
            value = reading.get(which)
            if value is None or not is_on(value):
                continue
            if not isinstance(value, str) or all(_covers(value, address) for address in node.addresses):
                return Said(Answer.YES, words + _AT[which])
            others = Said(Answer.NO, f"the bypass is for {value}, not for {', '.join(node.addresses)}")
    return others


def _covers(networks: str, address: str) -> bool:
    """Whether any of the networks ('10.0.0.0/24 fd00::/64') holds the address; True for what is no list of networks."""
    try:
        return any(ip_address(address) in ip_network(word, strict=False) for word in networks.replace(",", " ").split())
    except ValueError:
        return True


def _by_services(node: Node, which: str, why_not: str) -> Said:
    """By the services alone, where rules could not be read."""
    asked = {unit: service(node, unit, which) for unit in (*FILTERING, *LOADING)}
    states = {unit: switch(readings, which)[0] for unit, readings in asked.items() if readings}
    filtering, loading = ([unit for unit in units if states.get(unit)] for units in (FILTERING, LOADING))
    verb = "is active" if which == "value" else "is enabled"
    if filtering:
        return Said(Answer.NO, f"{', '.join(filtering)} {verb}, and there is no bypass")
    if loading:
        return Said(Answer.UNKNOWN, f"{', '.join(loading)} {verb}, and which rules it loads is not known: {why_not}")
    if which == "startup" and states and all(state is False for state in states.values()):
        return Said(Answer.YES, f"none of {', '.join(states)} is enabled")
    return Said(Answer.UNKNOWN, why_not)


def since_boot(node: Node) -> Said:
    """2c: what runs is what start-up gives: nobody has switched it since."""
    now, at_startup = firewall_off(node), firewall_off_at_startup(node)
    if now.answer is Answer.NO:
        later = "; it will be after the next boot" if at_startup.answer is Answer.YES else ""
        return Said(Answer.NO, f"{now.evidence}{later}")
    if Answer.UNKNOWN in (now.answer, at_startup.answer):
        unknown = now if now.answer is Answer.UNKNOWN else at_startup
        return Said(Answer.UNKNOWN, unknown.evidence)
    if at_startup.answer is Answer.NO:
        return Said(Answer.NO, f"{now.evidence}, but start-up brings it back: {at_startup.evidence}")
    return Said(Answer.YES, "what runs is what start-up gives")
