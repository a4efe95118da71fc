"""What was counted while one cell was measured, laid out for the rules: pure, from replicates, facts and idle seconds.

A sum over a host's counters says more than any process's own account: the kernel charges the work of receiving to
nobody, or to whoever happens to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from wulf.core.records import Param
from wulf.measure.engine.collect import Replicate, add_counters, samples_of
from wulf.measure.engine.plan import Cell
from wulf.store.run import Facts

LEAST_CPU_SECONDS = 0.3
"""Below, a CPU's share is not judged: the kernel counts in ticks of 10 ms, so that 30 ticks resolve 3 %."""

NOMINAL_SPEED = frozenset({"veth", "bridge", "dummy", "tun"})
"""Drivers whose speed is a number for show (10 Gbit/s, 10 Mbit/s), unless somebody has set another."""

STALLED = "though the connection is open"
"""In the message of a `timeout`: it had been opened, and then nothing moved (native/net/client/crew.cpp)."""

_NOT_BUSY = ("idle", "iowait", "steal", "guest", "guest_nice")
_WITHIN_USER = ("guest", "guest_nice")


@dataclass(frozen=True)
class Cpu:
    """Where one CPU's time went, as shares of it.

    Attributes
    ----------
    kinds
        The busy time: user, nice, system, irq, softirq.
    before
        The share that was used in the idle seconds, niced work aside; None where none were taken.
    """

    name: str
    kinds: Mapping[str, float]
    steal: float
    before: float | None

    @property
    def used(self) -> float:
        """The share that was not idle: busy, or taken by the hypervisor."""
        return sum(self.kinds.values()) + self.steal

    @property
    def earnest(self) -> float:
        """The share that was used by work that does not give way to other work, as niced work does."""
        return self.used - self.kinds.get("nice", 0.0)

    @property
    def own(self) -> float:
        """The share that came with the measurement, as far as the idle seconds tell."""
        return self.earnest - (self.before or 0.0)

    @property
    def main(self) -> str:
        """What most of its busy time went into."""
        return max(self.kinds, key=lambda kind: self.kinds[kind])


def cpu_of(name: str, times: Mapping[str, float], before: float | None = None) -> Cpu | None:
    """One CPU from its row of /proc/stat; None where too little time was counted."""
    total = sum(value for kind, value in times.items() if kind not in _WITHIN_USER)
    if total < LEAST_CPU_SECONDS:
        return None
    kinds = {kind: value / total for kind, value in times.items() if kind not in _NOT_BUSY}
    return Cpu(name, kinds, times.get("steal", 0.0) / total, before)


