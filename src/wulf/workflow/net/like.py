"""Another tool's loop on one pair (`--as`): measured with wulf's probes, kept as a run, told as that tool does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wulf.cluster.inventory import Inventory
from wulf.core.findings import Finding
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.mpi.probes import mpi_probe
from wulf.measure.tool import QUICK, Loop, Measurement
from wulf.stats.stopping import WidthRule
from wulf.store.run import Run, RunWriter, read_run, utc_now
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.measuring import RANKS, Effort, Outcome, detached, measure
from wulf.workflow.mpi.probes import Ranks


@dataclass(frozen=True)
class Wanted:
    """What a user changes of a loop: its test time [s], its largest size [B], the probe's parameters (checked)."""

    seconds: float | None = None
    most: int = 0
    params: tuple[tuple[str, Param], ...] = ()


def repeat(
    inventory: Inventory,
    cell: Cell,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    loop: Loop,
    wanted: Wanted,
    ranks: Ranks | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure one pair as the tool does.

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
    scale = QUICK if effort.quick else 1.0
    seconds = loop.seconds if wanted.seconds is None else wanted.seconds
    timing = loop.timing(seconds, scale)
    params = {**loop.options, **timing.params, **dict(wanted.params)}
    first = replace(cell, transport=loop.transport, phase=loop.tool)

    def cells(connected: Connected, _: Probe) -> tuple[Cell, ...]:
        nonlocal first
        if ranks is not None:
            if not ranks.enough(mpi_probe().pattern(cell.pattern)):
                return ()
            first = ranks.cell(0, mpi_probe(), cell.pattern, params, loop.tool)
        elif {cell.client, cell.server} <= set(connected.sessions):
            first = replace(first, params=connected.placed(cell.client, cell.server, params))
        else:
            return ()
        return (first,)

    def extend(records: Sequence[Record], number: int) -> tuple[Cell, ...]:
        if loop.follow is None:
            return ()
        trips = [record for record in records if record.metric == first.metrics[0].name]
        more = loop.follow(wanted.most, seconds * scale, trips)
        return () if more is None else (replace(first, id=number, params={**first.params, **more}),)

    def judge(_: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        figures = _figures(loop, read_run(writer.path), WidthRule(effort.width, looks=exactly.looks))
        return figures, ranks.findings() if ranks else []

    exactly = replace(effort, replicates=timing.replicates, quick=False, watch=False)
    return measure(
        inventory, cells, exactly, writer, seed,
        extend=extend, judge=judge, attach=ranks or detached, how=RANKS if ranks else None, watch=watch,
    )  # fmt: skip


def measured(run: Run) -> Measurement:
    """A run's cells and replicates, as a tool's text wants them."""
    cells = Plan.from_json(run.plan).cells if run.plan else ()
    return Measurement.of(cells, run.replicates)


def _figures(loop: Loop, run: Run, rule: WidthRule) -> list[Record]:
    """The tool's own figure of each cell, where none of the probe's metrics is it."""
    if loop.figure is None:
        return []
    found = measured(run)
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
