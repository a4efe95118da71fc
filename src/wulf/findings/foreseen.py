"""What a survey will be able to see, said before it measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wulf.stats.cluster.levelling import error_of
from wulf.stats.cluster.nodes import LEAST_NODES, visible_from

SCATTER = (0.01, 0.05)
"""Relative standard deviation of a replicate: on a node at rest, and on one that others use too."""

BETWEEN = 0.005
"""Relative standard deviation between like nodes, as machines of one delivery have it."""


def foreseen(classes: Sequence[str], replicates: int, metrics: int, margin: float) -> str:
    """How small a deviation of one node from its like will be found nine times in ten, for each number of like nodes.

    Parameters
    ----------
    classes
        Of each node, the class of those that should be alike.
    replicates
        Of each figure.
    metrics
        Figures of each node.
    margin
        Deviations up to this are not reported.
    """
    kinds, figures = Counter(classes), len(classes) * metrics
    sizes = sorted({size for size in kinds.values() if size >= LEAST_NODES}, reverse=True)
    told = []
    errors = [error_of(replicates, scatter, max(2, len(classes))) for scatter in SCATTER]
    for size in sizes:
        rest, busy = visible_from(size, BETWEEN, errors, margin=margin, figures=figures)
        told.append(
            f"of {size:,} like nodes one that is {rest:.1%} slower will be found nine times in ten if replicates "
            f"scatter by {SCATTER[0]:.0%}, one that is {busy:.1%} slower if by {SCATTER[1]:.0%}"
        )
    few = sum(size for size in kinds.values() if size < LEAST_NODES)
    if few:
        told.append(f"{few:,} with fewer than {LEAST_NODES - 1} like them can't be judged")
    return "; ".join(told)
