"""The rule table: from what was counted at both ends to what limits a measurement. One entry a rule; see `RULES`.

A judge is a pure function of a `Situation` and the rule's own limits. docs/reference/verdicts.md is made of this table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.findings import Severity
from wulf.core.names import capitalised
from wulf.core.units import show, show_interval
from wulf.measure.engine.collect import Explain, Replicate
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NET
from wulf.measure.net.bottleneck import Bottleneck, Diagnosis, Limits, Rule, Threshold, figure
from wulf.measure.net.bottleneck import judge as ask
from wulf.measure.net.drops import losses, worst_drop
from wulf.measure.net.mtu import mtu_mismatch, path_mtu
from wulf.measure.net.situation import End, Situation, situation_of
from wulf.measure.net.windows import receiver_says, window_share
from wulf.stats.cluster.outliers import LEAST_RATIO
from wulf.stats.series.periods import joined, period_of
from wulf.store.run import Facts

SHAPERS = ("tbf", "htb", "hfsc", "cake", "netem", "cbs")
"""Queueing disciplines that hold traffic back on purpose."""


def asked_rate(s: Situation, at: Limits) -> Diagnosis | None:
    """The senders were told how fast to be, and were."""
    rate, value = s.params.get("rate"), s.value
    if not s.streams or not isinstance(rate, int | float) or value is None or value < at["share"] * rate:
        return None
    text = f"It runs at the rate that was asked for ({show(float(rate), 'B/s')}): nothing else limits it."
    return Diagnosis(s.subject, text, [figure(s.subject, "throughput / rate", value / rate, "1", at["share"])])


def link_bound(s: Situation, at: Limits) -> Diagnosis | None:
    """The wire is full."""
    speed, value = s.speed, s.value
    if not s.streams or speed is None or value is None:
        return None
    room = speed * s.payload_share
    if value < at["share"] * room:
        return None
    text = (
        f"The link is full: {show(value, 'B/s')} of the {show(room, 'B/s')} that {show(speed, 'B/s')} on the wire "
        f"leaves for data."
    )
    return Diagnosis(s.subject, text, [figure(s.subject, "throughput / line rate", value / room, "1", at["share"])])


def duplex_mismatch(s: Situation, at: Limits) -> Diagnosis | None:
    """One end sends while it hears, the other must not; or a link is half duplex at all."""
    modes = {end.node: end.nic_fact("duplex") for end in (s.client, s.server)}
    half = [node for node, mode in modes.items() if mode == "half"]
    if half:
        told = " and ".join(f"{node} says {mode or 'nothing'}" for node, mode in modes.items())
        return Diagnosis(
            half[0], f"Duplex: {told}; a half-duplex end drops what arrives while it sends.",
            [figure(node, "duplex", mode, "") for node, mode in modes.items()],
        )  # fmt: skip
    for one, other in ((s.client, s.server), (s.server, s.client)):
        late, broken = one.nic_count("collisions", "tx_carrier"), other.nic_count("rx_frame")
        if late >= at["collisions"] and broken >= at["frames"]:
            text = (
                f"Duplex mismatch: {one.node} saw {late:.0f} collisions, {other.node} received {broken:.0f} broken "
                f"frames: {one.node} works at half, {other.node} at full duplex."
            )
            return Diagnosis(one.node, text, [
                figure(one.node, "collisions", late, "1", at["collisions"]),
                figure(other.node, "broken frames", broken, "1", at["frames"]),
            ])  # fmt: skip
    return None


def _shaper(s: Situation) -> tuple[End, str] | None:
    """The end, and its queueing discipline that shapes, where facts name one."""
    for end in (s.client, s.server):
        words = str(end.nic_fact("qdisc") or "").split()
        kind = next((word for word in words if word in SHAPERS), None)
        if kind:
            return end, kind
    return None


def shaped(s: Situation, at: Limits) -> Diagnosis | None:
    """Something on the path holds it at a rate below the link's: a shaper, or a slower hop."""
    value, rtt, least = s.value, s.client.tcp_gauge("rtt"), s.client.tcp_gauge("min_rtt", "min")
    if not s.streams or value is None:
        return None
    known = _shaper(s)
    stands = rtt is not None and least is not None and rtt >= at["growth"] * least and rtt - least >= at["queue"]
    spread = (max(s.samples) - min(s.samples)) / value
    free = all(cpu.own < at["free"] for _, cpu in s.cpus()[:1])
    if not (stands and spread <= at["spread"] and (known or free)) or window_share(s)[0] >= at["window"]:
        return None
    where = f"{known[0].node}'s {known[1]}" if known else "a shaper or a slower hop on the path"
    text = (
        f"{where} holds it at {show(value, 'B/s')}: the rate is steady within {spread:.1%}, and a queue stands before "
        f"it: the round trip grows from {show(least, 's')} to {show(rtt, 's')}."
    )
    return Diagnosis(known[0].node if known else s.subject, text if known else capitalised(text), [
        figure(s.subject, "round trip under load / at rest", (rtt or 0) / (least or 1), "1", at["growth"]),
        figure(s.subject, "queue", (rtt or 0) - (least or 0), "s", at["queue"]),
        figure(s.subject, "spread of the throughput", spread, "1", at["spread"]),
    ])  # fmt: skip


