"""`wulf mpi graph`: tasks that need tasks of the step before, and the least task that is worth it, by pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.mpi.graph import DEPENDENCE, GRAPH, efficiencies
from wulf.measure.mpi.probes import mpi_probe
from wulf.model.farm.costs import next_spin
from wulf.report.mpi.graph import sentences
from wulf.workflow.engine.study import Conditions, Judgement
from wulf.workflow.mpi.farm import FIRST_SPINS, METG_SECONDS, MOST_SPINS
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import RanksStudy


class Graph(RanksStudy):
    """Every pattern at the first lengths of a task, and then where its efficiency crosses 50 %.

    Parameters
    ----------
    params
        Of every cell: bytes.
    """

    def __init__(
        self, given: Conditions, launch: Launch, patterns: Sequence[str], params: Mapping[str, Param] | None = None
    ) -> None:
        super().__init__(given, launch, GRAPH)
        self._patterns, self._params = patterns, {**(params or {}), "seconds": METG_SECONDS}

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """The points that the searches begin with."""
        first = [(pattern, spin) for pattern in self._patterns for spin in FIRST_SPINS]
        return [self._point(i, pattern, spin) for i, (pattern, spin) in enumerate(first)]

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """One more point of each pattern whose METG isn't known well enough."""
        wanted = [
            (pattern, spin)
            for pattern, points in efficiencies(records).items()
            if len(points) < MOST_SPINS and (spin := next_spin(points)) is not None and spin not in points
        ]
        # as in the farm's search: each by itself, so that no launch is made for every replicate
        return [self._point(first + i, pattern, spin, within=True) for i, (pattern, spin) in enumerate(wanted)]

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """Each pattern's METG."""
        lines = sentences(records)
        return [], [Finding(kind=GRAPH, severity=Severity.INFO, subject="", text=" ".join(lines))] if lines else []

    def _point(self, number: int, pattern: str, spin: float, *, within: bool = False) -> Cell:
        params = {**self._params, DEPENDENCE: pattern, "task_seconds": spin}
        return self.ranks.cell(number, mpi_probe(), GRAPH, params, GRAPH, within=within)
