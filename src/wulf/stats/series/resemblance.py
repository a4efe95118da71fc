"""Whether a run's replicates resemble those before them, seen over all of its cells at once.

One cell's eight to 24 replicates hardly show it, and their interval, which takes them for independent, is too narrow
all the same. Where nothing depends on its predecessor, the passes over all cells could as well have come in any other
order: so the correlation of neighbours is held against that of the same passes in random orders. All cells of a pass
move together, so that what they have in common (a neighbour's job hits them all) is no evidence twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from wulf.stats.diagnostics import ranks
from wulf.stats.samples import Floats

LEAST_PASSES = 6
"""Of which 720 orders can be made."""

MOST_PASSES = 200
"""Of more, which a watch has, so many tell enough."""

LEVEL = 0.01
"""One run of a hundred is called so for nothing."""

_MOST_DEPENDENT = 0.9
"""ρ of the series that are known here: those of more look no different in 24 replicates."""

_SEED, _DRAWS = 11, 2000

_ORDERS = 999


@dataclass(frozen=True)
class Resemblance:
    """How replicates depend on those before them.

    Attributes
    ----------
    rho
        Of the AR(1) series whose neighbours are as alike; 0 where they are no more alike than by chance.
    p
        One-sided, of passes that could have come in any order.
    cells, passes
        Of which it was seen.
    """

    rho: float
    p: float
    cells: int
    passes: int

    @property
    def amount(self) -> float:
        """Independent replicates to which the passes amount: n(1-ρ)/(1+ρ), one at least."""
        return max(1.0, self.passes * (1 - self.rho) / (1 + self.rho))

    @property
    def flagged(self) -> bool:
        """Clear, and so much that the passes amount to less than half of themselves: as for a cell by itself."""
        return self.p < LEVEL and self.amount < self.passes / 2


def resemblance(samples: ArrayLike, random: np.random.Generator) -> Resemblance | None:
    """How alike neighbouring passes are, by the ranks of each cell's replicates, so that outliers hide nothing.

    Parameters
    ----------
    samples
        Shape (cells, passes); NaN where there is none. Cells that ended early count with those passes that most have.

    Returns
    -------
    None where fewer than six passes are complete in any cell that varies.
    """
    x = np.asarray(samples, dtype=float)[:, :MOST_PASSES]
    passes = _in_common(x)
    if passes < LEAST_PASSES:
        return None
    whole = x[np.isfinite(x[:, :passes]).all(axis=1), :passes]
    centred = np.stack([ranks(cell) for cell in whole])
    centred -= centred.mean(axis=1, keepdims=True)
    squares = (centred**2).sum(axis=1)
    own = centred[squares > 0] / np.sqrt(squares[squares > 0, None])
    if not len(own):
        return None
    alike = own.T @ own / len(own)
    orders = random.permuted(np.tile(np.arange(passes), (_ORDERS, 1)), axis=1)
    found = float(np.trace(alike, 1))
    drawn = alike[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    p = (1 + int((drawn >= found * (1 - 1e-12)).sum())) / (1 + _ORDERS)
    strengths, expected = _expected(passes)
    return Resemblance(float(np.interp(found, expected, strengths)), p, len(own), passes)


def _in_common(x: Floats) -> int:
    """So many passes from the first on that most replicates are in cells that have them all."""
    if not x.size:
        return 0
    whole = np.logical_and.accumulate(np.isfinite(x), axis=1).sum(axis=0)
    return 1 + int(np.argmax(whole * np.arange(1, x.shape[1] + 1))) if whole.any() else 0


@cache
def _expected(n: int) -> tuple[Floats, Floats]:
    """AR(1) series' ρ, and what the ranks of n replicates of each show for it, on average: simulated, from one seed.

    Less than ρ, for it is taken about the cell's own mean (Marriott & Pope 1954).
    """
    random = np.random.default_rng([_SEED, n])
    noise = random.normal(size=(n, _DRAWS))
    strengths = np.linspace(0, _MOST_DEPENDENT, 19)
    found = []
    for rho in strengths:
        x = noise.copy()
        for at in range(1, n):
            x[at] = rho * x[at - 1] + (1 - rho**2) ** 0.5 * noise[at]
        order = x.argsort(axis=0).argsort(axis=0) - (n - 1) / 2
        found.append(float((order[1:] * order[:-1]).sum() / (order**2).sum()))
    return strengths, np.maximum.accumulate(found)