def cpu_bound(s: Situation, at: Limits) -> Diagnosis | None:
    """One core at one end has no time left."""
    for end, cpu in s.cpus():
        before = cpu.before or 0.0
        if cpu.used < at["used"] or cpu.own < at["own"]:
            continue
        parts = ", ".join(f"{share:.0%} {kind}" for kind, share in sorted(cpu.kinds.items(), key=lambda k: -k[1])[:3])
        stolen = f", {cpu.steal:.0%} stolen by the hypervisor" if cpu.steal >= at["steal"] else ""
        other = f" It was {before:.0%} busy before, with something else." if before >= at["before"] else ""
        text = f"CPU {cpu.name} of {end.node} is {cpu.used:.0%} used ({parts}{stolen}): one core is the limit.{other}"
        return Diagnosis(end.node, text, [
            figure(end.node, f"CPU {cpu.name} used", cpu.used, "1", at["used"]),
            figure(end.node, f"CPU {cpu.name} {cpu.main}", cpu.kinds[cpu.main], "1"),
            figure(end.node, f"CPU {cpu.name} used by more than before", cpu.own, "1", at["own"]),
            figure(end.node, f"CPU {cpu.name} busy before", cpu.before, "1", at["before"]),
        ], "" if s.streams else "put both ends on cores that nothing else uses (--cpu, --server-cpu)")  # fmt: skip
    return None


def window_bound(s: Situation, at: Limits) -> Diagnosis | None:
    """TCP had data and room in the network, but not in a buffer."""
    share, name = window_share(s)
    if not s.streams or share < at["share"] or s.value is None:
        return None
    end, option = (s.server, "rcvbuf") if name == "rwnd_limited" else (s.client, "sndbuf")
    evidence = [figure(s.client.node, f"{name} / busy time", share, "1", at["share"])]
    if option == "sndbuf":
        text, step = f"{end.node}'s send buffer", "raise the third value of net.ipv4.tcp_wmem, and net.core.wmem_max"
    else:
        text, step = receiver_says(s, at, evidence)
    text += f" held it up for {share:.0%} of the time that there was data to send"
    if s.params.get(option) is not None:
        text += f" (--{option} {s.params[option]} was asked for)"
        step = f"leave --{option} to the system"
    return Diagnosis(end.node, f"{text}.", evidence, step)


