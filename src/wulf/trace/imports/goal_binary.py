"""Binary GOAL: what LogGOPSim's txt2bin writes, read with NumPy.

All is in the byte order of the machine that wrote it (little-endian here): a magic number; from there, where all
offsets count from: the ranks, the most CPUs and NICs, and by rank where its part begins and ends; a part: how many
operations and roots, the roots' numbers, 39 bytes an operation, and the numbers of those that depend on each.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wulf.trace.errors import FormatError, contents, opened
from wulf.trace.imports.building import MOST_BYTES, MOST_NS
from wulf.trace.imports.goal_schedule import Schedule, waiting_for_itself

LARGEST = 1 << 32
"""Bytes of a file: it is read whole."""

MAGIC = (4223).to_bytes(8, "little")

HEAD = np.dtype([("ranks", "<u4"), ("cpu", "u1"), ("nic", "u1")])
PART = np.dtype([("begin", "<u8"), ("end", "<u8")])
COUNTS = np.dtype([("operations", "<u4"), ("roots", "<u4")])
OPERATION = np.dtype(
    [
        ("needs", "<u4"), ("kind", "u1"), ("peer", "<u4"), ("size", "<u8"), ("tag", "<u4"), ("cpu", "u1"),
        ("nic", "u1"), ("ends", "<u4"), ("ends_at", "<u4"), ("begins", "<u4"), ("begins_at", "<u4"),
    ]
)  # fmt: skip
KINDS = {1: "send", 2: "recv", 3: "calc"}
NOBODY = 0xFFFF_FFFF
"""Any peer, or tag."""


def is_binary(path: Path) -> bool:
    """Whether a file begins as one of these does."""
    with opened(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def read_binary(path: Path) -> Schedule:
    """Read and check a binary GOAL file.

    Raises
    ------
    FormatError
        It is cut, or an operation is of no known kind, names a rank or an operation that is not there, is larger than
        the replay takes, or waits for itself.
    """
    whole = memoryview(contents(path, LARGEST))[len(MAGIC) :]
    ranks = int(np.frombuffer(whole, HEAD, 1)["ranks"][0]) if len(whole) >= HEAD.itemsize else 0
    if ranks == 0 or HEAD.itemsize + ranks * PART.itemsize > len(whole):
        raise _fault(path, f"it ends within its head, or names no ranks ({ranks:,})")
    parts = np.frombuffer(whole, PART, ranks, HEAD.itemsize)
    schedule, taken = Schedule(ranks), 0
    for rank, (begin, end) in enumerate(parts.tolist()):
        if not begin + COUNTS.itemsize <= end <= len(whole):
            raise _fault(path, f"rank {rank} is said to lie from byte {begin:,} to {end:,} of {len(whole):,}")
        taken += end - begin
        if taken > len(whole):  # else a small file could stand for any number of operations
            raise _fault(path, f"ranks up to {rank} are said to have {taken:,} B of its {len(whole):,}")
        _take(path, schedule, rank, whole[begin:end])
    return schedule


def _take(path: Path, schedule: Schedule, rank: int, part: memoryview) -> None:
    count, roots = (int(value) for value in np.frombuffer(part, COUNTS, 1)[0])
    first = COUNTS.itemsize + 4 * roots
    last = first + count * OPERATION.itemsize
    if last > len(part):
        raise _fault(path, f"rank {rank} has {count:,} operations, which do not fit into its {len(part):,} B")
    operations = np.frombuffer(part, OPERATION, count, first)
    appendix = np.frombuffer(part, "<u4", (len(part) - last) // 4, last)
    _check(path, schedule.ranks, rank, operations, appendix)
    kinds = operations["kind"]
    schedule.counts[rank] = Counter({name: int((kinds == kind).sum()) for kind, name in KINDS.items()})
    schedule.calculated[rank] += int(operations["size"][kinds == 3].sum())
    for kind, peer, size, tag in operations[kinds != 3][["kind", "peer", "size", "tag"]].tolist():
        if kind == 1:
            schedule.bytes[rank, peer] += size
            schedule.unmatched[rank, peer, tag] += 1
        elif NOBODY in (peer, tag):
            schedule.wildcards += 1
        else:
            schedule.unmatched[peer, rank, tag] -= 1


def _check(path: Path, ranks: int, rank: int, operations: NDArray[np.void], appendix: NDArray[np.uint32]) -> None:
    kinds, peers = operations["kind"], operations["peer"]
    wrong = ~np.isin(kinds, list(KINDS))
    wrong |= (kinds != 3) & (peers >= ranks) & ~((kinds == 2) & (peers == NOBODY))
    wrong |= operations["size"] > np.where(kinds == 3, MOST_NS, MOST_BYTES)
    for which in ("ends", "begins"):
        # in 64 bits: the sum of two numbers of 32 may have 33
        wrong |= operations[which].astype(np.int64) + operations[f"{which}_at"] > len(appendix)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise _fault(path, f"rank {rank}, operation {first}: {_words(operations[first])}")
    depend = sum(int(operations[which].sum(dtype=np.int64)) for which in ("ends", "begins"))
    if depend > len(appendix):  # each stands in one list alone
        raise _fault(path, f"rank {rank}: {depend:,} dependencies are said to be there, of {len(appendix):,}")
    if (appendix >= len(operations)).any():
        beyond = int(appendix[appendix >= len(operations)][0])
        raise _fault(path, f"rank {rank}: operation {beyond} depends on another, of {len(operations)} that there are")
    circle = waiting_for_itself(len(operations), *_dependencies(operations, appendix))
    if circle is not None:
        raise _fault(path, f"rank {rank}: what operation {circle} requires requires it in turn")


def _dependencies(
    operations: NDArray[np.void], appendix: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of all that are in the appendix: the operation that is first, and the one that waits for it."""
    first, then = [], []
    for which in ("ends", "begins"):
        many, start = (operations[name].astype(np.int64) for name in (which, f"{which}_at"))
        before = np.cumsum(many) - many
        first.append(np.repeat(np.arange(len(operations)), many))
        then.append(appendix[np.arange(many.sum()) + np.repeat(start - before, many)])
    return np.concatenate(first), np.concatenate(then).astype(np.int64)


def _words(operation: np.void) -> str:
    return ", ".join(f"{name} {operation[name]}" for name in ("kind", "peer", "size", "ends", "begins"))


def _fault(path: Path, what: str) -> FormatError:
    return FormatError(f"{path} is no whole binary GOAL file: {what}", "make it again from its text, by txt2bin")
