"""What is reported of MPI: operations over sizes, the farm, and graphs of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.records import Record
from wulf.measure.mpi.graph import GRAPH
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Section
from wulf.report.mpi import farm, graph, operations
from wulf.store.run import Run


class Mpi(Part):
    """Operations over sizes, the farm, graphs of tasks, and where the ranks ran."""

    place = 60
    told = (GRAPH,)

    def answer(self, run: Run) -> str:
        """The fastest farm, or METG of graphs; else the operations that most programs spend time in."""
        return farm.fastest(run) or " ".join(graph.sentences(run.records)) or operations.typical(run)

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the tables, of the farm, and of graphs."""
        phases = (*farm.PHASES, GRAPH)
        return (one for one in run.records if operations.is_tabled(one) or one.phase in phases)

    def view(self, run: Run) -> Sequence[Section]:
        """Operations, then the farm, then graphs."""
        return [*operations.mpi_section(run), *farm.farm_section(run), *graph.graph_section(run)]


PARTS = (Mpi(),)
