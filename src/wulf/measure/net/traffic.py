"""The traffic that is there: from what the kernels say of their connections to figures of pairs of nodes. Pure.

A pair is directed: `n1>n2` is what n1's sockets say of sending to n2. Each poll of all nodes is a replicate of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any, cast

from wulf.agent.net.traffic import weighted_median
from wulf.core.records import Record
from wulf.measure.engine.collect import Replicate, records_of, samples_of
from wulf.measure.engine.plan import Cell, Pair, Plan
from wulf.measure.engine.probes import AGENT, NET, Metric
from wulf.measure.net.bottleneck import UNDETERMINED
from wulf.measure.net.bottleneck import judge as ask
from wulf.measure.net.packing import Group, Kept, packed, unpacked
from wulf.measure.net.rules import RULES
from wulf.measure.net.sent_again import LEAST_SEGMENTS, losses_of, of_totals
from wulf.measure.net.situation import situation_of
from wulf.stats.cluster.losses import Losses
from wulf.store.run import Facts

PHASE = "traffic"

RTT, LEAST, AGAIN, RATE, SENT = "smoothed_rtt", "least_rtt", "sent_again", "delivery_rate", "sent"
BUSY = "busy"
RECEIVER, BUFFER, CONGESTION = "receiver_limited", "buffer_limited", "congestion_limited"
OF_PAIRS = (
    Metric(RTT, "s"), Metric(LEAST, "s"), Metric(AGAIN, "1"), Metric(RATE, "B/s", "higher"),
    Metric(SENT, "B/s", "higher"), Metric(BUSY, "1"), Metric(RECEIVER, "1"), Metric(BUFFER, "1"),
    Metric(CONGESTION, "1"),
)  # fmt: skip
"""Of the connections of a pair: round trips as TCP estimates them, the share of segments that were sent again, the rate
at which the network delivered, what was sent, the share of the time in which any of them had data to send, and in which
shares of that time what held it up."""

PRESSURE, SOFTIRQ, WAITING, COST = "cpu_pressure", "softirq_share", "run_queue_delay", "agent_cpu"
OF_NODES = (Metric(PRESSURE, "1"), Metric(SOFTIRQ, "1"), Metric(WAITING, "1"), Metric(COST, "1"))
"""Shares of the time in which a task waited for a CPU (PSI), of the CPUs' time in softirqs, seconds that tasks waited
in run queues for each second of a CPU, and the share of one core that polling took."""

SOURCE = {"source": "traffic"}
"""In each record's parameters: nothing was sent for these figures."""

LEAST_DELIVERED = 10
"""Segments that a poll's round trip is taken from: TCP's own average forgets within about eight (RFC 6298)."""

LEAST_BUSY = 0.1
"""Seconds with data to send in a poll below which nothing is said of what held them up: the kernel counts in ticks."""

LIMITING = tuple(rule for rule in RULES if rule.name in ("window-bound", "drop-bound"))
"""The verdict rules that need only what the kernel says of the connections themselves."""

MOST_SERVICES = 64
"""Ports and programs that are told apart, the first and, of one poll, the largest; all others are one."""

MOST_OUTSIDE = 64
"""Addresses that are no node's of which each node's least round trip is kept, the first: servers have thousands."""

Service = tuple[int | None, str]
"""Port and program; of all others None and no name."""


def groups_of(columns: Mapping[str, Sequence[Any]]) -> Iterator[Group]:
    """The groups of an answer, each by itself."""
    names = tuple(columns)
    return (dict(zip(names, own, strict=True)) for own in zip(*columns.values(), strict=True))


def figures_of(groups: Sequence[Group], seconds: float) -> dict[str, dict[str, Any]]:
    """Metric → value, or why there is none, of the connections of one pair in one poll."""
    total = _totals(groups)
    sent_again = max(0, total["again"] - total["dups"])
    few = f"only {total['delivered']:,} segments were acknowledged between two polls"
    busy = total["busy"]
    shares = {RECEIVER: total["rwnd"] / busy, BUFFER: total["sndbuf"] / busy} if busy >= LEAST_BUSY else {}
    shares |= {CONGESTION: max(0.0, 1.0 - sum(shares.values()))} if shares else {}
    idle = f"there was data to send in {busy:.2g} s of {seconds:.3g} s"
    enough = total["delivered"] >= LEAST_DELIVERED
    return {
        RTT: _figure("s", _weighted(groups, "rtt") if enough else None, few),
        LEAST: _figure("s", _least(groups) if enough else None, few),
        AGAIN: _figure(
            "1", sent_again / total["segments"] if total["segments"] >= LEAST_SEGMENTS else None,
            f"only {total['segments']:,} segments were sent between two polls",
        ),
        RATE: _figure("B/s", _weighted(groups, "rate"), "the applications gave too little to send"),
        SENT: _figure("B/s", total["acked"] / seconds, ""),
        BUSY: _figure("1", _any_busy(groups, seconds), ""),
        **{name: _figure("1", shares.get(name), idle) for name in (RECEIVER, BUFFER, CONGESTION)},
    }  # fmt: skip