def drop_bound(s: Situation, at: Limits) -> Diagnosis | None:
    """Messages are lost on the way, and where is counted."""
    share, words = losses(s)
    if share < at["share"]:
        return None
    dropped = worst_drop(s.client, s.server)
    evidence = [figure(s.subject, words, share, "1", at["share"])]
    if dropped is None:
        queue = s.client.nic_fact("qdisc")
        first = f"{s.client.node}'s own queue ({queue})" if queue else f"{s.client.node}'s own queue"
        text = f"{share:.2%} of {words}, and neither end counts a drop: {first}, a switch or the wire loses them."
        return Diagnosis(s.subject, text, evidence, "look at `tc -s qdisc` and the switch ports' counters")
    count, end, place = dropped
    evidence.append(figure(end.node, ".".join(place.path), count, "1"))
    where = place.words.format(queue=f" ({end.nic_fact('qdisc')})" if end.nic_fact("qdisc") else "")
    text = f"{share:.2%} of {words}: {where} at {end.node} ({count:.0f} times)."
    return Diagnosis(end.node, text, evidence, place.step)


def path_drops(s: Situation, at: Limits) -> Diagnosis | None:
    """As `drop_bound`, where a full link or a shaper makes losses by right: only drops that an end counts."""
    found = drop_bound(s, at)
    return found if found is not None and len(found.evidence) > 1 else None


def _steps(peaks: Sequence[Mapping[str, float]], at: Limits, *, free: bool) -> tuple[float, int] | None:
    """The period in seconds of one replicate's round trips, and the number of its modes; None where there is none.

    Two modes may be the scheduler's, where the CPUs have work enough.
    """
    modes = [
        mode for mode in joined([(one["at"], one["share"]) for one in peaks], at["apart"]) if mode[1] >= at["mode"]
    ]
    period = period_of([where for where, _ in modes], first=at["first"], off=at["off"])
    covered = sum(share for _, share in modes) >= at["covered"] and (free or len(modes) > 2)
    return (period, len(modes)) if period is not None and covered and period >= at["period"] else None


