"""Where messages get lost: which counters of either end say so, and how many were lost at all."""

from __future__ import annotations

from typing import NamedTuple

from wulf.measure.net.situation import End, Situation


class Place(NamedTuple):
    """Where something is dropped: how to count it at one end, in words, and what helps."""

    path: tuple[str, ...]
    words: str
    step: str


_BUFFER = "raise --rcvbuf (net.core.rmem_max), or send slower with --rate"
_QUEUE = "send slower with --rate; look at `tc -s qdisc`, and raise --sndbuf"
PLACES = (
    Place(("snmp", "Udp", "RcvbufErrors"), "the UDP receive buffer was full", _BUFFER),
    Place(("snmp6", "Udp6RcvbufErrors"), "the UDP receive buffer was full", _BUFFER),
    Place(("snmp", "Udp", "SndbufErrors"), "the send buffer or the queue{queue} was full", _QUEUE),
    Place(("snmp6", "Udp6SndbufErrors"), "the send buffer or the queue{queue} was full", _QUEUE),
    Place(("snmp", "Udp", "InCsumErrors"), "datagrams with a wrong checksum", "look at the cable and the offloads"),
    Place(("netstat", "TcpExt", "TCPBacklogDrop"), "TCP's backlog was full", "the receiver is too slow: see its CPUs"),
    Place(("netstat", "TcpExt", "TCPRcvQDrop"), "TCP's receive queue was full", "raise net.ipv4.tcp_rmem"),
    Place(("softnet", "dropped"), "the kernel's backlog was full (softnet)", "raise net.core.netdev_max_backlog"),
    Place(("nic", "rx_dropped"), "the interface dropped what arrived", "enlarge its ring (ethtool -G)"),
    Place(("nic", "rx_fifo"), "the interface's ring overran", "enlarge its ring (ethtool -G), spread its interrupts"),
    Place(("nic", "rx_errors"), "broken frames arrived", "look at the cable, the transceiver, the switch port"),
    Place(("nic", "tx_dropped"), "the interface dropped what was to be sent", "look at its queue (tc -s qdisc)"),
)


def _dropped(end: End, place: Place) -> float:
    kind, *rest = place.path
    if kind == "softnet":
        return end.softnet(rest[0])
    return end.nic_count(*rest) if kind == "nic" else end.count(*place.path)


def losses(s: Situation) -> tuple[float, str]:
    """The share that was lost, and in which words: segments sent again (spurious ones aside), or datagrams."""
    if s.loss is not None and s.transport != "tcp":
        return s.loss, "datagrams lost"
    sent, again = s.client.tcp_count("data_segs_out"), s.client.tcp_count("total_retrans")
    if not sent or again is None:
        return 0.0, ""
    return max(0.0, again - (s.client.tcp_count("dsack_dups") or 0.0)) / sent, "segments sent again"


def worst_drop(*ends: End) -> tuple[float, End, Place] | None:
    """The place that counted most drops: how many, at which end, where; None where none was counted."""
    seen = [(count, end, place) for end in ends for place in PLACES if (count := _dropped(end, place)) > 0]
    return max(seen, key=lambda item: item[0], default=None)
