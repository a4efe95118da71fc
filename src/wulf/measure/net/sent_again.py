"""What pairs had to send again: as a share over all polls together, and poll by poll, for who is to blame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from wulf.core.records import Record, Verdict
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.plan import Cell
from wulf.stats.cluster.directed import numbered
from wulf.stats.cluster.losses import Losses
from wulf.stats.samples import Floats
from wulf.stats.shares import share_of_totals

LEAST_SEGMENTS = 500
"""Segments that a share of those sent again is taken from, of a poll or of all: it resolves 0.2 %."""

Counts = dict[int, list[float]]
"""Poll → segments that were sent again, and all that were sent."""


def _said(one: Replicate) -> Mapping[str, Any] | None:
    """What the sender's kernel counted and showed in a poll."""
    told: Mapping[str, Any] | None = one["during"]["client"]["tcp"] if one["ok"] and one["during"] else None
    return told


def counts_of(replicates: Iterable[Replicate]) -> Counts:
    """Of each poll; what was sent again for nothing is none, though it may be known only a poll later."""
    found: Counts = {}
    for one in replicates:
        if (said := _said(one)) is not None:
            counts = said["counts"]
            found[one["block"]] = [
                float(counts["total_retrans"] - counts["dsack_dups"]),
                float(counts["data_segs_out"]),
            ]
    for later, before in pairwise(sorted(found, reverse=True)):
        found[before][0] += min(0.0, found[later][0])
    return {poll: [max(0.0, again), segments] for poll, (again, segments) in found.items()}


def losses_of(pairs: Iterable[tuple[Cell, Sequence[Replicate]]]) -> Losses:
    """What all pairs sent again, poll by poll.

    Parameters
    ----------
    pairs
        Of all that a pair's connections carried; the nodes are named as they come.
    """
    known = [((cell.client, cell.server), _series(own)) for cell, own in pairs]  # all replicates take much memory
    polls = 1 + max((int(poll) for _, own in known for poll in own[0]), default=-1)
    found = np.zeros((3, len(known), polls))
    found[2] = np.nan
    for row, (_, own) in enumerate(known):
        found[:, row, own[0].astype(int)] = own[1:]
    return Losses(*numbered(pair for pair, _ in known), *found)


def _series(replicates: Sequence[Replicate]) -> Floats:
    """Polls; segments sent again, and sent; the round trip, NaN where it is not known. Shape (4, polls)."""
    counts, trips = counts_of(replicates), {}
    for one in replicates:
        if (said := _said(one)) is not None:
            trips[one["block"]] = said["gauges"]["rtt"]["median"]
    rows = [(poll, *own, np.nan if trips[poll] is None else trips[poll]) for poll, own in counts.items()]
    return np.array(rows, dtype=float).reshape(-1, 4).T


def of_totals(record: Record, replicates: Sequence[Replicate]) -> Record:
    """The share of all segments of all polls that were sent again: a poll's own may be too few to resolve it."""
    counts = counts_of(replicates).values()
    again, segments = [one[0] for one in counts], [one[1] for one in counts]
    if sum(segments) < LEAST_SEGMENTS:
        few = f"only {sum(segments):,.0f} segments were sent in all"
        return record.model_copy(
            update={"value": None, "low": None, "high": None, "statistic": None, "verdict": Verdict.UNRESOLVED,
                    "reason": few}
        )  # fmt: skip
    whole = share_of_totals(again, segments)
    return record.model_copy(
        update={"value": whole.value, "low": whole.low, "high": whole.high, "confidence": whole.confidence,
                "statistic": "share of totals", "replicates": whole.n, "verdict": Verdict.OK, "reason": None}
    )  # fmt: skip
