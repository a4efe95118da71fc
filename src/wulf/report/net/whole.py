"""Figures of many nodes at the same time, as tables: incast by receiver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wulf.core.names import natural
from wulf.core.records import Record
from wulf.core.units import show
from wulf.report.kit.figures import MARKS, interval_text
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Columns, Section
from wulf.store.run import Run

MOST_RECEIVERS = 20
"""Rows that a terminal shows: the receivers that reach least."""

HEADS = ("receiver", "together", "interval", "one alone", "share", "fairness", "resent")


def _figure(record: Record | None, digits: int = 3) -> str:
    return "–" if record is None else f"{MARKS[record.verdict]}{show(record.value, record.unit, digits)}"


def _share(record: Record | None) -> str:
    return "–" if record is None or record.value is None else f"{record.value:.0%}"


def is_receivers(record: Record) -> bool:
    """Whether the record is one of an incast's receiver, which this table shows."""
    return record.phase == "whole" and record.params.get("pattern") == "incast"


def receiver_rows(records: Sequence[Record]) -> list[tuple[str, ...]]:
    """One row a receiver, the one that reaches least first: as in `HEADS`."""
    receivers: dict[str, dict[str, Record]] = {}
    for record in filter(is_receivers, records):
        receivers.setdefault(record.subject, {})[record.metric] = record

    def reach(item: tuple[str, Mapping[str, Record]]) -> tuple[float, object]:
        found = item[1].get("incast")
        return (found.value if found and found.value is not None else 0.0, natural(item[0]))

    return [
        (
            node, _figure(own.get("incast")), interval_text(own["incast"]) if "incast" in own else "–",
            _figure(own.get("single_sender")), _share(own.get("incast_ratio")), _figure(own.get("fairness")),
            _figure(own.get("retransmits")),
        )
        for node, own in sorted(receivers.items(), key=reach)
    ]  # fmt: skip


PHASES = frozenset({"incast", "bisection", "halving", "alone"})
"""Of the single streams: what they come to together is what is told."""


class Whole(Part):
    """What many nodes do at the same time."""

    place = 15
    told = ("incast",)

    def answer(self, run: Run) -> str:
        """Of the last finding about the whole."""
        whole = [finding.text for finding in run.findings if finding.kind in ("incast", "bisection")]
        return f"{whole[-1].removesuffix('.').split('. ')[0]}." if whole else ""

    def shown(self, run: Run) -> Iterable[Record]:
        """Single streams, and receivers."""
        return (r for r in run.records if r.phase.split(" ")[0] in PHASES or is_receivers(r))

    def view(self, run: Run) -> Sequence[Section]:
        """The receivers, that which reaches least first."""
        rows = receiver_rows(run.records)
        table = Columns(HEADS, rows, most=MOST_RECEIVERS)
        heading = "Incast: from many senders to one node"
        return [Section(heading, table=table, key="incast", link="Incast")] if rows else []
