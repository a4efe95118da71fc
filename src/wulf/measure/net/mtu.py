"""Trouble with the largest packet: ends or a path that do not agree on it, and paths that drop it without a word."""

from __future__ import annotations

from wulf.core.units import show
from wulf.measure.net.bottleneck import Diagnosis, Limits, figure
from wulf.measure.net.situation import End, Situation


def mtu_mismatch(s: Situation, _: Limits) -> Diagnosis | None:
    """The ends, or the path between them, do not agree on the largest packet."""
    sizes = {end.node: end.nic_fact("mtu") for end in (s.client, s.server)}
    if None in sizes.values() or len(sizes) < 2:
        return None
    if len(set(sizes.values())) > 1:
        told = " and ".join(f"{node} has {size} B" for node, size in sizes.items())
        small = min(sizes, key=lambda node: sizes[node])
        text = f"The MTUs differ: {told}: large datagrams get lost at {small}, and TCP is held to the smaller."
        return Diagnosis(small, text, [figure(node, "MTU", float(size), "B") for node, size in sizes.items()])
    path, own = s.client.tcp_gauge("pmtu", "min"), float(sizes[s.client.node])
    if path is None or path >= own:
        return None
    text = f"A hop between the two carries only {path:.0f} B, where both ends have an MTU of {own:.0f} B."
    return Diagnosis(s.subject, text, [figure(s.subject, "path MTU", path, "B", own)])


def _largest_packet(end: End) -> float | None:
    """The MTU of the interface in use; where nothing was counted, of the one that allows least."""
    known = end.nic_fact("mtu")
    listed = [one.get("value") for name, one in end.facts.items() if name.startswith("nic.") and name.endswith(".mtu")]
    sizes = [float(size) for size in ([known] if known else listed) if size]
    return min(sizes, default=None)


def path_mtu(s: Situation, at: Limits) -> Diagnosis | None:
    """Full packets vanish on the way, and no ICMP message says so; the small ones that open a channel pass.

    Of a stream over TCP every packet is full, whatever its calls write.
    """
    sizes = [_largest_packet(end) for end in (s.client, s.server)]
    mtu = sizes[0]
    if mtu is None or mtu != sizes[1] or s.samples:  # where the ends differ, that says more
        return None
    length = float(s.params.get("bytes") or 0.0)
    fills = length + s.headers > mtu or (s.transport == "tcp" and s.streams)
    stalled = s.stalls >= at["stalls"] and s.stalls == s.failures
    lost = s.transport == "udp" and not s.failures and s.loss is not None and s.loss >= at["lost"]
    if not fills or not (stalled or lost):
        return None
    what = f"Messages of {show(length, 'B')}" if length else "Full segments"
    fate = f"all of {s.stalls} attempts stood still" if stalled else "all datagrams were lost"
    text = (
        f"{what} do not get through ({fate}), though small packets opened every channel: a hop drops packets "
        f"that the interfaces' MTU of {mtu:.0f} B allows, without an ICMP message (a path-MTU black hole, RFC 2923)."
    )
    evidence = [figure(s.subject, "MTU of the interfaces", mtu, "B")]
    if length:
        evidence.append(figure(s.subject, "message with headers", length + s.headers, "B", mtu))
    if stalled:
        evidence.append(figure(s.subject, "attempts that stood still", float(s.stalls), "1", at["stalls"]))
    else:
        evidence.append(figure(s.subject, "datagrams lost", s.loss, "1", at["lost"]))
    return Diagnosis(s.subject, text, evidence)
