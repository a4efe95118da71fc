"""Another tool's loop on one pair (`--as`): measured with wulf's probes, kept as a run, told as that tool does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from wulf.cluster.access import Access
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Probe
from wulf.measure.mpi.probes import mpi_probe
from wulf.measure.tool import QUICK, Loop, Measurement
from wulf.stats.stopping import WidthRule
from wulf.store.run import Run, read_run, utc_now
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.mpi.probes import RANKS, Ranks


@dataclass(frozen=True)
class Wanted:
    """What a user changes of a loop: its test time [s], its largest size [B], the probe's parameters (checked)."""

    seconds: float | None = None
    most: int = 0
    params: tuple[tuple[str, Param], ...] = ()


class Repeat(Study):
    """One pair as the tool measures it.

    Beside the probe's own records stands the tool's figure, with an interval over the repetitions of its loop.

    Parameters
    ----------
    cell
        The pair and the pattern; transport and parameters are the loop's.
    ranks
        Between which it is measured, where MPI carries it.

    Raises
    ------
    UsageError
        The tool can't be that short.
    """

    page = False

    def __init__(self, given: Conditions, cell: Cell, loop: Loop, wanted: Wanted, ranks: Ranks | None = None) -> None:
        super().__init__(given)
        scale = QUICK if given.effort.quick else 1.0
        seconds = loop.seconds if wanted.seconds is None else wanted.seconds
        timing = loop.timing(seconds, scale)
        self.effort = replace(given.effort, replicates=timing.replicates, quick=False, watch=False)
        self._loop, self._wanted, self._ranks, self._seconds = loop, wanted, ranks, seconds * scale
        self._params = {**loop.options, **timing.params, **dict(wanted.params)}
        self._first = replace(cell, transport=loop.transport, phase=loop.tool)
        if ranks is not None:
            self.beside = ranks.beside

    @property
    def how(self) -> str:
        """As MPI's ranks, where they carry it."""
        return RANKS if self._ranks else super().how

    def attach(self, connected: Connected, access: Access) -> AbstractContextManager[None]:
        """The ranks, where MPI carries it."""
        return self._ranks(connected, access) if self._ranks else super().attach(connected, access)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The loop's first exchange, where both ends answered."""
        first = self._first
        if self._ranks is not None:
            if not self._ranks.enough(mpi_probe().pattern(first.pattern)):
                return ()
            self._first = self._ranks.cell(0, mpi_probe(), first.pattern, self._params, self._loop.tool)
        elif {first.client, first.server} <= set(connected.sessions):
            self._first = replace(first, params=connected.placed(first.client, first.server, self._params))
        else:
            return ()
        if self._loop.metric:
            metrics = tuple(one for one in self._first.metrics if one.name == self._loop.metric)
            self._first = replace(self._first, metrics=metrics)
        return [self._first]

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """What the loop goes on with, as some do after a first look."""
        if self._loop.follow is None:
            return ()
        so_far = [record for record in records if record.metric == self._first.metrics[0].name]
        more = self._loop.follow(self._wanted.most, self._seconds, so_far)
        return () if more is None else [replace(self._first, id=first, params={**self._first.params, **more})]

    def judge(self, records: Sequence[Record]) -> Judgement:
        """The tool's own figures, and where the ranks ran."""
        rule = WidthRule(self.given.effort.width, looks=self.effort.looks)
        figures = _figures(self._loop, read_run(self.given.writer.path), rule)
        return figures, self._ranks.findings() if self._ranks else []


def measured(run: Run) -> Measurement:
    """A run's cells and replicates, as a tool's text wants them."""
    cells = Plan.from_json(run.plan).cells if run.plan else ()
    return Measurement.of(cells, run.replicates)


def _figures(loop: Loop, run: Run, rule: WidthRule) -> list[Record]:
    """The tool's own figure of each cell, where none of the probe's metrics is it."""
    found = measured(run)  # where a node told what no tool takes, it is said before the run is
    if loop.figure is None:
        return []
    return [_record(loop, cell, [loop.figure(r) for r in found.replicates[cell.id]], run, rule) for cell in found.cells]


def _record(loop: Loop, cell: Cell, figures: list[float], run: Run, rule: WidthRule) -> Record:
    estimate = rule.estimate(figures)
    wide = estimate.width is not None and estimate.width > rule.width
    noisy = f"interval {estimate.width:.1%} wide, requested {rule.width:.1%}" if wide else None
    return Record(
        run=run.id, subject=cell.subject, probe=cell.program, metric="latency", unit="s",
        params={
            "as": loop.tool, **({"transport": cell.transport} if cell.transport else {}),
            "pattern": cell.pattern, **cell.params, **cell.about,
        },
        value=estimate.value, low=estimate.low, high=estimate.high, confidence=estimate.confidence,
        statistic="median" if estimate.value is not None else None, replicates=estimate.n,
        verdict=Verdict.UNRESOLVED if estimate.value is None else Verdict.NOISY if wide else Verdict.OK,
        reason=estimate.reason or noisy, samples=figures, at=utc_now(), phase=cell.phase,
    )  # fmt: skip
