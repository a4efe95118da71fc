"""How long a node survey takes at most: arithmetic over its cells, so that the time is known before any is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wulf.measure.node_cells import ELEMENT_SECONDS
from wulf.measure.plan import Cell

ANSWER_SECONDS = 0.006
"""A request and its answer, the clock rate before and after, the counters of both ends, a server's first answer."""

TOUCH_SECONDS = 0.4e-9
"""A byte of fresh memory: the kernel clears it, a page fault for every 4 KiB."""

WALK_SECONDS = 0.5e-9
"""A byte of a chase or a table, made in random order and walked once: some 30 ns a line beyond the caches."""

PASS_SECONDS = 0.5e-9
"""A byte of a kernel's arrays over the three passes that it makes at least, on a node of 6 GB/s."""

_ARRAYS = {"read": 1, "write": 1, "copy": 2, "scale": 2, "memcpy": 2, "add": 3, "triad": 3}


def replicate_seconds(cell: Cell) -> float:
    """Seconds of one replicate, set-up included, on a slow node."""
    size = cell.params.get("bytes")
    bytes_ = float(size) if isinstance(size, int | float) else 0.0
    if cell.pattern in ("chase", "loaded-latency", "random-access"):
        extra = bytes_ * (TOUCH_SECONDS + WALK_SECONDS)
    elif cell.pattern == "bandwidth":
        extra = bytes_ * _ARRAYS[str(cell.params["kernel"])] * (TOUCH_SECONDS + PASS_SECONDS)
    elif cell.pattern == "cpu-rate":
        extra = float(cell.params["runs"] or 0) * bytes_ / 8 * (1.5 * ELEMENT_SECONDS) + 2 * bytes_ * TOUCH_SECONDS
    else:
        extra = 0.0
    return ANSWER_SECONDS + cell.seconds + extra


def most_seconds(cells: Iterable[Cell], hosts: Mapping[str, str], replicates: int) -> float:
    """Seconds of so many replicates of every cell: nodes on machines of their own are measured side by side.

    Parameters
    ----------
    hosts
        Node → machine; a node that is not in it has one of its own.
    """
    spent: dict[str, float] = {}
    for cell in cells:
        seconds = replicates * replicate_seconds(cell)
        for host in {hosts.get(node, node) for node in (cell.client, cell.server)}:
            spent[host] = spent.get(host, 0.0) + seconds
    return max(spent.values(), default=0.0)
