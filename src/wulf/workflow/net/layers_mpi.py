"""MPI as a layer of one exchange: its ping-pong on the same pair, in the same blocks, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from wulf.cluster.access import Access
from wulf.core.errors import WulfError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import MPI
from wulf.measure.mpi.probes import mpi_probe
from wulf.store.run import utc_now
from wulf.workflow.engine.connect import Connected
from wulf.workflow.mpi.probes import Ranks

PATTERN = "pingpong"

LANE = "layers"
"""All layers of a pair are measured one at a time: also those of its two nodes alone, since ranks are on both."""


class MpiLayer:
    """MPI between the two ranks of a pair.

    Parameters
    ----------
    ranks
        Launched once for all blocks, or for each.
    subject
        The pair, `n1>n2`, for the row where there is no MPI.
    """

    def __init__(self, ranks: Ranks, subject: str) -> None:
        self._ranks, self._subject = ranks, subject
        self.beside = ranks.beside
        self.lacking = ""
        self.notes: list[str] = []

    @contextmanager
    def attach(self, connected: Connected, access: Access) -> Iterator[None]:
        """Ranks for the length of the block, or the reason why there are none: the other layers are measured then."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._ranks(connected, access))
            except WulfError as error:
                self.lacking = error.what
            yield

    def place(self, connected: Connected, tcp: Cell) -> tuple[int, int] | None:
        """Put the ranks on two CPUs of a machine that both nodes share; those CPUs, or None where it is not needed.

        Two machines have a CPU for each rank, and so has TCP there. On a shared machine the other layers have both
        ends on one CPU, on which two polling ranks would only hinder each other.
        """
        shared = connected.shared_cpu(tcp.client, tcp.server)
        if not self._ranks.places or shared is None:
            return None
        other = next((cpu for cpu in reversed(connected.cpus(tcp.client)) if cpu != shared), None)
        if other is None:
            self.notes.append("There is one CPU alone: MPI's two ranks shared it, and waited for each other's turns.")
            return None
        self._ranks.bind([shared, other])
        self.notes.append(
            f"Both nodes are on one machine: MPI's ranks were bound to CPUs {shared} and {other}, and are held against "
            "TCP on these two, since two polling ranks hinder each other on one CPU."
        )
        return shared, other

    def cells(self, connected: Connected, params: Mapping[str, Param], number: int, phase: str) -> list[Cell]:
        """The ping-pong between the first rank and the last; none where there are not two."""
        pattern = mpi_probe().pattern(PATTERN)
        if not self._ranks.enough(pattern):
            return []
        known = {spec.name for spec in pattern.params}
        given = {name: value for name, value in params.items() if name in known and not name.endswith("cpu")}
        cell = self._ranks.cell(number, mpi_probe(), PATTERN, given, phase)
        self.beside.lanes |= dict.fromkeys([*connected.sessions, cell.subject], LANE)
        return [cell]

    def records(self, records: Sequence[Record], run: str, params: Mapping[str, Param], phase: str) -> list[Record]:
        """The row without a value, where there is no MPI: it says why."""
        if not self.lacking or not records:
            return []
        return [
            Record(
                run=run, subject=self._subject, probe=MPI, metric="rtt", unit="s",
                params={"pattern": PATTERN, "bytes": params["bytes"]}, value=None, reason=self.lacking,
                verdict=Verdict.UNRESOLVED, at=utc_now(), phase=phase, supported=False,
            )
        ]  # fmt: skip

    def findings(self) -> list[Finding]:
        """Where the ranks ran, and on which CPUs."""
        notes = [Finding(kind="note", severity=Severity.INFO, subject="", text=text) for text in self.notes]
        return [*notes, *self._ranks.findings()]
