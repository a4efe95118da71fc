"""Figures of many nodes at the same time, as tables: incast by receiver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wulf.core.names import natural, printable
from wulf.core.records import Record
from wulf.core.units import show
from wulf.report.kit.figures import MARKS, interval_text

MOST_RECEIVERS = 20
"""Lines of the table: the receivers that reach least."""

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
            printable(node), _figure(own.get("incast")), interval_text(own["incast"]) if "incast" in own else "–",
            _figure(own.get("single_sender")), _share(own.get("incast_ratio")), _figure(own.get("fairness")),
            _figure(own.get("retransmits")),
        )
        for node, own in sorted(receivers.items(), key=reach)
    ]  # fmt: skip
