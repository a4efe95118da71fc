"""The share of segments that were sent again, over all polls of a pair together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wulf.core.records import Record, Verdict
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.plan import Cell
from wulf.stats.shares import lasting_share, share_of_totals

LEAST_SEGMENTS = 500
"""Segments that a share of those sent again is taken from, of a poll or of all: it resolves 0.2 %."""

Port = tuple[str, str]
"""A node, and `out` or `in`."""

Counts = dict[int, list[float]]
"""Poll → segments that were sent again, and all that were sent."""


def _counts(replicates: Iterable[Replicate]) -> Counts:
    found = {}
    for one in replicates:
        if one["ok"] and one["during"]:
            counts = one["during"]["client"]["tcp"]["counts"]
            again = max(0, counts["total_retrans"] - counts["dsack_dups"])
            found[one["block"]] = [float(again), float(counts["data_segs_out"])]
    return found


def lasting(pairs: Iterable[tuple[Cell, Sequence[Replicate]]]) -> dict[Port, float]:
    """Port → the share sent again over all its pairs that lasts: a queue that overflows loses in bursts."""
    ports: dict[Port, Counts] = {}
    for cell, own in pairs:
        for poll, counts in _counts(own).items():
            for port in ((cell.client, "out"), (cell.server, "in")):
                total = ports.setdefault(port, {}).setdefault(poll, [0.0, 0.0])
                total[0], total[1] = total[0] + counts[0], total[1] + counts[1]
    return {port: lasting_share(*_series(counts)) for port, counts in ports.items()}


def _series(counts: Counts) -> tuple[list[float], list[float]]:
    return [one[0] for one in counts.values()], [one[1] for one in counts.values()]


def of_totals(record: Record, replicates: Sequence[Replicate], ports: Mapping[Port, float]) -> Record:
    """The share of all segments of all polls that were sent again: a poll's own may be too few to resolve it.

    Its interval reaches down to what lasts, of the pair, or of all that its sender sends or its receiver is sent.
    """
    again, segments = _series(_counts(replicates))
    if sum(segments) < LEAST_SEGMENTS:
        few = f"only {sum(segments):,.0f} segments were sent in all"
        return record.model_copy(
            update={"value": None, "low": None, "high": None, "statistic": None, "verdict": Verdict.UNRESOLVED,
                    "reason": few}
        )  # fmt: skip
    whole = share_of_totals(again, segments)
    ends = (ports.get(port, 0.0) for port in ((record.nodes[0], "out"), (record.nodes[-1], "in")))
    low = min(whole.low or 0.0, max(lasting_share(again, segments), *ends))
    return record.model_copy(
        update={"value": whole.value, "low": low, "high": whole.high, "confidence": whole.confidence,
                "statistic": "share of totals", "replicates": whole.n, "verdict": Verdict.OK, "reason": None}
    )  # fmt: skip
