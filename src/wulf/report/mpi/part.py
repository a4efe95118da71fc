"""What is reported of MPI: operations over sizes, and the farm."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from wulf.core.records import Record
from wulf.report.kit.parts import Block, Part
from wulf.report.mpi import farm, operations
from wulf.store.run import Run


class Mpi(Part):
    """Operations over sizes, the farm, and where the ranks ran."""

    place = 60

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the tables, and of the farm."""
        return (one for one in run.records if operations.is_tabled(one) or one.phase in farm.PHASES)

    def print(self, run: Run, console: Console) -> None:
        """The tables, then the farm's."""
        operations.print_mpi_tables(run, console)
        farm.print_farm(run, console)

    def block(self, run: Run) -> Block | None:
        """Curves, and one table of all."""
        content, charts = operations.mpi_section(run)
        return None if content is None else Block("mpi.html.j2", content, [("mpi", "MPI")], charts)


PARTS = (Mpi(),)
