"""The traffic that was there: maps of all pairs, what held each up, by application and port, and what it cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from wulf.core.findings import Severity
from wulf.core.names import fold, natural, plural, subject_text
from wulf.core.records import Record
from wulf.core.units import show
from wulf.measure.net.traffic import (
    AGAIN,
    BUFFER,
    CONGESTION,
    COST,
    LEAST,
    PHASE,
    PRESSURE,
    RATE,
    RECEIVER,
    RTT,
    SENT,
    SOFTIRQ,
    WAITING,
    is_whole,
    pair_of,
)
from wulf.report.kit.figures import interval_text, verdict_text
from wulf.report.kit.matrices import Matrix, run_nodes
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Item, Note, Row, Section
from wulf.report.net.pairs import pair_maps
from wulf.store.run import Run

MOST_ROWS = 20
"""Pairs and services that a table has, those that sent most first; all are in records.jsonl."""

TITLES = {
    LEAST: "Least round trip", RTT: "Smoothed round trip", AGAIN: "Sent again", RATE: "Delivery rate", SENT: "Sent",
}  # fmt: skip

READING = (
    "From each sender to each receiver, as the kernels of the senders say. The least round trip is the path's; the "
    "smoothed one has its queues, too. Where no data was sent, nothing is known."
)

METHOD = (
    Item("Source", "tcp_info of each node's established TCP sockets, by sock_diag; no packet is captured or sent."),
    Item("Polls", "Each poll of all nodes is one replicate of a pair; a round trip or rate is the median over a pair's "
         "connections, by segments delivered, then over the polls, with an interval that allows for polls that depend "
         "on each other."),
    Item("Left out", "Polls in which too little was sent to tell; delivery rates that the application limited; "
         "connections that opened and ended between two polls."),
    Item("Hosts", "CPU pressure (PSI), softirq time and run-queue delay tell a busy host from a slow network."),
)  # fmt: skip


class Links(Part):
    """What `wulf links` saw."""

    place = 21
    no_fact = "No fact was found to deviate between nodes."

    def holds(self, run: Run) -> bool:
        """Whether it was made by `wulf links`."""
        return run.meta.get("command") == "links"

    def headline(self, run: Run) -> str:
        """Who stands out, or what there was."""
        bad = [one for one in run.findings if one.severity is Severity.BAD]
        if len(bad) == 1:
            return bad[0].text
        if bad:
            subjects = sorted({one.subject for one in bad}, key=natural)
            return f"{len(bad)} findings stand out: {fold(map(subject_text, subjects))}."
        sent = [one.value for one in run.records if is_whole(one) and one.metric == SENT and one.value is not None]
        if not sent:
            return "No traffic between these nodes was seen."
        return f"Nothing stands out in the traffic of {plural(len(sent), 'pair')}, {show(sum(sent), 'B/s')} in all."

    def method(self, run: Run) -> Sequence[Item]:
        """How it is known."""
        return METHOD

    def shown(self, run: Run) -> Iterable[Record]:
        """All of them."""
        return (record for record in run.records if record.phase == PHASE)

    def view(self, run: Run) -> Sequence[Section]:
        """Maps, pairs, services, hosts."""
        if not self.holds(run):
            return []
        return [*_maps(run), *_pairs(run), *_services(run), *_hosts(run)]


def traffic_matrices(run: Run) -> list[Matrix]:
    """The matrices of a run of `wulf links`: those of which any pair has a value."""
    nodes = tuple(run_nodes(run))
    whole = [record for record in run.records if is_whole(record)]
    found = [
        Matrix(
            key=f"traffic-{metric}", title=title, metric=metric,
            unit=next((one.unit for one in whole if one.metric == metric), ""), nodes=nodes,
            cells={pair_of(one): one for one in whole if one.metric == metric}, directed=True,
        )
        for metric, title in TITLES.items()
    ]  # fmt: skip
    return [matrix for matrix in found if matrix.values]


def _maps(run: Run) -> list[Section]:
    matrices = traffic_matrices(run)
    if not matrices:
        return []
    body = [Note(READING, reading=True), pair_maps(matrices, "no traffic")]
    return [Section("Traffic of every pair", key="traffic", link="Traffic", body=body)]


def _by_metric(records: Iterable[Record]) -> dict[tuple[str, ...], dict[str, Record]]:
    """Pair → metric → record."""
    found: dict[tuple[str, ...], dict[str, Record]] = defaultdict(dict)
    for record in records:
        found[record.nodes][record.metric] = record
    return found


def _figure(record: Record | None) -> Cell:
    if record is None or record.value is None:
        return _absent(record)
    shown = f"{record.value:.1%}" if record.unit == "1" else show(record.value, record.unit)
    return Cell(shown, title=f"{interval_text(record)}, {verdict_text(record)}")


def _absent(record: Record | None) -> Cell:
    """A dash, and behind it the reason, where there is a record to say one."""
    return Cell("–", "dim", title=(record.reason or "") if record else "")


def _pairs(run: Run) -> list[Section]:
    pairs = _by_metric(record for record in run.records if is_whole(record))
    ordered = sorted(pairs.items(), key=lambda item: -(item[1][SENT].value or 0.0) if SENT in item[1] else 0.0)
    metrics = (SENT, LEAST, RTT, AGAIN, RATE, RECEIVER, BUFFER, CONGESTION)
    rows: list[Row] = [
        (f"{pair[0]} → {pair[-1]}", *(_figure(own.get(metric)) for metric in metrics))
        for pair, own in ordered[:MOST_ROWS]
    ]
    heads = ["pair", "sent", "least rtt", "rtt", "again", "delivered at", "receiver", "buffer", "network"]
    small = ["Receiver, buffer, network: shares of the time with data to send that each held it up (tcp_info)."]
    if len(ordered) > MOST_ROWS:
        small.append(f"The {MOST_ROWS} of {plural(len(ordered), 'pair')} that sent most; all are in records.jsonl.")
    table = Columns(heads, rows, unprinted=(5,))
    return [Section("What held it up", table=table, small=small, key="held", link="Held up")] if rows else []


def _services(run: Run) -> list[Section]:
    """A row for each port and program, over all pairs."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in run.records:
        if record.phase == PHASE and "port" in record.params and record.value is not None:
            port = record.params["port"]
            found["others" if port is None else str(port), str(record.params.get("program") or "")].append(record)

    def row(service: tuple[str, str], own: Sequence[Record]) -> tuple[float, Row]:
        values = {metric: [one.value or 0.0 for one in own if one.metric == metric] for metric in (SENT, RTT, AGAIN)}
        sent, pairs = sum(values[SENT]), len({one.subject for one in own})
        rtt = show(median(values[RTT]), "s") if values[RTT] else "–"
        again = f"{median(values[AGAIN]):.1%}" if values[AGAIN] else "–"
        return sent, (service[0], service[1] or "–", str(pairs), show(sent, "B/s"), rtt, again)

    rows = sorted((row(*item) for item in found.items()), key=lambda one: -one[0])[:MOST_ROWS]
    table = Columns(["port", "program", "pairs", "sent", "rtt", "again"], [own for _, own in rows], words=2)
    small = ["Sent: all pairs together; round trip and share sent again: the median over pairs."]
    return [Section("By application and port", table=table, small=small, key="ports", link="Ports")] if rows else []


def _hosts(run: Run) -> list[Section]:
    nodes = _by_metric(record for record in run.records if record.phase == PHASE and not is_whole(record))
    hosts = {names[0]: own for names, own in nodes.items() if COST in own}
    if not hosts:
        return []
    rows: list[Row] = [
        (node, *(_share(hosts[node].get(metric)) for metric in (PRESSURE, SOFTIRQ, WAITING, COST)))
        for node in sorted(hosts, key=natural)[:MOST_ROWS]
    ]
    costs = [cost for own in hosts.values() if (cost := own[COST].value) is not None]
    most = f"Polling took {max(costs):.2g} of a core at most, {max(costs):.2%}." if costs else ""
    table = Columns(["node", "CPU pressure", "softirq", "run-queue delay", "cost of polling"], rows)
    return [Section("Hosts", lines=[most] if most else [], table=table, key="hosts", link="Hosts")]


def _share(record: Record | None) -> Cell:
    if record is None or record.value is None:
        return _absent(record)
    return Cell(f"{record.value:.2%}", title=interval_text(record))