def interrupt_moderated(s: Situation, at: Limits) -> Diagnosis | None:
    """Round trips wait for a timer of an interface, not for the wire."""
    if s.streams or s.value is None:
        return None
    free = all(cpu.own < at["busy"] for _, cpu in s.cpus()[:1])
    periods = [found for peaks in s.peaks if (found := _steps(peaks, at, free=free))]
    if s.peaks and len(periods) >= at["agree"] * len(s.peaks):
        period, modes = sorted(periods)[len(periods) // 2]
        steps = f"Round trips come in steps of {show(period, 's')} ({modes} modes at its multiples)"
        text = f"{steps}: an interface gathers interrupts."
        return Diagnosis(s.subject, text, [figure(s.subject, "period of the round trips", period, "s", at["period"])])
    if not free or not s.value:
        return None
    waits = [(end, delay) for end in (s.client, s.server)
             if (delay := _moderation(end)) >= at["delay"] * s.value]  # fmt: skip
    if not waits:
        return None
    end, delay = max(waits, key=lambda item: item[1])
    text = (
        f"{end.node}'s interface may hold an interrupt back for {show(delay, 's')}; that is most of the round trip "
        f"of {show(s.value, 's')}, while the CPUs have time left."
    )
    return Diagnosis(end.node, text, [figure(end.node, "delay / round trip", delay / s.value, "1", at["delay"])])


def _moderation(end: End) -> float:
    """The longest that the interface's settings let a packet wait, in seconds."""
    timer = end.nic_fact("gro_flush_timeout") if end.nic_fact("napi_defer_hard_irqs") else 0.0
    return max(float(end.nic_fact("coalescing.rx_delay") or 0.0), float(timer or 0.0))


def asymmetric(s: Situation, at: Limits) -> Diagnosis | None:
    """The way back is slower, with its whole interval."""
    if s.interval is None or s.back is None or s.interval[0] < at["ratio"] * s.back[1]:
        return None
    a, b = s.client.node, s.server.node
    text = f"{a} → {b} carries {show_interval(*s.interval, 'B/s')}, the way back only {show_interval(*s.back, 'B/s')}."
    ratio = figure(s.subject, "slowest there / fastest back", s.interval[0] / s.back[1], "1", at["ratio"])
    return Diagnosis(f"{b}>{a}", text, [ratio])


_LOSS = Threshold(
    0.001, "1",
    "at one loss in a thousand a TCP window stays near 39 segments (1.22/√p: Mathis et al. 1997), 4.5 Gbit/s at 100 µs",
)  # fmt: skip

RULES: tuple[Rule, ...] = (
    Rule(
        "asked-rate", "The senders were told how fast to be, and were.", "the parameter `rate`",
        {"share": Threshold(0.95, "1", "the pacer keeps its rate within a few percent")},
        asked_rate, next_step="leave out --rate to see what the link can do",
    ),
    Rule(
        "link-bound", "The wire is full.", "the interfaces' speed and MTU, and a throughput",
        {"share": Threshold(0.9, "1", "of what frames leave for data (IEEE 802.3 framing); acknowledgements and "
                            "retransmits take the rest")},
        link_bound, next_step="none: a faster link, or more of them",
    ),
    Rule(
        "duplex-mismatch", "One end works at half duplex.", "the interfaces' duplex mode and error counters",
        {"collisions": Threshold(1, "1", "a full-duplex link has none at all (IEEE 802.3)"),
         "frames": Threshold(1, "1", "the other end cuts frames off when it sees a late collision (Shalunov, "
                             "Carlson: Detecting Duplex Mismatch on Ethernet, PAM 2005)")},
        duplex_mismatch, Severity.WARN, "let both ends negotiate, or set both alike (ethtool -s)",
    ),
    Rule(
        "path-mtu", "Full packets vanish on the way, and no ICMP message says so; small ones pass.",
        "the interfaces' MTU, and replicates that all failed or lost everything",
        {"stalls": Threshold(2, "1", "replicates, each with a connection of its own that opened and then stood still: "
                             "of a peer that is gone, the second would not open"),
         "lost": Threshold(1, "1", "all: a datagram of several packets is lost with any one of them")},
        path_mtu, Severity.WARN,
        "find the largest that passes (`ping -M do -s 1472 HOST`, and less); set that MTU at both ends, or let ICMP's "
        "'fragmentation needed' pass; net.ipv4.tcp_mtu_probing=1 helps TCP meanwhile",
    ),
    Rule(
        "shaped", "A shaper or a slower hop on the path holds it at a steady rate.",
        "TCP's round trip under load and at rest, and the throughput of several replicates",
        {"growth": Threshold(4, "1", "delayed acknowledgements double a round trip; a queue does more"),
         "queue": Threshold(0.0005, "s", "longer than any interface gathers interrupts for (ITR is 250 µs at most)"),
         "spread": Threshold(0.1, "1", "a shaper's rate does not vary, a crowded CPU's does"),
         "free": Threshold(0.8, "1", "with the busiest core above, the core itself may be the slower hop"),
         "window": Threshold(0.5, "1", "above, the window limits, and a long queue is its consequence")},
        shaped, next_step="look at `tc qdisc` at both ends, and the switch ports' speed and limits",
        unless=("asked-rate", "link-bound"),
    ),
    Rule(
        "interrupt-moderated", "Round trips wait for an interface that gathers interrupts.",
        "the modes of the round trips, or the interfaces' coalescing settings",
        {"mode": Threshold(0.03, "1", "a smaller mode may be a few interruptions by the scheduler"),
         "covered": Threshold(0.8, "1", "the steps must be the rule, not the exception"),
         "apart": Threshold(0.06, "1", "nearer modes are one: the histogram resolves 3 %"),
         "first": Threshold(3, "1", "above, nearly any two modes are multiples of their distance"),
         "off": Threshold(0.1, "1", "of the period: the modes are resolved to 3 %"),
         "period": Threshold(5e-6, "s", "shorter than any interface's timer"),
         "agree": Threshold(0.5, "1", "of the replicates show it"),
         "delay": Threshold(0.5, "1", "of the round trip is the timer"),
         "busy": Threshold(0.8, "1", "with a busier core, two modes may be the scheduler's; three at multiples "
                           "are not")},
        interrupt_moderated,
        next_step="for latency: ethtool -C IFACE adaptive-rx off rx-usecs 0; it costs CPU time under load",
    ),
    Rule(
        "window-bound", "TCP had data to send but no room in a window or buffer.", "TCP_INFO of the sender",
        {"share": Threshold(0.5, "1", "of the time that it had data (tcpi_rwnd_limited, tcpi_sndbuf_limited over "
                            "tcpi_busy_time): more than all other causes together"),
         "large": Threshold(1 << 20, "B", "a window that any path within a building has room in: full, it is not read"),
         "filled": Threshold(0.25, "1", "of the window in flight (throughput times round trip): a small one is full")},
        window_bound, Severity.WARN, "larger buffers", unless=("asked-rate", "link-bound"),
    ),
    Rule(
        "cpu-bound", "One core at one end has no time left.", "/proc/stat of both ends over at least 0.3 s",
        {"used": Threshold(0.95, "1", "busy or stolen; a tick of 10 ms now and then is charged to idle time"),
         "own": Threshold(0.3, "1", "niced work aside, and more than in the idle second: else something else uses "
                          "the core, and the measurement may run elsewhere"),
         "before": Threshold(0.2, "1", "busy before the measurement already: worth telling"),
         "steal": Threshold(0.02, "1", "taken by the hypervisor: worth telling")},
        cpu_bound, next_step="more streams on more cores, larger messages, or spread the interrupts (RSS, RPS)",
        unless=("asked-rate", "link-bound", "interrupt-moderated", "path-mtu"),
    ),
    Rule(
        "drop-bound", "Messages are lost on the way.",
        "retransmits or the loss of datagrams, and the drop counters of both ends", {"share": _LOSS},
        drop_bound, Severity.WARN, "look at where they are lost", unless=("link-bound", "shaped", "path-mtu"),
    ),
    Rule(
        "drops", "A full link or a shaper loses messages by right; this end loses them, too.",
        "the drop counters of both ends", {"share": _LOSS}, path_drops, Severity.WARN, "look at where they are lost",
        unless=("drop-bound", "path-mtu"),
    ),
    Rule(
        "mtu-mismatch", "The ends, or the path between them, do not agree on the largest packet.",
        "the interfaces' MTU, and TCP's path MTU", {},
        mtu_mismatch, Severity.WARN, "set one MTU on all interfaces and switch ports of a network",
    ),
    Rule(
        "asymmetric", "One way of a pair is slower than the other.", "the throughput of both ways, as a survey has it",
        {"ratio": Threshold(LEAST_RATIO, "1", "between the intervals' near ends: from here on a link stands out, too")},
        asymmetric, Severity.WARN, "look at what only one way has: a shaper, a lost duplex or pause setting, another "
        "route",
    ),
)  # fmt: skip
"""In the order asked: a cause before its symptoms."""


def bottlenecks(situation: Situation) -> list[Bottleneck]:
    """What limits a cell, the strongest first."""
    return ask(situation, RULES)


def explainer(fingerprint: Mapping[str, Facts], idle: Mapping[str, Mapping[str, Any]]) -> Explain:
    """Says what limits a cell, given the nodes' facts and idle seconds (see `situation_of`)."""

    def explain(cell: Cell, replicates: Sequence[Replicate]) -> list[dict[str, Any]]:
        if cell.name or cell.program != NET:
            return []  # a row of the node survey, or a node's own probe: each measures the one thing that limits it
        return [one.to_json() for one in bottlenecks(situation_of(cell, replicates, fingerprint, idle))]

    return explain