def _totals(groups: Sequence[Group]) -> Group:
    """What is summed over groups; of one it is what it says."""
    return groups[0] if len(groups) == 1 else {name: sum(group[name] for group in groups) for name in _SUMMED}


_SUMMED = ("acked", "segments", "again", "dups", "delivered", "busy", "rwnd", "sndbuf", "sockets")


def _figure(unit: str, value: float | None, reason: str) -> dict[str, Any]:
    return {"unit": unit, "value": value} if value is not None else {"unit": unit, "value": None, "reason": reason}


def _weighted(groups: Sequence[Group], name: str) -> float | None:
    """The median of a gauge over groups, by segments delivered; None where none has it."""
    if len(groups) == 1:
        return cast(float | None, groups[0][name])
    return weighted_median((group[name], group["delivered"]) for group in groups if group[name] is not None)


def _any_busy(groups: Iterable[Group], seconds: float) -> float:
    """The share of the time in which any connection had data to send, as if each of a group were busy as long, and at
    times that know nothing of the others'.
    """
    idle = 1.0
    for group in groups:
        if group["sockets"]:
            idle *= (1.0 - min(1.0, group["busy"] / (group["sockets"] * seconds))) ** group["sockets"]
    return 1.0 - idle


def _least(groups: Iterable[Group]) -> float | None:
    """The least round trip of all; None where none is known."""
    return min((group["least"] for group in groups if group["least"]), default=None)


def during(groups: Sequence[Group]) -> dict[str, Any]:
    """What the sender's end says, as wulf-net's own connections say it (`situation.End.during`)."""
    total = _totals(groups)
    counts = {
        "busy_time": total["busy"], "rwnd_limited": total["rwnd"], "sndbuf_limited": total["sndbuf"],
        "data_segs_out": total["segments"], "total_retrans": total["again"], "dsack_dups": total["dups"],
    }  # fmt: skip
    gauges = {
        "rtt": {"median": _weighted(groups, "rtt")}, "min_rtt": {"min": _least(groups)},
        "snd_wnd": {"max": max((one["window"] for one in groups), default=None) or None},
    }  # fmt: skip
    return {"client": {"tcp": {"counts": counts, "gauges": gauges}}}


