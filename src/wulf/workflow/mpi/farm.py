"""`wulf mpi farm`: the master-worker farm over workers and batches, in blocks, and the search for METG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.mpi.farm import FARM, KINDS, METG, PROBE, Design, points_of
from wulf.measure.mpi.probes import mpi_probe
from wulf.model.farm.costs import next_spin
from wulf.report.mpi.farm import study_lines
from wulf.store.run import read_run
from wulf.workflow.engine.study import Conditions, Judgement
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import NetworkRanks, RanksStudy

FIRST_SPINS = (1e-6, 1e-5, 1e-4)
"""Seconds: from below a message's cost within a node to above one over a network."""

METG_SECONDS = 0.05
"""Of one replicate of one point."""

MOST_SPINS = 14

MOST_SEEDS = 2**32
"""The probe's are below that."""

SERIAL_METRICS = ("seconds", "unit", "efficiency")


class Farm(RanksStudy):
    """The table in blocks that hold each cell once, in random order, and then the points of the search.

    Parameters
    ----------
    search
        Whether METG is looked for.
    """

    together = True

    def __init__(self, given: Conditions, launch: Launch, design: Design, search: bool = False) -> None:
        launch = fitting_launch(launch, design.threads)
        ranks = NetworkRanks(launch, design.networks, given.watch.say) if design.networks else None
        super().__init__(given, launch, PROBE, ranks)
        self._design, self._search = replace(design, seed=given.seed % MOST_SEEDS), search

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """The table, and the points that the search begins with."""
        if len(self.ranks.places) < self._design.ranks:
            return ()
        table = [*((FARM, one) for one in self._design.table()), *((KINDS, one) for one in self._design.uneven())]
        cells = [_fitting(self.ranks.cell(i, probe, PROBE, one, phase)) for i, (phase, one) in enumerate(table)]
        spins = FIRST_SPINS if self._search else ()
        return [*cells, *(self._point(len(cells) + i, spin) for i, spin in enumerate(spins))]

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """One more point, in the middle of the nearest on both sides, or beyond the last; none where it is enough."""
        if not self._search or not self.ranks.places:
            return ()
        run = read_run(self.given.writer.path)
        points = [point for point in points_of(run.plan, run.replicates) if point.phase == METG]
        swept = {point.spin: point.values["efficiency"] for point in points if point.spin and point.has("efficiency")}
        if not swept or len(points) >= MOST_SPINS:
            return ()
        spin = next_spin(swept)
        if spin is None or spin in swept:
            return ()
        # one point after the other, each by itself: with a launch for every replicate it would take minutes
        return [self._point(first, spin, within=True)]

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """What the farm comes to, in a few sentences."""
        lines = study_lines(read_run(self.given.writer.path))
        return [], [Finding(kind="farm", severity=Severity.INFO, subject="", text=" ".join(lines))] if lines else []

    def _point(self, number: int, spin: float, *, within: bool = False) -> Cell:
        params = self._design.metg(spin, METG_SECONDS)
        return self.ranks.cell(number, mpi_probe(), PROBE, params, METG, within=within)


def fitting_launch(launch: Launch, threads: int) -> Launch:
    """The same; ranks of several threads are not bound, since these would take turns on a core."""
    return launch if threads == 1 else replace(launch, spec=replace(launch.spec, bind="none"))


def _fitting(cell: Cell) -> Cell:
    """A serial run has no messages, and no metric of them that could lack a value."""
    if cell.params["workers"]:
        return cell
    return replace(cell, metrics=tuple(metric for metric in cell.metrics if metric.name in SERIAL_METRICS))
