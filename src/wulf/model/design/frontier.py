"""All designs for a sum, their frontier of cost against time, and what a decision hangs on.

A design is a kind of node, a number of them, and a network. Of all that cost at most so much the fastest is the best;
whether another is really slower is asked draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from wulf.model.design.prices import DesignBill, Fabric, Node, Site, bill_of
from wulf.model.design.timing import Timing, spanned
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

MOST_NODES = 100_000
"""Of a design."""

HORIZON = 2.0
"""Times the budget: so far the frontier is followed."""

CHUNK = 64
"""Designs of the frontier that are held against the best one at once."""

LARGEST_SEARCH = 16
"""Times a design's nodes: so many more are tried for what a gain is worth."""

MOST_TRIED = 2048
"""Numbers of nodes that are tried by draws: all of them, or as many evenly by their logarithm."""


@dataclass(frozen=True)
class Pair:
    """A kind of node and a network, and how long the program takes on so many of them."""

    node: Node
    fabric: Fabric
    timing: Timing


@dataclass(frozen=True)
class Design:
    """So many nodes of a pair.

    Attributes
    ----------
    price
        To have it stand there.
    cost
        What the budget pays: the price, or with its years.
    """

    pair: Pair
    nodes: int
    price: float
    cost: float

    @property
    def time(self) -> Interval:
        """Seconds."""
        return self.pair.timing.time(self.nodes)

    def over(self, other: Design) -> Interval:
        """Its time as a multiple of another's."""
        return self.pair.timing.ratio(self.nodes, other.pair.timing, other.nodes)


@dataclass(frozen=True)
class Rival:
    """A design beside the best one.

    Attributes
    ----------
    over
        Its time as a multiple of the best one's.
    """

    design: Design
    over: Interval

    @property
    def slower(self) -> bool:
        """Surely."""
        return self.over.low > 1


@dataclass(frozen=True)
class Choice:
    """What a sum buys.

    Attributes
    ----------
    best
        The fastest; None where nothing costs so little.
    frontier
        Of all designs those to which none is both as cheap and as fast, by cost, to `HORIZON` times the budget.
    rivals
        The fastest of every other pair for the sum, the fastest first.
    cheaper
        The cheapest of the frontier that is not surely slower than the best.
    more
        The best for the sum and so much more; the same as `best` where that buys nothing.
    sooner
        The next of the frontier beyond the sum: the least that must be added for anything to be faster.
    unsupported
        What would be the fastest if the forms held beyond what was measured; None where that changes nothing.
    cheapest
        Of all designs.
    """

    budget: float
    best: Design | None
    frontier: tuple[Design, ...]
    rivals: tuple[Rival, ...] = ()
    cheaper: Rival | None = None
    more: Rival | None = None
    sooner: Rival | None = None
    unsupported: Design | None = None
    cheapest: Design | None = None


@dataclass(frozen=True)
class _Grid:
    """All designs as columns: which pair, how many nodes, price, cost, seconds, and whether data reach so far."""

    pair: NDArray[np.intp]
    nodes: Floats
    price: Floats
    cost: Floats
    seconds: Floats
    supported: NDArray[np.bool_]

    def kept(self, mask: NDArray[np.bool_]) -> _Grid:
        """Some of them."""
        return _Grid(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))

    def fastest(self, mask: NDArray[np.bool_]) -> int | None:
        """The row of the fastest among some, of equals the cheapest."""
        if not mask.any():
            return None
        rows = np.flatnonzero(mask)
        return int(rows[np.lexsort((self.cost[rows], self.seconds[rows]))[0]])

    def frontier(self) -> list[int]:
        """Rows by cost, each faster than all before it."""
        order = np.lexsort((self.seconds, self.cost))
        before = np.concatenate([[inf], np.minimum.accumulate(self.seconds[order])[:-1]])
        found: list[int] = order[self.seconds[order] < before].tolist()
        return found


def choose(
    pairs: Sequence[Pair], site: Site, budget: float, *, more: float = 1000.0, owned: bool = False,
    beyond: bool = False,
) -> Choice:  # fmt: skip
    """The best design for a sum, and what lies beside it.

    Parameters
    ----------
    more
        What else could be spent.
    owned
        The budget pays for the years of running, too.
    beyond
        Also numbers of nodes that no data support.
    """
    whole = _grid(pairs, site, max(HORIZON * budget, budget + more), owned)
    grid = whole if beyond else whole.kept(whole.supported)

    def design(row: int, of: _Grid = grid) -> Design:
        return Design(pairs[of.pair[row]], int(of.nodes[row]), float(of.price[row]), float(of.cost[row]))

    rows = grid.frontier()
    frontier = tuple(design(row) for row in rows)
    best_row = grid.fastest(grid.cost <= budget)
    if best_row is None:
        least = _cheapest(pairs, site, owned=owned, beyond=beyond)
        return Choice(budget, None, frontier, cheapest=least)
    best = design(best_row)
    far = whole.fastest(whole.cost <= budget)
    unsupported = None if far is None or whole.supported[far] or beyond else design(far, whole)
    return Choice(
        budget, best, frontier, _rivals(grid, design, best, budget, len(pairs)),
        _cheaper([one for one in frontier if one.cost < best.cost], best),
        _beside(design(grid.fastest(grid.cost <= budget + more) or best_row), best),
        next((_beside(one, best) for one in frontier if one.cost > budget), None),
        unsupported, frontier[0],
    )  # fmt: skip


