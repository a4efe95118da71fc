"""The links of a cluster with what was measured of them, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wulf.stats.cluster.directed import Ends, numbered
from wulf.stats.cluster.outliers import Link
from wulf.stats.estimates import Estimate
from wulf.stats.samples import Floats

Indices = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Table:
    """The links that have a value, as arrays; badness is the log of a time, or minus the log of a rate.

    Attributes
    ----------
    names
        The nodes.
    ends
        Shape (links, 2): client and server by number.
    bad, best, worst
        Shape (links,): badness, and that of the interval's better and worse end.
    sign
        1 for times, -1 for rates.
    """

    names: list[str]
    ends: Ends
    bad: Floats
    best: Floats
    worst: Floats
    sign: int

    def figure(self, badness: float) -> float:
        """A badness in the metric's unit."""
        return float(np.exp(self.sign * badness))

    def figures(self, bad: float, best: float, worst: float) -> tuple[float, float, float]:
        """Value, low and high in the metric's unit."""
        ends = sorted((self.figure(best), self.figure(worst)))
        return self.figure(bad), ends[0], ends[1]


def table_of(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> Table:
    """The links with a value and an interval, between two nodes each."""
    clear = [
        (link, e.value, e.low, e.high)
        for link, e in links.items()
        if e.value is not None and e.low is not None and e.high is not None and link[0] != link[1]
    ]
    names, ends = numbered(link for link, *_ in clear)
    figures = np.log(np.maximum(np.array([figures for _, *figures in clear], dtype=float).reshape(-1, 3), _TINY))
    sign = 1 if lower_is_better else -1
    bad, low, high = (sign * figures[:, i] for i in range(3))
    return Table(names, ends, bad, np.minimum(low, high), np.maximum(low, high), sign)
