"""Ranks that see what comes by TCP every 10 ms alone, as their waits show it.

Open MPI's progress loop looks at sockets in every round while it counts somebody who uses them, else every 10 ms
(`mpi_event_tick_rate`). In Open MPI 4.1 a connection that both ends begin at the same time, and of which one is
dropped, may leave a rank with a count of none: a matter of chance, in one run in 24 of two ranks in a lab. Each of its
waits then ends 10 ms after the one before, or, where it computed for longer than that, after it began.
"""

from __future__ import annotations

from wulf.trace.reader import RankFile
from wulf.trace.record import Record, Watch

TICK_NS = 10_000_000
"""What that loop is set to by default."""

WAIT_NS = TICK_NS // 32
"""A call that takes less did not wait for a tick."""

NEAR, LEAST, SHARE = 0.02, 8, 0.75
"""A wait of one tick ends within so much of it; so many must be of about one tick, and such a share end with it. Waits
that take 10 ms for another reason, as of four crossings of 2.5 ms, do by chance in a third of the cases."""

LIBRARY = "Open MPI"


class Ticks:
    """How the waits of all ranks of Open MPI end."""

    def __init__(self) -> None:
        self._waits: dict[int, list[int]] = {}  # rank → waits of about one tick, and those that end with it

    def of(self, one: RankFile) -> Watch:
        """What is to be told of each record of a rank."""
        counts = [0, 0]
        if str(one.header.get("mpi", "")).startswith(LIBRARY):
            self._waits[one.rank] = counts
        last = -TICK_NS

        def watch(record: Record, begin: int, end: int) -> None:
            nonlocal last
            if record.call_ns < WAIT_NS:
                return
            ticks = (end - (last if begin - last < TICK_NS else begin)) / TICK_NS
            last = end
            counts[0] += 0.5 < ticks < 1.5
            counts[1] += abs(ticks - 1) < NEAR

        return watch

    def ranks(self) -> list[int]:
        """Those that see nothing in between."""
        return [rank for rank, (all_, with_it) in self._waits.items() if all_ >= LEAST and with_it >= SHARE * all_]
