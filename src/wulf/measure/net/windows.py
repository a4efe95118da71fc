"""Whether a window or buffer held a TCP sender up, by the kernel's own account, and whose."""

from __future__ import annotations

from wulf.core.findings import Evidence
from wulf.core.units import show
from wulf.measure.net.bottleneck import Limits, figure
from wulf.measure.net.situation import Situation


def window_share(s: Situation) -> tuple[float, str]:
    """The larger share of the sender's busy time in which a window held it up, and whose."""
    busy = s.client.tcp_count("busy_time")
    if s.transport != "tcp" or not busy:
        return 0.0, ""
    waits = {name: s.client.tcp_count(name) or 0.0 for name in ("rwnd_limited", "sndbuf_limited")}
    name = max(waits, key=lambda key: waits[key])
    return min(1.0, waits[name] / busy), name


def receiver_says(s: Situation, at: Limits, evidence: list[Evidence]) -> tuple[str, str]:
    """Whether the receiver's window is too small, or large but full because nobody reads: words, and what helps."""
    window, rtt = s.client.tcp_gauge("snd_wnd", "max") or 0.0, s.client.tcp_gauge("rtt") or 0.0
    used = (s.value or 0.0) * rtt
    evidence += [figure(s.server.node, "window", window, "B", at["large"]), figure(s.subject, "in flight", used, "B")]
    if s.params.get("rcvbuf") is None and window >= at["large"] and used < at["filled"] * window:
        return (
            f"{s.server.node} does not read fast enough: its full receive window, {show(window, 'B')} when empty,",
            "look at the core that the reading thread runs on",
        )
    return (
        f"{s.server.node}'s receive window, {show(window, 'B')} at most a round trip of {show(rtt, 's')},",
        "raise the third value of net.ipv4.tcp_rmem, and net.core.rmem_max",
    )
