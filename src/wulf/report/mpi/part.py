"""What is reported of MPI: operations over sizes, and the farm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.records import Record
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Section
from wulf.report.mpi import farm, operations
from wulf.store.run import Run


class Mpi(Part):
    """Operations over sizes, the farm, and where the ranks ran."""

    place = 60

    def answer(self, run: Run) -> str:
        """The fastest farm; else the operations that programs spend most time in, each at an end of the sizes."""
        return farm.fastest(run) or operations.typical(run)

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the tables, and of the farm."""
        return (one for one in run.records if operations.is_tabled(one) or one.phase in farm.PHASES)

    def view(self, run: Run) -> Sequence[Section]:
        """Operations, then the farm."""
        return [*operations.mpi_section(run), *farm.farm_section(run)]


PARTS = (Mpi(),)
