"""How long a node survey takes at most: arithmetic over its cells, so that the time is known before any is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor

from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.node.cells import ELEMENT_SECONDS, Draft, TableRequest, drafts_of
from wulf.measure.node.rows import table
from wulf.measure.node.sets import needed
from wulf.measure.node.shape import Shape

ANSWER_SECONDS = 0.004
"""A request and its answer, the clock rate before and after, the counters of both ends, a server's first answer: 2 ms
of CPU on the node, and 2 here."""

TOUCH_SECONDS = 0.3e-9
"""A byte of fresh memory: the kernel lays it out page by page and clears it, on two CPUs."""

WALK_SECONDS = 0.5e-9
"""A byte of a chase or a table, made in random order and walked once: some 30 ns a line beyond the caches."""

PASS_SECONDS = 0.3e-9
"""A byte of a kernel's arrays over the three passes that it makes at least, on a node of 10 GB/s."""

DGEMM_SECONDS = 0.6
"""Beside the time asked for: a process that loads Python and a library, and one product to warm up; of one or two
libraries."""

LEAST_BYTES = 16 << 20
"""Sets are not made smaller than this to save time."""


def replicate_seconds(cell: Cell | Draft) -> float:
    """Seconds of one replicate on a slow node, set-up included but for a working set that it shares."""
    bytes_ = float(needed(cell.pattern, cell.params))
    touch = 0.0 if cell.shares else TOUCH_SECONDS
    if cell.pattern in ("chase", "loaded-latency", "random-access", "numa"):
        extra = bytes_ * (touch + WALK_SECONDS)
    elif cell.pattern == "bandwidth":
        extra = bytes_ * (touch + PASS_SECONDS)
    elif cell.pattern == "cpu-rate":
        extra = float(cell.params["runs"] or 0) * bytes_ / 8 * (1.5 * ELEMENT_SECONDS) + 2 * bytes_ * TOUCH_SECONDS
    else:
        extra = DGEMM_SECONDS if cell.pattern == "dgemm" else 0.0
    return ANSWER_SECONDS + _seconds(cell) + extra


def _set_seconds(cells: Iterable[Cell | Draft]) -> float:
    """Seconds that the working sets which a node's cells share take it, once a pass."""
    return TOUCH_SECONDS * sum({cell.shares.name: cell.shares.bytes for cell in cells if cell.shares}.values())


def _seconds(cell: Cell | Draft) -> float:
    return sum(float(cell.params.get(name) or 0.0) for name in ("seconds", "warmup_seconds"))


@dataclass(frozen=True)
class Turn:
    """What a node's survey may take.

    Attributes
    ----------
    replicates
        Of every cell.
    seconds
        Of all of them together, set-up included.
    alone
        Whether there is no other node: nothing is measured between two.
    """

    replicates: int
    seconds: float
    alone: bool = False

    def spent(self, drafts: Iterable[Draft], of: Callable[[Draft], float]) -> float:
        """Seconds that one replicate of all these takes a node, each by `of`; what is between two nodes at both."""
        ends = 0 if self.alone else 2
        return sum((ends if draft.remote else 1) * of(draft) for draft in drafts)

    def whole(self, drafts: Sequence[Draft]) -> float:
        """The same with all that is to be set up."""
        return self.spent(drafts, replicate_seconds) + _set_seconds(drafts)


def fitted(shape: Shape, probes: Mapping[str, Probe], asked: TableRequest, turn: Turn) -> Shape:
    """The shape with working sets so small that a node of it is measured within its turn.

    Large caches ask for large sets, and many CPUs for many pairs: what both cost together is known beforehand.
    """
    while shape.most > LEAST_BYTES:
        drafts, _ = drafts_of(table(), shape, probes, asked)
        if turn.replicates * turn.whole(drafts) <= turn.seconds:
            break
        shape = replace(shape, most=shape.most // 2)
    return shape


MOST_LONGER = 8.0
"""A replicate is made no longer than that many times the least: the noise rows then take 0.8 s."""


def longer_within(shape: Shape, probes: Mapping[str, Probe], asked: TableRequest, turn: Turn) -> float:
    """How many times as long replicates may be for a node of this shape to be measured within its turn; at least 1.

    Time that setting up leaves is measured in, to a hundredth of it. Where no meter is read, nobody waits for its
    count: that row's time is the others'.
    """
    drafts, _ = drafts_of(table(), shape, probes, asked)
    working = [draft for draft in drafts if shape.metered or draft.pattern != "power"]
    measured = turn.spent(working, lambda draft: float(draft.params.get("seconds") or 0.0))
    room = turn.seconds / turn.replicates - (turn.whole(working) - measured)
    return min(MOST_LONGER, max(1.0, floor(100 * room / measured) / 100)) if measured else 1.0


def most_seconds(cells: Iterable[Cell], hosts: Mapping[str, str], replicates: int) -> float:
    """Seconds of so many replicates of every cell: nodes on machines of their own are measured side by side.

    Parameters
    ----------
    hosts
        Node → machine; a node that is not in it has one of its own.
    """
    spent: dict[str, float] = {}
    own: dict[str, list[Cell]] = {}
    for cell in cells:
        own.setdefault(cell.client, []).append(cell)
        for host in {hosts.get(node, node) for node in (cell.client, cell.server)}:
            spent[host] = spent.get(host, 0.0) + replicate_seconds(cell)
    for node, its in own.items():
        spent[hosts.get(node, node)] += _set_seconds(its)
    return replicates * max(spent.values(), default=0.0)
