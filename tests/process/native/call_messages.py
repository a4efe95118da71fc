"""What a trace's calls send, where collectives are linear: counted from the records, by MPI's meaning of each call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tests.process.native.trace_reading import Trace

LINEAR = {
    "barrier": "linear", "bcast": "linear", "reduce": "linear", "allreduce": "linear", "scan": "linear",
    "exscan": "linear", "reduce_scatter": "pairwise", "gather": "linear", "scatter": "linear", "allgather": "ring",
    "alltoall": "linear",
}  # fmt: skip
"""What wulf-replay is asked for, so that it is known which messages there must be."""

SENDS = ("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Sendrecv", "Sendrecv_replace")
CREATIONS = ("Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type", "Comm_create", "Cart_create",
             "Cart_sub", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent")  # fmt: skip
FENCED = ("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap")
CONTEXT, COLOUR = 4, 8
"""Bytes by which ranks agree on a new communicator, and which a split gathers."""


class RankMessages:
    """Bytes of each message that one rank's calls make it, or others on its behalf, send."""

    def __init__(self, me: int, ranks: int) -> None:
        self.me = me
        self.comms: dict[int, list[int]] = {0: list(range(ranks)), 1: [me]}
        self.inter: set[int] = set()
        self.near: dict[int, list[int]] = {}
        self.windows: dict[int, list[int]] = {}
        self.persistent: dict[int, tuple[str, int]] = {}
        self.fenced: dict[tuple[int, int, bool], int] = {}
        self.put: dict[int, int] = {}
        self.group: list[int] = []
        self.epoch = "fence"

    def of(self, records: Iterable[dict[str, Any]]) -> Iterator[int]:
        for record in records:
            op = record["op"].removeprefix("MPI_")
            if op == "neighbours":
                self.near[record["comm"]] = record["members2"]
            elif "newcomm" in record:
                yield from self._creation(op, record)
            elif "window" in record or "newwin" in record:
                yield from self._window(op, record)
            elif "comm" in record and "tag" not in record:
                comm = record["comm"]
                if comm not in self.inter and op not in ("Comm_free", "Comm_disconnect"):
                    yield from self._collective(op.lower().removeprefix("i"), record, self.comms[comm])
            else:
                yield from self._message(op, record)

    def _message(self, op: str, record: dict[str, Any]) -> Iterator[int]:
        if op in SENDS and record["peer"] >= 0:
            yield from self._sent(op, record["bytes"])
        elif op.endswith("end_init"):
            self.persistent[record["request"]] = (op, record["bytes"])
        elif op == "Recv_init":
            self.persistent.pop(record["request"], None)
        elif op in ("Start", "Startall"):
            for each in record["requests"]:
                if each in self.persistent:
                    yield from self._sent(*self.persistent[each])

    def _sent(self, op: str, size: int) -> Iterator[int]:
        yield size
        if op in ("Ssend", "Issend", "Ssend_init"):
            yield 0  # the answer

    def _creation(self, op: str, record: dict[str, Any]) -> Iterator[int]:
        made, parent = record["newcomm"], record.get("comm", 0)
        if made >= 0:
            self.comms[made] = record["members"]
            if record["members2"]:
                self.inter.add(made)
        if op == "Comm_idup":
            self.near[made] = self.near.get(parent, [])
        if op == "Comm_create_group":
            yield from self._collective("allreduce", {"bytes": CONTEXT}, record["members"])
        elif op in CREATIONS and parent not in self.inter:
            members = self.comms[parent]
            if op in ("Comm_split", "Comm_split_type"):
                yield from self._collective("allgather", {"bytes": COLOUR}, members)
            yield from self._collective("allreduce", {"bytes": CONTEXT}, members)

    def _collective(self, op: str, record: dict[str, Any], members: list[int]) -> Iterator[int]:
        others, rank = len(members) - 1, members.index(self.me)
        at_root = record.get("root") == self.me
        size, counts = record.get("bytes", 0), record.get("counts", [])
        if op.startswith("neighbor"):
            yield from self._near(op, record)
        elif op in ("barrier", "allreduce"):  # all to one, and from there to all
            yield from [size] * (1 if rank else others)
        elif op == "bcast":
            yield from [size] * (others if at_root else 0)
        elif op in ("reduce", "gather", "gatherv"):
            yield from [size] * (not at_root)
        elif op in ("scan", "exscan"):
            yield from [size] * (rank < others)
        elif op == "scatter":
            yield from [size] * (others if at_root else 0)
        elif op in ("allgather", "allgatherv", "alltoall", "reduce_scatter_block"):
            yield from [size] * others
        elif op in ("scatterv", "reduce_scatter"):
            yield from (count for at, count in enumerate(counts) if at != rank)
        else:
            assert op in ("alltoallv", "alltoallw"), op
            yield from (count for at, count in enumerate(counts) if at != rank and count)

    def _near(self, op: str, record: dict[str, Any]) -> Iterator[int]:
        near = self.near[record["comm"]]
        sizes = record["counts"] if op.endswith(("alltoallv", "alltoallw")) else [record["bytes"]] * len(near)
        yield from (size for peer, size in zip(near, sizes, strict=True) if peer >= 0)

    def _window(self, op: str, record: dict[str, Any]) -> Iterator[int]:
        if "newwin" in record:
            self.windows[record["newwin"]] = self.comms[record["comm"]]
            yield from self._collective("barrier", {}, self.comms[record["comm"]])
            return
        members = self.windows[record["window"]]
        self.epoch = {"Win_lock": "lock", "Win_lock_all": "lock", "Win_unlock": "fence", "Win_unlock_all": "fence",
                      "Win_start": "start", "Win_complete": "fence"}.get(op, self.epoch)  # fmt: skip
        if op in FENCED and self.epoch == "fence":
            self._take_fenced(op, record)
        elif op == "Put" and self.epoch == "start":
            self.put[record["peer"]] = self.put.get(record["peer"], 0) + record["bytes"]
        elif op == "Win_fence":
            yield from self.fenced.values()
            self.fenced.clear()
            yield from self._collective("barrier", {}, members)
        elif op == "Win_free":
            yield from self._collective("barrier", {}, members)
        elif op == "Win_post":
            yield from [0] * len(record["members"])
        elif op == "Win_start":
            self.group = record["members"]
        elif op == "Win_complete":
            yield from (self.put.pop(peer, 0) for peer in self.group)

    def _take_fenced(self, op: str, record: dict[str, Any]) -> None:
        """What an origin gives is one message at the fence, and what it gets is another."""
        gives = record["bytes"] if op != "Get" else 0
        gets = record["bytes2"] if "bytes2" in record else record["bytes"] if op not in ("Put", "Accumulate") else 0
        for out, size in ((True, gives), (False, gets)):
            if size:
                key = (record["window"], record["peer"], out)
                self.fenced[key] = self.fenced.get(key, 0) + size


def messages_of(traces: list[Trace]) -> list[int]:
    """Bytes of all messages that these ranks' calls mean, ascending."""
    return sorted(size for me, trace in enumerate(traces) for size in RankMessages(me, len(traces)).of(trace.records))
