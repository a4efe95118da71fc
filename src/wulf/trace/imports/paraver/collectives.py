"""The calls of a Paraver trace, and what its collectives were: sizes, and the root, which only one task's event tells.

A value of an event names the call; a collective's events tell what the task sent and received in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from wulf.trace.calls import COLLECTIVES
from wulf.trace.imports.paraver.events import COMMUNICATOR, IS_ROOT, RECEIVED, SENT, TaskCall
from wulf.trace.record import Record

INIT, FINALIZE = 31, 32

NAMES = {
    1: "Send", 2: "Recv", 3: "Isend", 4: "Irecv", 5: "Wait", 6: "Waitall", 7: "Bcast", 8: "Barrier", 9: "Reduce",
    10: "Allreduce", 11: "Alltoall", 12: "Alltoallv", 13: "Gather", 14: "Gatherv", 15: "Scatter", 16: "Scatterv",
    17: "Allgather", 18: "Allgatherv", 30: "Scan", 33: "Bsend", 34: "Ssend", 35: "Rsend", 36: "Ibsend", 37: "Issend",
    38: "Irsend", 39: "Test", 41: "Sendrecv", 42: "Sendrecv_replace", 59: "Waitany", 60: "Waitsome",
    80: "Reduce_scatter", 123: "Start", 124: "Startall", 125: "Testall", 126: "Testany", 128: "Testsome",
    154: "Ireduce", 155: "Iallreduce", 156: "Ibarrier", 157: "Ibcast", 158: "Ialltoall", 159: "Ialltoallv",
    160: "Iallgather", 161: "Iallgatherv", 162: "Igather", 163: "Igatherv", 164: "Iscatter", 165: "Iscatterv",
    166: "Ireduce_scatter", 167: "Iscan", 168: "Reduce_scatter_block", 169: "Ireduce_scatter_block",
    170: "Alltoallw", 171: "Ialltoallw", 192: "Recv", 193: "Irecv", 214: "Exscan", 215: "Iexscan",
}  # fmt: skip
"""Value of an event → the call; a matched probe's receive is one like any other."""

UNTOLD = {
    21: "Comm_create", 22: "Comm_dup", 23: "Comm_split", 43: "Cart_create", 49: "Cart_sub", 54: "Graph_create",
    96: "Intercomm_create", 97: "Intercomm_merge", 151: "Comm_spawn", 152: "Comm_spawn_multiple",
    173: "Dist_graph_create", 174: "Neighbor_allgather", 175: "Ineighbor_allgather", 176: "Neighbor_allgatherv",
    177: "Ineighbor_allgatherv", 178: "Neighbor_alltoall", 179: "Ineighbor_alltoall", 180: "Neighbor_alltoallv",
    181: "Ineighbor_alltoallv", 182: "Neighbor_alltoallw", 183: "Ineighbor_alltoallw", 194: "Comm_split_type",
    211: "Comm_dup_with_info", 212: "Dist_graph_create_adjacent", 213: "Comm_create_group",
}  # fmt: skip
"""The same of calls that talk to other ranks, and of which no event says to whom."""

FROM_ROOT, TO_ROOT = frozenset({"bcast", "scatter", "scatterv"}), frozenset({"reduce", "gather", "gatherv"})

SPREAD = "spread evenly, since the text tells only the sum of the sizes"

Collective = tuple[int, int]
"""Its communicator, and the how manieth it is there."""


class Survey:
    """What the calls of one task do not tell, and those of others do.

    Attributes
    ----------
    begun
        Non-blocking collective → when the last task began it.
    """

    def __init__(self, calls: Iterable[TaskCall]) -> None:
        self.begun: dict[Collective, int] = {}
        self.calls = 0
        self._by_size: dict[Collective, int] = {}
        self._by_flag: dict[Collective, int] = {}
        known = Counter[tuple[int, int]]()
        for call in calls:
            self.calls += 1
            name, comm = NAMES.get(call.value, ""), call.told.get(COMMUNICATOR)
            if name in COLLECTIVES and comm is not None:
                self._take(call, name, (comm, known[call.task, comm]))
                known[call.task, comm] += 1

    def _take(self, call: TaskCall, name: str, collective: Collective) -> None:
        kind = COLLECTIVES[name]
        if kind != name.lower():
            self.begun[collective] = max(call.begin, self.begun.get(collective, 0))
        if (kind in FROM_ROOT and call.told.get(SENT)) or (kind in TO_ROOT and call.told.get(RECEIVED)):
            self._by_size[collective] = call.task
        if call.told.get(IS_ROOT):
            self._by_flag[collective] = call.task

    def root(self, collective: Collective) -> int | None:
        """The root: who has sizes that only it has, or else who is called so, which Extrae gets wrong at times.

        It compares MPI_Gather's and MPI_Scatter's root on a communicator with a number of the task in the world.
        """
        return self._by_size.get(collective, self._by_flag.get(collective))


def sized(record: Record, call: TaskCall, many: int, root: bool) -> bool:
    """Set a collective's sizes as docs/reference/trace-format.md has them; whether they are a guess: a sum, spread.

    Parameters
    ----------
    many
        Members of the communicator.
    root
        Whether this task is the root.
    """
    sent, received = call.told.get(SENT, 0), call.told.get(RECEIVED, 0)
    given, taken = [sent // many] * many, [received // many] * many
    kind = COLLECTIVES[record.op]
    match kind:
        case "bcast" | "reduce":
            record.bytes = max(sent, received)
        case "allreduce" | "scan" | "exscan":
            record.bytes = sent
        case "reduce_scatter_block":
            record.bytes = received
        case "allgather" | "alltoall":
            record.bytes, record.bytes2 = sent or received // many, received // many
        case "gather":
            record.bytes, record.bytes2 = sent, received // many
        case "scatter":
            record.bytes, record.bytes2 = sent // many, received
        case "gatherv" | "allgatherv":
            record.bytes, record.counts = sent, taken if root or kind == "allgatherv" else []
        case "scatterv":
            record.bytes2, record.counts = received, given if root else []
        case "reduce_scatter":
            record.counts = given
        case "alltoallv" | "alltoallw":
            record.bytes, record.bytes2, record.counts, record.counts2 = sent, received, given, taken
    return bool(record.counts)