def host_figures(answer: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Metric → value, or why there is none, of one node in one poll."""
    host, seconds, spent = answer["host"], answer["seconds"], answer["cpu_seconds"]
    none = "this kernel does not count it"

    def share(name: str, of: float | None) -> float | None:
        return host[name] / of if name in host and of else None

    return {
        PRESSURE: _figure("1", share("pressure", seconds), f"{none} (/proc/pressure)"),
        SOFTIRQ: _figure("1", share("softirq", host.get("cpu")), none),
        WAITING: _figure("1", share("run_delay", host.get("cpu")), f"{none} (/proc/schedstat)"),
        COST: _figure("1", None if spent is None else spent / seconds, none),
    }


@dataclass
class Unseen:
    """What the polls can't tell of, over all nodes.

    Attributes
    ----------
    ended
        Connections that ended between two polls: what they did since the last is in no figure.
    missed
        Connections that were opened and gone between two polls.
    left_out
        Groups that answers had no room for.
    outside, shared
        Most busy sockets in one poll with peers that are no node, and at addresses that several nodes have.
    """

    ended: int = 0
    missed: int = 0
    left_out: int = 0
    outside: int = 0
    shared: int = 0


@dataclass
class Polls:
    """The cells that the traffic has shown so far, and the replicates of them.

    Parameters
    ----------
    owners
        Address → the node that has it; None: several have.

    Attributes
    ----------
    blocks
        Polls so far that told of the time before them.
    outside
        (node, address that is no node's) → the least round trip so far, seconds: of `MOST_OUTSIDE` of a node's.
    """

    owners: Mapping[str, str | None]
    cells: list[Cell] = field(default_factory=list)
    blocks: int = 0
    unseen: Unseen = field(default_factory=Unseen)
    outside: dict[tuple[str, str], float] = field(default_factory=dict)
    _known: dict[tuple[str, str, Service | None], Cell] = field(default_factory=dict)
    _services: dict[Service, None] = field(default_factory=dict)
    _outside_of: Counter[str] = field(default_factory=Counter)
    _kept: list[list[Kept]] = field(default_factory=list)

    def take(self, answers: Mapping[str, Mapping[str, Any]], block: int, at: str) -> list[Replicate]:
        """One poll of all nodes: its replicates, one a node, a pair, and a pair's service."""
        taken: list[Replicate] = []
        outside = shared = 0
        for node, answer in answers.items():
            if not answer["seconds"]:
                continue
            pairs, beyond, several = self._pairs_of(node, groups_of(answer["groups"]))
            outside, shared = outside + beyond, shared + several
            self._count(answer)
            here = {
                "block": block, "at": at, "ok": True, "counters": {}, "seconds": answer["seconds"], "during": None,
                "info": None,
            }  # fmt: skip
            figures = host_figures(answer)
            cell = self._keep(node, node, None, (block, at, answer["seconds"], figures))
            taken.append({**here, "cell": cell, "metrics": figures})
            whole: dict[str, tuple[int, Kept, dict[str, Any]]] = {}  # a pair that has one service is not added up twice
            for (there, service), groups in pairs.items():
                if any(group["acked"] or group["segments"] for group in groups):
                    known = whole.get(there)
                    if known is None or known[0] != len(groups):
                        kept = (block, at, answer["seconds"], packed(groups))
                        known = len(groups), kept, _seen(groups, answer["seconds"])
                    whole.setdefault(there, known)
                    taken.append({**here, "cell": self._keep(node, there, service, known[1]), **known[2]})
        self.unseen.outside, self.unseen.shared = max(self.unseen.outside, outside), max(self.unseen.shared, shared)
        self.blocks = max(self.blocks, block + 1)
        return taken

    def _keep(self, node: str, there: str, service: Service | None, kept: Kept) -> int:
        cell = self._cell(node, there, service)
        self._kept[cell.id].append(kept)
        return cell.id

    def of_cell(self, cell: Cell) -> list[Replicate]:
        """A cell's replicates, made anew from what is kept of them: dicts would take over ten times the memory."""
        here = {"cell": cell.id, "ok": True, "counters": {}, "during": None, "info": None}
        return [
            {**here, "block": block, "at": at, "seconds": seconds,
             **({"metrics": what} if isinstance(what, dict) else _seen(unpacked(what), seconds))}
            for block, at, seconds, what in self._kept[cell.id]
        ]  # fmt: skip

    def alike(self, one: Cell, other: Cell) -> bool:
        """Whether two cells have the same replicates, as a pair has that has one service."""
        a, b = self._kept[one.id], self._kept[other.id]
        return len(a) == len(b) and all(map(is_, a, b))

    def _pairs_of(
        self, node: str, groups: Iterable[Group]
    ) -> tuple[dict[tuple[str, Service | None], list[Group]], int, int]:
        """(Peer, service) → groups, where None is all services; sockets of peers that are no node, or several."""
        found: dict[tuple[str, Service | None], list[Group]] = {}
        outside = shared = 0
        for group in groups:
            there = self.owners.get(group["peer"], "")
            if there is None:
                shared += group["sockets"]
            elif not there:
                outside += group["sockets"]
                self._look_outside(node, group)
            elif there != node:
                service = self._service(group)
                for own in (None, service):
                    found.setdefault((there, own), []).append(group)
        return found, outside, shared

    def _look_outside(self, node: str, group: Group) -> None:
        key = node, str(group["peer"])
        if not group["least"] or (key not in self.outside and self._outside_of[node] >= MOST_OUTSIDE):
            return
        self._outside_of[node] += key not in self.outside
        self.outside[key] = min(group["least"], self.outside.get(key, group["least"]))

    def _service(self, group: Group) -> Service:
        service = (group["port"], group["program"])
        if service in self._services or len(self._services) < MOST_SERVICES:
            self._services[service] = None
            return service
        return (None, "")

    def _count(self, answer: Mapping[str, Any]) -> None:
        self.unseen.ended += answer["ended"]
        self.unseen.left_out += answer["left_out"]
        self.unseen.missed += max(0, round(answer["host"].get("opened", 0)) - answer["new"])

    def _cell(self, node: str, there: str, service: Service | None) -> Cell:
        key = node, there, service
        if key not in self._known:
            about = SOURCE if service is None else {**SOURCE, "port": service[0], "program": service[1]}
            how = (NET, "tcp", "traffic", OF_PAIRS) if there != node else (AGENT, "", "host", OF_NODES)
            program, transport, pattern, metrics = how
            cell = Cell(
                len(self.cells), node, there, transport, pattern, {}, metrics, PHASE, wave=0, program=program,
                about=about,
            )  # fmt: skip
            self._known[key] = cell
            self.cells.append(cell)
            self._kept.append([])
        return self._known[key]


def _seen(groups: Sequence[Group], seconds: float) -> dict[str, Any]:
    """What a replicate holds of a pair's connections."""
    sockets = sum(group["sockets"] for group in groups)
    return {"metrics": figures_of(groups, seconds), "during": during(groups), "info": {"sockets": sockets}}


def owners_of(addresses: Mapping[str, Iterable[str]]) -> dict[str, str | None]:
    """Address → the node that has it; None where several do, as loopback's."""
    found: dict[str, str | None] = {}
    for node, own in addresses.items():
        for address in set(own):
            found[address] = node if found.get(address, node) == node else None
    return found


def is_whole(record: Record) -> bool:
    """Whether a record is of all that a pair's connections carried, not of one service."""
    return record.phase == PHASE and record.probe == NET and "port" not in record.params


def is_pair(cell: Cell) -> bool:
    """Whether a cell is of all that a pair's connections carried."""
    return cell.program == NET and "port" not in cell.about


def pair_of(record: Record) -> Pair:
    """Sender and receiver."""
    return record.nodes[0], record.nodes[-1]


def traffic_records(plan: Plan, polls: Polls, run: str, at: str, fingerprint: Mapping[str, Facts]) -> list[Record]:
    """The records of all cells; of services, those that have a value.

    Nothing was decided while it was polled, so that each interval allows for one look, at as many polls as told of it.
    """
    found: list[Record] = []
    wholes: dict[Pair, tuple[Cell, list[Record]]] = {}
    for cell in plan.cells:
        whole = wholes.get((cell.client, cell.server))
        if whole is not None and polls.alike(whole[0], cell):
            found += [_of_service(one, cell) for one in whole[1]]
            continue
        first, own = len(found), polls.of_cell(cell)
        limited = limits_of(cell, own, fingerprint)
        for metric in cell.metrics:
            looks = (max(1, len(samples_of(metric.name, own))),)
            made = records_of(
                replace(cell, metrics=(metric,)), own, replace(plan, looks=looks), run, at=at,
                stopped=f"{len(own)} polls", bottleneck=limited if metric is cell.metrics[0] else (),
            )  # fmt: skip
            if metric.name == AGAIN:
                made = [of_totals(one, own) for one in made]
            found += made
        for record in found[first:]:
            record.params.pop("wave")  # all are polled at the same time: it names nothing
        if is_pair(cell):
            wholes[cell.client, cell.server] = cell, found[first:]
    return [record for record in found if record.value is not None or "port" not in record.params]


def _of_service(whole: Record, cell: Cell) -> Record:
    """A pair's record as that of its only service."""
    return whole.model_copy(update={"params": {**whole.params, **cell.about}, "bottleneck": []})


def traffic_losses(polls: Polls) -> Losses:
    """What pairs sent again, poll by poll, over all of their services."""
    return losses_of((cell, polls.of_cell(cell)) for cell in polls.cells if is_pair(cell))


def limits_of(cell: Cell, replicates: Sequence[Replicate], fingerprint: Mapping[str, Facts]) -> list[dict[str, Any]]:
    """Which of the `LIMITING` rules fit a pair's traffic, where there was enough of it."""
    if not is_pair(cell):
        return []
    seen = situation_of(cell, replicates, fingerprint, {})
    as_stream = replace(seen, pattern="stream", samples=samples_of(SENT, replicates))
    enough = {
        "window-bound": (seen.client.tcp_count("busy_time") or 0) >= LEAST_BUSY * len(replicates),
        "drop-bound": (seen.client.tcp_count("data_segs_out") or 0) >= LEAST_SEGMENTS,
    }
    rules = [rule for rule in LIMITING if enough[rule.name]]
    return [one.to_json() for one in ask(as_stream, rules) if one.rule != UNDETERMINED]
