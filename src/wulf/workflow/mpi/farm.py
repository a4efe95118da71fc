"""`wulf mpi farm`: the master-worker farm over workers and batches, in blocks, and the search for METG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wulf.cluster.inventory import Inventory
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.mpi.farm import FARM, METG, PROBE, Design, points_of
from wulf.measure.mpi.probes import mpi_probe
from wulf.model.farm.costs import next_spin
from wulf.report.mpi.farm import study_lines
from wulf.store.run import RunWriter, read_run
from wulf.workflow.engine.measuring import Effort, Outcome
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import Ranks, campaign

FIRST_SPINS = (1e-6, 1e-5, 1e-4)
"""Seconds: from below a message's cost within a node to above one over a network."""

METG_SECONDS = 0.05
"""Of one replicate of one point."""

MOST_SPINS = 14

SERIAL_METRICS = ("seconds", "unit", "efficiency")


class Search:
    """Makes the cells of the search as it learns; the rest of METG's work is `model.farm`'s."""

    def __init__(self, design: Design, writer: RunWriter) -> None:
        self._design = design
        self._writer = writer
        self._ranks: Ranks | None = None

    def first(self, ranks: Ranks, number: int) -> list[Cell]:
        """The points that the search begins with."""
        self._ranks = ranks
        return [self._cell(number + i, spin) for i, spin in enumerate(FIRST_SPINS)]

    def extend(self, _: Sequence[Record], number: int) -> tuple[Cell, ...]:
        """One more point, in the middle of the nearest on both sides, or beyond the last; none where it is enough."""
        run = read_run(self._writer.path)
        points = [point for point in points_of(run.plan, run.replicates) if point.phase == METG]
        swept = {point.spin: point.values["efficiency"] for point in points if point.spin and point.has("efficiency")}
        if not swept or len(points) >= MOST_SPINS or self._ranks is None:
            return ()
        spin = next_spin(swept)
        if spin is None or spin in swept:
            return ()
        # one point after the other, each by itself: with a launch for every replicate it would take minutes
        return (self._cell(number, spin, within=True),)

    def _cell(self, number: int, spin: float, *, within: bool = False) -> Cell:
        assert self._ranks is not None  # noqa: S101 - only within the block
        return self._ranks.cell(number, mpi_probe(), PROBE, self._design.metg(spin, METG_SECONDS), METG, within=within)


def farm(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    design: Design,
    search: bool = False,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure the table in blocks that hold each cell once, in random order, and then the points of the search.

    Parameters
    ----------
    search
        Whether METG is looked for.
    """
    under_way = Search(design, writer)

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        if len(ranks.places) < design.ranks:
            return ()
        cells = [_fitting(ranks.cell(i, probe, PROBE, one, FARM)) for i, one in enumerate(design.table())]
        return [*cells, *(under_way.first(ranks, len(cells)) if search else ())]

    def judge(_: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        lines = study_lines(read_run(writer.path))
        return [], [Finding(kind="farm", severity=Severity.INFO, subject="", text=" ".join(lines))] if lines else []

    return campaign(
        inventory, launch, effort, writer, seed,
        make=make, needs=mpi_probe().pattern(PROBE), together=True, extend=under_way.extend if search else None,
        judge=judge, watch=watch,
    )  # fmt: skip


def _fitting(cell: Cell) -> Cell:
    """A serial run has no messages, and no metric of them that could lack a value."""
    if cell.params["workers"]:
        return cell
    return replace(cell, metrics=tuple(metric for metric in cell.metrics if metric.name in SERIAL_METRICS))
