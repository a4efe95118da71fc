"""The operations of records, and which of MPI's calls does what."""

from __future__ import annotations

from typing import NamedTuple

from wulf.trace.ops import OPERATIONS


class Call(NamedTuple):
    """An operation: its number in a file, its name without MPI_, and the fields of its records."""

    number: int
    name: str
    fields: tuple[str, ...]


BY_NUMBER = {
    number: Call(number, name.removeprefix("MPI_"), tuple(fields)) for number, (name, fields) in OPERATIONS.items()
}
BY_NAME = {call.name: call for call in BY_NUMBER.values()}

NOTES = frozenset(name for name in BY_NAME if name[0].islower())
"""Records that are no calls."""

MODES = ("", "B", "S", "R")
TEMPLATES = frozenset({"Recv_init", *(f"{mode}send_init".capitalize() for mode in MODES)})
"""Calls that make a persistent request."""

RECEIVES = frozenset({"Recv", "Irecv", "Recv_init", "Mrecv", "Imrecv"})
SENDS = frozenset({*(f"{mode}send".capitalize() for mode in MODES), *(f"I{mode.lower()}send" for mode in MODES)})
EXCHANGES = frozenset({"Sendrecv", "Sendrecv_replace"})
POSTS = SENDS | RECEIVES - TEMPLATES
"""Calls that send or receive one message, or begin to."""

STARTS = frozenset({"Start", "Startall"})
PROBES = frozenset({"Probe", "Iprobe", "Mprobe", "Improbe"})
COMPLETIONS = frozenset(
    {"Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"}
)  # fmt: skip

_BLOCKING = (
    "Barrier", "Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block", "Reduce_scatter", "Gather",
    "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
    "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw",
)  # fmt: skip
COLLECTIVES = {name: name.lower() for name in _BLOCKING} | {f"I{name.lower()}": name.lower() for name in _BLOCKING}
"""Call → the collective, in small letters, and without an I for non-blocking."""

NEW_COMMUNICATORS = frozenset(name for name, call in BY_NAME.items() if "newcomm" in call.fields)
PLAIN = frozenset(name for name in BY_NAME if name.startswith("File_"))
"""Calls that talk to no rank: their time passes on any network."""

QUIET = (
    PLAIN | NOTES | PROBES
    | {"Cancel", "Request_free", "Request_get_status", "Comm_free", "Comm_disconnect", "Win_free"}
)  # fmt: skip
"""What stands for no message, and is no gap in what is known of a program."""
