"""Least squares whose parameters are not negative, many at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from wulf.stats.samples import Floats


def nonnegative(columns: Floats, values: Floats) -> Floats:
    """Non-negative least squares of many right-hand sides over one matrix.

    The best is the plain least-squares solution over some of the columns, and so the best of those that have no
    negative parameter (Lawson & Hanson, Solving Least Squares Problems, chapter 23): with three columns seven are
    tried, all right-hand sides together.

    Parameters
    ----------
    columns
        Shape (points, parts), weighted; few parts.
    values
        Shape (…, points), weighted alike.

    Returns
    -------
    Floats
        Parameters, shape (…, parts).
    """
    parts = columns.shape[1]
    best = np.zeros((*values.shape[:-1], parts))
    least = (values**2).sum(axis=-1)
    for chosen in (list(some) for count in range(1, parts + 1) for some in combinations(range(parts), count)):
        found = values @ np.linalg.pinv(columns[:, chosen]).T
        squares = ((values - found @ columns[:, chosen].T) ** 2).sum(axis=-1)
        better = (found >= 0).all(axis=-1) & (squares < least)
        spread = np.zeros_like(best)
        spread[..., chosen] = found
        best = np.where(better[..., None], spread, best)
        least = np.where(better, squares, least)
    return best


def unbounded(columns: Floats, values: Floats) -> Floats:
    """Plain least squares, shapes as of `nonnegative`."""
    result: Floats = values @ np.linalg.pinv(columns).T
    return result