def _grid(pairs: Sequence[Pair], site: Site, limit: float, owned: bool) -> _Grid:
    """All designs that cost at most so much."""
    columns: list[list[Floats]] = []
    for number, pair in enumerate(pairs):
        nodes = np.arange(1.0, max(0.0, min(float(MOST_NODES), limit // pair.node.price)) + 1)
        bill = bill_of(pair.node, pair.fabric, site, nodes)
        cost = bill.owned if owned else bill.price
        seconds, supported = pair.timing.at(nodes), pair.timing.supported(nodes)
        kept = (cost <= limit) & (seconds > 0)
        every = [np.full(nodes.size, number), nodes, bill.price, cost, seconds, supported]
        columns.append([one[kept] for one in every])
    return _Grid(*(np.concatenate(several) for several in zip(*columns, strict=True)))


def _cheapest(pairs: Sequence[Pair], site: Site, *, owned: bool, beyond: bool) -> Design | None:
    """Of all designs the cheapest, whatever it costs: that of the fewest nodes that each pair may have."""
    found = []
    for pair in pairs:
        least = 1 if beyond else max(1, int(np.ceil(pair.timing.least / pair.timing.workers)))
        nodes = np.array([float(least)])
        if beyond or pair.timing.supported(nodes)[0]:
            bill = bill_of(pair.node, pair.fabric, site, nodes)
            cost = bill.owned if owned else bill.price
            found.append(Design(pair, least, float(bill.price[0]), float(cost[0])))
    return min(found, key=lambda one: one.cost, default=None)


def _beside(design: Design, best: Design) -> Rival:
    return Rival(design, design.over(best))


def _rivals(grid: _Grid, design: Callable[[int], Design], best: Design, budget: float, count: int) -> tuple[Rival, ...]:
    """The fastest of every other pair, for the sum."""
    rows = [grid.fastest((grid.cost <= budget) & (grid.pair == number)) for number in range(count)]
    found = [_beside(one, best) for row in rows if row is not None and (one := design(row)).pair is not best.pair]
    return tuple(sorted(found, key=lambda one: one.over.value))


def _cheaper(frontier: Sequence[Design], best: Design) -> Rival | None:
    """The cheapest that is not surely slower; once a whole chunk is, so are all that are cheaper."""
    found = None
    for end in range(len(frontier), 0, -CHUNK):
        alike = [one for each in frontier[max(0, end - CHUNK) : end] if not (one := _beside(each, best)).slower]
        if not alike:
            break
        found = alike[0]
    return found


def bill(design: Design, site: Site) -> DesignBill:
    """What it costs, part by part; arrays of shape (1,)."""
    return bill_of(design.pair.node, design.pair.fabric, site, np.array([float(design.nodes)]))


@dataclass(frozen=True)
class Worth:
    """What a gain is worth: the design of the same pair that is as fast without it.

    Attributes
    ----------
    nodes
        How many more it has; infinite where no number of nodes is as fast.
    design
        By the times themselves; None where there is none.
    """

    gain: float
    nodes: Interval
    design: Design | None


def worth_of(best: Design, gain: float, site: Site, *, owned: bool = False) -> Worth:
    """How many more nodes would do as much as a program that gets so much faster: .37 is 37 % more work a second."""
    timing = best.pair.timing
    every = np.arange(float(best.nodes), float(LARGEST_SEARCH * best.nodes) + 1)
    values = timing.at(every)
    own = _first(values[None] <= values[0] / (1 + gain), every)[0] - best.nodes
    tried: Floats = every
    if every.size > MOST_TRIED:
        tried = np.unique(np.round(np.geomspace(every[0], every[-1], MOST_TRIED))).astype(float)
    drawn = []
    for curve in timing.curves:
        each = np.maximum(curve.draws @ curve.form.columns(tried * timing.workers).T, 0.0)
        drawn.append(_first(each <= each[:, :1] / (1 + gain), tried) - best.nodes)
    nodes = spanned(float(own), drawn)
    if own == inf:
        return Worth(gain, nodes, None)
    other = replace(best, nodes=best.nodes + int(own))
    paid = bill(other, site)
    cost = paid.owned if owned else paid.price
    return Worth(gain, nodes, replace(other, price=float(paid.price[0]), cost=float(cost[0])))


def _first(reached: NDArray[np.bool_], nodes: Floats) -> Floats:
    """In each row the first number of nodes that is reached; infinite where none is."""
    return np.where(reached.any(axis=1), nodes[reached.argmax(axis=1)], inf)
