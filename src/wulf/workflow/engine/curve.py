"""Throughput over message size, in several ways: measured, then proven in blocks of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wulf.core.records import Record
from wulf.findings.curves import judged
from wulf.measure.engine.collect import replicates_of
from wulf.measure.engine.curve import Arm, Suspect, curve_cells, proof_cells
from wulf.measure.engine.load import load_records
from wulf.measure.engine.plan import Cell
from wulf.stats.stopping import WidthRule
from wulf.store.run import RunWriter, read_run, utc_now
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Judgement

LEAST_BLOCKS = 11
"""With fewer no contrast out of six is told at 5 % of error of all together (signed ranks: 2⁻¹⁰ ≤ its share)."""


def patient(effort: Effort) -> Effort:
    """The effort with as many blocks as a proof takes."""
    return replace(effort, patience=tuple(look for look in effort.patience if look >= LEAST_BLOCKS) or (LEAST_BLOCKS,))


@dataclass
class Curve:
    """One curve under way: its cells, and what follows from them.

    Attributes
    ----------
    sizes
        In bytes.
    measured
        Its cells, once a stream of the pair is known.
    """

    arms: Sequence[Arm]
    suspects: Sequence[Suspect]
    sizes: Sequence[int]
    measured: list[Cell] = field(default_factory=list)
    proven: bool = False

    def cells(self, stream: Cell) -> Sequence[Cell]:
        """Every size in every way, of a stream whose parameters all have in common."""
        self.measured = curve_cells(stream, self.arms, self.sizes)
        return self.measured

    def extend(self, records: Sequence[Record], effort: Effort) -> Sequence[Cell]:
        """What is to be proven; nothing where it was, or is to be quick: few blocks prove nothing."""
        if self.proven or effort.quick:
            return ()
        self.proven = True
        return proof_cells(self.measured, records, self.suspects)

    def judge(self, records: Sequence[Record], effort: Effort, writer: RunWriter) -> Judgement:
        """What the hosts were loaded with, how sizes compare, and all of it in words."""
        rule = WidthRule(effort.width, looks=effort.looks)
        by_cell = replicates_of(self.measured, read_run(writer.path).replicates)
        loads = [
            record
            for cell in self.measured
            for record in load_records(cell, by_cell[cell.id], writer.id, utc_now(), rule)
        ]
        ratios, findings = judged(records, self.suspects, effort.looks)
        return [*loads, *ratios], findings
