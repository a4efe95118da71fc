"""`wulf net layers`: one ping-pong over every layer from the bare loop to the wire, and what each layer adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from wulf.cluster.access import Access
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import capitalised
from wulf.core.records import Param, Record
from wulf.core.units import show, show_interval
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.net.layers import (
    APART,
    LOOP,
    NETWORK,
    PHASE,
    PLACEMENT,
    DifferenceRule,
    Layer,
    differences,
    layer_name,
    layers_of,
    place,
)
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.net.layers_mpi import MpiLayer

PATTERN = "pingpong"


class Layers(Study):
    """Every layer between two nodes, or within one where both are the same, in blocks that hold each of them once.

    Parameters
    ----------
    client, server
        Node names.
    params
        Of every ping-pong: bytes, seconds, CPUs.
    mpi
        MPI's layer; None: without.
    """

    together = True

    def __init__(
        self, given: Conditions, client: str, server: str, params: Mapping[str, Param], mpi: MpiLayer | None = None
    ) -> None:
        super().__init__(given)
        self._client, self._server, self._params, self._mpi = client, server, params, mpi
        self._left_out: list[str] = []
        if mpi is not None:
            self.beside = mpi.beside

    def attach(self, connected: Connected, access: Access) -> AbstractContextManager[None]:
        """MPI's ranks."""
        return self._mpi.attach(connected, access) if self._mpi else super().attach(connected, access)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """A cell for each layer that the nodes which answered allow, bottom up."""
        size = self._params["bytes"]
        metrics = probe.pattern(PATTERN).metrics
        cells: list[Cell] = []
        for transport, server in layer_ends(probe, self._client, self._server):
            if not {self._client, server} <= set(connected.sessions):
                continue  # the finding that the node failed says so
            limit = probe.max_bytes.get(transport)
            if isinstance(size, int) and limit is not None and size > limit:
                name = layer_name(transport, self._client, server)
                self._left_out.append(f"{name} is left out: it carries at most {show(limit, 'B')} in a message.")
                continue
            placed = probe.check(PATTERN, transport, connected.placed(self._client, server, self._params))
            cells.append(Cell(len(cells), self._client, server, transport, PATTERN, placed, metrics, PHASE))
        return (*cells, *self._mpi_cells(connected, cells))

    def _mpi_cells(self, connected: Connected, cells: Sequence[Cell]) -> list[Cell]:
        """MPI on the same pair, and TCP once more where that has to stand on other CPUs to be like it."""
        tcp = next((cell for cell in cells if cell.transport == "tcp" and cell.server == self._server), None)
        if self._mpi is None or tcp is None:
            return []
        apart = self._mpi.place(connected, tcp)
        more: list[Cell] = []
        if apart is not None:
            params = {**tcp.params, "cpu": apart[0], "server_cpu": apart[1]}
            more.append(replace(tcp, id=len(cells), params=params, about={PLACEMENT: APART}))
        return more + self._mpi.cells(connected, self._params, len(cells) + len(more), PHASE)

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What each layer adds; where there is no MPI, why."""
        lacking = self._mpi.records(records, self.given.writer.id, self._params, PHASE) if self._mpi else []
        rule = DifferenceRule(self.effort.looks, watch=self.effort.watch)
        found, findings = judge([*records, *lacking], rule, self._left_out)
        return [*lacking, *found], [*findings, *(self._mpi.findings() if self._mpi else [])]


def layer_ends(probe: Probe, client: str, server: str) -> Iterator[tuple[str, str]]:
    """(transport, server) of every layer, bottom up: within the client's node, over its loopback, over the wire."""
    can = set(probe.pattern(PATTERN).transports)
    inside = [transport for transport in can if transport == LOOP or transport in probe.local]
    for transport in sorted(inside, key=place):
        yield transport, client
    for end in dict.fromkeys([client, server]):
        yield from ((transport, end) for transport in NETWORK if transport in can)


def added(record: Record) -> str:
    """What one layer adds, in words: `shm adds 0.4 µs (0.38–0.42 µs) to null`."""
    layer, over = record.params["layer"], record.params["over"]
    if record.value is None:
        return f"{layer} over {over}: {record.reason}"
    if not record.seen:
        return f"no difference found between {layer} and {over}; minimum detectable {show(record.least_visible, 's')}"
    if record.value < 0 and record.low is not None and record.high is not None:
        interval = show_interval(-record.high, -record.low, "s")
        return f"{layer} takes {show(-record.value, 's')} ({interval}) less than {over}"
    return f"{layer} adds {show(record.value, 's')} ({show_interval(record.low, record.high, 's')}) to {over}"


def layers_finding(layers: Sequence[Layer], added_records: Sequence[Record]) -> Finding:
    """The layers in a few sentences: the top's round trip first, then what each adds from the bottom up."""
    top = layers[-1]
    record = top.record
    head = (
        f"A round trip of {show(float(record.params['bytes'] or 0), 'B')} takes {show(record.value, 's')} "
        f"({show_interval(record.low, record.high, 's')}) by {top.name}."
    )
    return Finding(
        kind="layers",
        severity=Severity.INFO,
        subject=record.subject,
        text=" ".join([head, *(f"{capitalised(text)}." for text in map(added, added_records))]),
        evidence=[
            Evidence(
                subject=f"{record.params['layer']} - {record.params['over']}", metric=record.metric, unit=record.unit,
                value=record.value, low=record.low, high=record.high,
            )
            for record in added_records
        ],
    )  # fmt: skip


def judge(
    records: Sequence[Record], rule: DifferenceRule, left_out: Sequence[str] = ()
) -> tuple[list[Record], list[Finding]]:
    """The differences as records, and in words; layers without a value have their own findings."""
    found = differences(records, rule)
    notes = [Finding(kind="note", severity=Severity.INFO, subject="", text=text) for text in left_out]
    usable = [layer for layer in layers_of(records) if layer.record.value is not None]
    return found, [layers_finding(usable, found), *notes] if usable else notes
