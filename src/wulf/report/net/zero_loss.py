"""The fastest rate without a loss, for each length of frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.names import subject_text
from wulf.core.records import Record
from wulf.core.units import show, show_in
from wulf.measure.net.zero_loss import PHASE, TRIAL
from wulf.report.kit.figures import verdict_text
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Section
from wulf.store.run import Run

OVERHEAD = 20
"""Bytes of preamble and gap around a frame of Ethernet (IEEE 802.3)."""

SMALL = (
    "None lost: in none of six trials. On the wire: with headers, preamble and gap. Loss below: the share of lost "
    "datagrams that so many without a loss leave room for, at 95 %."
)


class ZeroLoss(Part):
    """RFC 2544's throughput."""

    place = 32

    def shown(self, run: Run) -> Iterable[Record]:
        """Rates and trials."""
        return (record for record in run.records if record.phase in (PHASE, TRIAL))

    def answer(self, run: Run) -> str:
        """The longest frame's rate."""
        rates = [record for record in _rates(run) if record.value is not None]
        if not rates:
            return ""
        last = rates[-1]
        rate = f"{show(last.value, 'Hz')} of {last.params['frame']} B"
        return (
            f"{subject_text(last.subject)}: no datagram is lost up to {rate}, {show(_wire(last), 'B/s')} on the wire."
        )

    def view(self, run: Run) -> Sequence[Section]:
        """A row for each length."""
        rates = _rates(run)
        if not rates:
            return []
        heads = ["frame", "none lost at", "data", "on the wire", "some lost at", "loss below", "verdict"]
        table = Columns(heads, [_row(record) for record in rates], words=0, tail=1)
        heading = f"Fastest rate without a loss, {subject_text(rates[0].subject)}, UDP"
        return [Section(heading, table=table, small=[SMALL], key="zero-loss", link="Zero loss")]


def _rates(run: Run) -> list[Record]:
    """Shortest frame first."""
    return sorted((r for r in run.records if r.phase == PHASE), key=lambda record: int(record.number("frame")))


def _wire(record: Record) -> float:
    return (record.value or 0.0) * (int(record.number("frame")) + OVERHEAD)


def _row(record: Record) -> tuple[str | Cell, ...]:
    known = record.value is not None
    data = (record.value or 0.0) * int(record.number("bytes"))
    return (
        f"{record.text('frame')} B", Cell(show(record.value, "Hz"), "strong"), show(data if known else None, "B/s"),
        show(_wire(record) if known else None, "B/s"), show(record.high, "Hz"), show_in(record.least_visible, 1.0, 2),
        Cell(str(record.verdict), str(record.verdict), title=verdict_text(record)),
    )  # fmt: skip
