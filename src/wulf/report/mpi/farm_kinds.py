"""Units of several lengths in a farm, beside equal ones: what they cost, and what list scheduling says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wulf.measure.mpi.farm import UnevenCell, uneven_cells
from wulf.model.farm.costs import refuted
from wulf.model.farm.kinds import Kinds, lost
from wulf.report.kit.view import Columns, Section
from wulf.stats.comparison import Comparison, versus_rule
from wulf.stats.estimates import Interval
from wulf.store.run import Run

HELD = {"async": 2, "plain": 1}
"""Style → batches that a worker holds."""


@dataclass(frozen=True)
class Uneven:
    """One cell's unevenness.

    Attributes
    ----------
    measured
        Time of as much work, in uneven units by equal ones, in blocks.
    predicted
        That ratio by list scheduling; None where there are several threads, or no block.
    """

    cell: UnevenCell
    measured: Comparison
    predicted: Interval | None

    @property
    def refuted(self) -> bool | None:
        """Whether measured and predicted have no value in common; None where one has no interval."""
        low, high = self.measured.low, self.measured.high
        if self.predicted is None or low is None or high is None:
            return None
        return refuted(Interval(self.measured.ratio or low, low, high), self.predicted)


def unevenness(run: Run) -> list[Uneven]:
    """Of every cell with several kinds of unit that was measured in some block."""
    return [
        Uneven(cell, versus_rule().compare(cell.equal, cell.uneven), _predicted(cell))
        for cell in uneven_cells(run.plan, run.replicates)
        if cell.equal
    ]


def _predicted(cell: UnevenCell) -> Interval | None:
    if cell.threads > 1:
        return None
    more = lost(
        Kinds.of(cell.kinds), workers=cell.workers, batch=cell.batch, units=cell.units, depth=HELD[cell.style]
    )  # fmt: skip
    each = float(np.mean(cell.unit)) / float(np.mean(cell.equal))
    return Interval(1 + more.value * each, 1 + more.low * each, 1 + more.high * each)


def kinds_section(run: Run) -> list[Section]:
    """A row a cell; none for a farm of equal units."""
    found = unevenness(run)
    if not found:
        return []
    heads = ["workers", "batch", "efficiency, equal", "efficiency, uneven", "takes longer by", "95 % interval", "model",
             ""]  # fmt: skip
    small = [
        f"Units of {found[0].cell.kinds} (relative lengths and shares), drawn by the run's seed, beside equal units, "
        "both in every block, of as much work. Model: list scheduling of such units, by draws, where messages take no "
        "time: a claim that the blocks can refute."
    ]
    return [Section("Several kinds of unit", table=Columns(heads, [_row(one) for one in found], tail=1), small=small)]


def _row(one: Uneven) -> tuple[str, ...]:
    measured, cell = one.measured, one.cell
    verdict = {None: "", True: "refuted", False: "not refuted"}[one.refuted]
    return (
        str(cell.workers), str(cell.batch),
        _percent(np.mean(cell.efficiency)), _percent(np.mean(cell.uneven_efficiency)),
        _more(measured.ratio), _span(measured.low, measured.high),
        "–" if one.predicted is None else _span(one.predicted.low, one.predicted.high), verdict,
    )  # fmt: skip


def kinds_sentences(run: Run) -> list[str]:
    """What unevenness costs with the most workers and the largest batch, and what the model says."""
    found = unevenness(run)
    if not found:
        return []
    one = max(found, key=lambda one: (one.cell.workers, one.cell.batch))
    cell, measured = one.cell, one.measured
    text = (
        f"With {cell.workers} workers and batches of {cell.batch}, units of {cell.kinds} take {_more(measured.ratio)} "
        f"longer ({_span(measured.low, measured.high)}) than equal ones of as much work: {_judged(measured)}."
    )
    if one.predicted is None:
        return [text]
    claim = f"List scheduling says {_span(one.predicted.low, one.predicted.high)}"
    verdicts = {None: ".", True: ", which is refuted by it.", False: ", which is not refuted by it."}
    return [text, f"{claim}{verdicts[one.refuted]}"]


def _judged(measured: Comparison) -> str:
    return f"{measured.judgement} in {measured.n} blocks"


def _more(ratio: float | None) -> str:
    return "–" if ratio is None else _percent(ratio - 1)


def _span(low: float | None, high: float | None) -> str:
    return "no interval" if low is None or high is None else f"{_percent(low - 1)} to {_percent(high - 1)}"


def _percent(share: float | np.floating[Any]) -> str:
    return f"{round(100 * float(share), 1) + 0.0:.1f} %"  # no -0.0