@dataclass(frozen=True)
class End:
    """One end of a cell.

    Attributes
    ----------
    counters
        Deltas of the host's counters, summed over all replicates.
    idle
        The same over the idle seconds before and after, with their length in seconds under "seconds".
    during
        What was seen of this end's connections in each replicate.
    seconds
        Measured time, all replicates together.
    """

    node: str
    facts: Facts = field(default_factory=dict)
    counters: Mapping[str, Any] = field(default_factory=dict)
    idle: Mapping[str, Any] = field(default_factory=dict)
    during: Sequence[Mapping[str, Any]] = ()
    seconds: float = 0.0

    def fact(self, name: str) -> Any:
        """A fact's value; None where it is not known."""
        return self.facts.get(name, {}).get("value")

    @property
    def nic(self) -> str | None:
        """The interface that carried the traffic: the one that moved most bytes."""
        moved = {
            name: counts.get("rx_bytes", 0) + counts.get("tx_bytes", 0)
            for name, counts in self.counters.get("nic", {}).items()
        }
        if not moved:
            listed = [str(self.fact("nic.interfaces"))] if self.fact("nic.interfaces") else []
            return listed[0] if listed and " " not in listed[0] and listed[0] != "none" else None
        return str(max(moved, key=lambda name: moved[name]))

    def nic_fact(self, name: str) -> Any:
        """A fact of that interface."""
        return self.fact(f"nic.{self.nic}.{name}") if self.nic else None

    def nic_count(self, *names: str) -> float:
        """Counters of that interface, added up; less what the idle seconds let expect."""
        return sum(self.count("nic", self.nic, name) for name in names) if self.nic else 0.0

    def count(self, *path: str) -> float:
        """One counter's growth, less what the idle seconds let expect; never below 0."""
        counted, before = _at(self.counters, path), _at(self.idle.get("counters", {}), path)
        idle_seconds = float(self.idle.get("seconds") or 0.0)
        expected = before / idle_seconds * self.seconds if idle_seconds else 0.0
        return max(0.0, counted - expected)

    def softnet(self, name: str) -> float:
        """A column of /proc/net/softnet_stat over all CPUs."""
        return sum(self.count("softnet", cpu, name) for cpu in self.counters.get("softnet", {}))

    def cpus(self) -> list[Cpu]:
        """Every CPU that was seen for long enough, the busiest first."""
        rest = self.idle.get("counters", {}).get("cpu", {})
        found = []
        for name, times in self.counters.get("cpu", {}).items():
            before = cpu_of(name, rest[name]) if name in rest else None
            cpu = cpu_of(name, times, before.earnest if before else None)
            if cpu and name != "all":
                found.append(cpu)
        return sorted(found, key=lambda cpu: -cpu.used)

    def tcp_count(self, name: str) -> float | None:
        """One of TCP's counts, over all replicates and channels; None where it was not counted."""
        seen = [one["tcp"]["counts"].get(name) for one in self.during if one.get("tcp")]
        known = [value for value in seen if value is not None]
        return float(sum(known)) if known else None

    def tcp_gauge(self, name: str, which: str = "median") -> float | None:
        """One of TCP's gauges: the median over the replicates; None where it was not seen."""
        seen = [one["tcp"]["gauges"].get(name, {}).get(which) for one in self.during if one.get("tcp")]
        known = [float(value) for value in seen if value is not None]
        return median(known) if known else None


def _at(tree: Mapping[str, Any], path: Sequence[str | None]) -> float:
    """The number at the end of the path; a counter that is not there has not changed."""
    here: Any = tree
    for name in path:
        here = here.get(name, {}) if isinstance(here, Mapping) else {}
    return float(here) if isinstance(here, int | float) else 0.0


@dataclass(frozen=True)
class Situation:
    """All that the rules may look at: one cell, both its ends, and what it gave.

    Attributes
    ----------
    samples
        The primary metric's value in each replicate.
    peaks
        The modes of the single round trips in each replicate: [{"at": s, "share"}, ...].
    loss
        The share of messages that did not arrive; None where the transport repeats them.
    failures, stalls
        Replicates that gave nothing; and those among them in which nothing moved, though a connection had been opened.
    interval, back
        The intervals of the throughput there and of the same pair's way back, where both were measured.
    """

    client: End
    server: End
    transport: str
    pattern: str
    params: Mapping[str, Param] = field(default_factory=dict)
    samples: Sequence[float] = ()
    peaks: Sequence[Sequence[Mapping[str, float]]] = ()
    loss: float | None = None
    failures: int = 0
    stalls: int = 0
    interval: tuple[float, float] | None = None
    back: tuple[float, float] | None = None

    @property
    def value(self) -> float | None:
        """The primary metric's median over the replicates."""
        return median(self.samples) if self.samples else None

    @property
    def subject(self) -> str:
        """The pair, as records name it."""
        return f"{self.client.node}>{self.server.node}"

    @property
    def streams(self) -> bool:
        """Whether it is a throughput that is limited, not a round trip."""
        return self.pattern == "stream"

    @property
    def ends(self) -> tuple[End, ...]:
        """The machines at its ends, each once: two nodes of one machine (as in a lab) share their CPUs."""
        boot = [end.fact("kernel.boot_id") or end.node for end in (self.client, self.server)]
        return (self.client,) if boot[0] == boot[1] else (self.client, self.server)

    def cpus(self) -> list[tuple[End, Cpu]]:
        """The CPUs that may limit it, the busiest first: where both ends were put on CPUs, those alone."""
        placed = {str(self.params[name]) for name in ("cpu", "server_cpu") if self.params.get(name) is not None}
        shared = len(self.ends) == 1
        found = [(end, cpu) for end in self.ends for cpu in end.cpus() if not (shared and placed) or cpu.name in placed]
        return sorted(found, key=lambda item: -item[1].used)

    @property
    def speed(self) -> float | None:
        """B/s of the slower end's interface; None where it is not known, or a number for show.

        A virtual interface's speed counts if it is not beaten by what was measured and is not the one that its driver
        always says.
        """
        known = []
        for end in (self.client, self.server):
            speed, driver = end.nic_fact("speed"), end.nic_fact("driver")
            shown = driver in NOMINAL_SPEED and speed in (10_000_000 / 8, 10_000_000_000 / 8)
            if speed and not shown and (not self.streams or (self.value or 0.0) <= float(speed)):
                known.append(float(speed))
        return min(known) if known else None

    @property
    def headers(self) -> int:
        """Bytes of IPv4 and TCP with timestamps (RFC 7323), or of IPv4 and UDP, in every packet."""
        return 28 if self.transport == "udp" else 52

    @property
    def payload_share(self) -> float:
        """The share of a full frame on the wire that carries data.

        Of MTU + 38 B (preamble, header, checksum, gap: IEEE 802.3), without the `headers`.
        """
        mtu = float(self.client.nic_fact("mtu") or 1500)
        return (mtu - self.headers) / (mtu + 38)


def situation_of(
    cell: Cell,
    replicates: Sequence[Replicate],
    fingerprint: Mapping[str, Facts],
    idle: Mapping[str, Mapping[str, Any]],
) -> Situation:
    """Lay out what is known of one cell.

    Parameters
    ----------
    replicates
        The cell's, failed ones included.
    fingerprint
        Node → facts.
    idle
        Node → {"seconds", "counters"} of the idle seconds; empty where none were taken.
    """
    good = [replicate for replicate in replicates if replicate["ok"]]
    seconds = sum(float(replicate.get("seconds") or 0.0) for replicate in good)

    def end(node: str, role: str) -> End:
        counters: dict[str, Any] = {}
        for replicate in good:
            add_counters(counters, (replicate.get("counters") or {}).get(role) or {})
        during = [seen for replicate in good if (seen := (replicate.get("during") or {}).get(role))]
        return End(node, dict(fingerprint.get(node, {})), counters, idle.get(node, {}), during, seconds)

    primary = cell.metrics[0].name
    return Situation(
        client=end(cell.client, "client"),
        server=end(cell.server, "server"),
        transport=cell.transport,
        pattern=cell.pattern,
        params=cell.params,
        samples=samples_of(primary, good),
        peaks=[replicate["metrics"].get(primary, {}).get("peaks") or [] for replicate in good],
        loss=_loss(good),
        failures=len(replicates) - len(good),
        stalls=sum(_stalled(replicate) for replicate in replicates),
    )


def _stalled(replicate: Replicate) -> bool:
    """Whether it was given up with its connections open and nothing moving over them, as wulf-net says."""
    error = replicate.get("error") or {}
    return error.get("code") == "timeout" and STALLED in str(error.get("message"))


def _loss(good: Sequence[Replicate]) -> float | None:
    """Lost datagrams over those sent, all replicates together; None where none can be lost."""
    lost = samples_of("loss", good)
    if lost:
        return median(lost)
    if not samples_of("lost", good):
        return None
    gone = sum(samples_of("lost", good))
    back = sum(float(replicate["metrics"].get("rtt", {}).get("n") or 0) for replicate in good)
    return gone / (gone + back) if gone + back else None
