"""liballprof's text, of LogGOPSim: a file a rank, a line a call, arguments between colons.

    MPI_Send:1237666053149864:11251872:4500:11,8,8:1:7000:0,0,4:1237666053150082
             begin [µs]       buffer   count type,size,extent to tag comm,rank,size  end

A line does not say who belongs to a sub-communicator: what happens on one is left out, aloud. Nor does it say what a
receive from anybody took: that stays a wildcard, which only a replay that matches live can resolve.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from wulf.trace.calls import COLLECTIVES, COMPLETIONS, SENDS
from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import Clock, Ids, Limits, lines_of, notes_of, ranks_in, some, write_rank
from wulf.trace.manifest import RANKS
from wulf.trace.record import ANY, PROC_NULL, Completion, Record

HELP = "liballprof's text: pmpi-trace-rank-*.txt."

PATTERN = "pmpi-trace-rank-*.txt"
_RANK = re.compile(r"(\d+)\.\w+$", re.ASCII)
"""What stands before the rank is the user's choice (HTOR_PMPI_FILE_PREFIX)."""

US = 1000
"""Nanoseconds in a microsecond: the unit of its times."""

REQUEST_BYTES = (8, 4)
"""Between the requests of an array: pointers (Open MPI), or numbers (MPICH). The first that finds them all is right."""

MPICH_WORLD = "1140850688"
"""MPI_COMM_WORLD as MPICH prints it (0x44000000); its MPI_ANY_SOURCE is -2 and its MPI_PROC_NULL -1, in Open MPI it is
the other way round."""

SCHEMES = {
    "Send": "cb n type peer tag comm", "Bsend": "cb n type peer tag comm", "Ssend": "cb n type peer tag comm",
    "Rsend": "cb n type peer tag comm", "Isend": "cb n type peer tag comm req", "Ibsend": "cb n type peer tag comm req",
    "Issend": "cb n type peer tag comm req", "Irsend": "cb n type peer tag comm req",
    "Recv": "cb n type peer tag comm status", "Irecv": "cb n type peer tag comm req",
    "Sendrecv": "cb n type peer tag b n2 type2 peer2 tag2 comm status",
    "Wait": "req status", "Waitall": "m reqs statuses",
    "Barrier": "comm", "Bcast": "b n type root comm", "Reduce": "b b n type op root comm",
    "Allreduce": "b b n type op comm", "Iallreduce": "b b n type op comm req", "Scan": "b b n type op comm",
    "Exscan": "b b n type op comm", "Reduce_scatter": "b b counts type op comm",
    "Gather": "b n type b n2 type2 root comm", "Scatter": "b n type b n2 type2 root comm",
    "Gatherv": "b n type b counts displs type2 root comm", "Scatterv": "b counts displs type b n2 type2 root comm",
    "Allgather": "b n type b n2 type2 comm", "Allgatherv": "b n type b counts displs type2 comm",
    "Alltoall": "b n type b n2 type2 comm",
    "Alltoallv": "b counts displs type b counts2 displs2 type2 comm",
}  # fmt: skip
"""Call → its arguments in order. Counts and displacements are a pointer, then a list: two fields."""

LISTS = {"counts", "counts2", "displs", "displs2"}

Fields = dict[str, str]


def bring(paths: Sequence[Path], folder: Path) -> Imported:
    """A file a rank."""
    files = ranks_in(paths, PATTERN, "trace of liballprof", _rank_of, "name all files of the run")
    left_out: Counter[str] = Counter()
    for rank, path in files:
        one = _Rank(path, rank, len(files), left_out)
        head = {"rank": rank, "size": len(files), "host": one.host(), "mpi": "liballprof"}
        write_rank(folder, head, some(one.records(), path, "is it liballprof's, and did the run get to MPI_Finalize?"))
    return Imported(len(files), RANKS, notes_of(left_out))


def _rank_of(path: Path) -> int:
    match = _RANK.search(path.name)
    if match is None:
        raise FormatError(f"{path}: its name tells no rank", f"liballprof names them {PATTERN}")
    return int(match[1])


class _Rank:
    """One file."""

    def __init__(self, path: Path, rank: int, size: int, left_out: Counter[str]) -> None:
        self._path, self._rank, self._size, self._left_out = path, rank, size, left_out
        self._clock, self._ids, self._limits = Clock(), Ids(), Limits(size)

    def host(self) -> str:
        """As its head says."""
        for _, line in lines_of(self._path):
            if line.startswith("# hostname: "):
                return line.removeprefix("# hostname: ").strip(". ")
            if not line.startswith("#") and line.strip():
                break
        return ""

    def records(self) -> Iterator[Record]:
        """Its calls; what has no scheme takes time, and says nothing."""
        for number, line in lines_of(self._path):
            if not line.startswith("MPI_"):
                continue
            words = line.partition("  # ")[0].split(":")
            name = words[0].removeprefix("MPI_")
            try:
                record = self._record(name, words[1:])
                if record is not None:
                    self._limits.held(record)
            except (ValueError, IndexError, KeyError, OverflowError) as error:
                raise FormatError(
                    f"{self._path}:{number}: {line[:120]!r} is no line of liballprof ({error})",
                    "was it cut while it was written? Remove the line if it is the last",
                ) from error
            if record is not None:
                yield record

    def _record(self, name: str, words: list[str]) -> Record | None:
        if name in ("Init", "Init_thread"):
            self._clock.start(_ns(words[-1]))
            return None
        if name not in SCHEMES and name != "Finalize":
            if name in COLLECTIVES or name in COMPLETIONS or name.endswith(("send", "recv", "_init")):
                self._left_out[f"MPI_{name}"] += 1
            return None
        if name == "Finalize":
            gap, call = self._clock.at(_ns(words[0]), _ns(words[0]))
            return Record("finalize", gap, call)
        fields = _fields(SCHEMES[name].split(), words[1:-1])
        if "comm" in fields and not self._on_world(fields["comm"]):
            self._left_out[f"MPI_{name} on a sub-communicator"] += 1
            return None
        record = self._filled(name, fields)
        if record is not None:
            record.gap_ns, record.call_ns = self._clock.at(_ns(words[0]), _ns(words[-1]))
        return record

    def _on_world(self, comm: str) -> bool:
        _, rank, size = comm.split(",")
        if int(size) > self._size:
            raise FormatError(f"{self._path} is of {int(size):,} ranks or more, and the files are {self._size}",
                              "name the files of all ranks")  # fmt: skip
        return int(size) == self._size and int(rank) == self._rank

    def _filled(self, name: str, fields: Fields) -> Record | None:
        if name in COMPLETIONS:
            return self._completed(name, fields)
        if name in COLLECTIVES:
            return self._collective(name, fields)
        mpich = fields["comm"].startswith(MPICH_WORLD)
        record = Record(name, peer=_peer(fields["peer"], mpich), tag=max(ANY, int(fields["tag"])), bytes=_bytes(fields))
        if name == "Sendrecv":
            record.peer2, record.tag2 = _peer(fields["peer2"], mpich), max(ANY, int(fields["tag2"]))
            record.bytes2 = _bytes(fields, "2")
        if ANY in record.source and name not in SENDS:
            self._left_out["source or tag of a receive from anybody"] += 1
        if "req" in fields:
            record.request = self._ids.new(int(fields["req"]))
        return record

    def _completed(self, name: str, fields: Fields) -> Record:
        if name == "Wait":
            return Record(name, completions=[Completion(self._ids.done(int(fields["req"])))])
        first, many = int(fields["reqs"]), int(fields["m"])
        known = [self._ids.within(range(first, first + size * many, size)) for size in REQUEST_BYTES]
        best = max(known, key=len)
        done = [Completion(self._ids.done(handle)) for handle in best]
        return Record(name, given=len(done), completions=done)

    def _collective(self, name: str, fields: Fields) -> Record:
        record = Record(name, root=int(fields["root"]) if "root" in fields else None)
        if "n" in fields:
            record.bytes = _bytes(fields)
        if "n2" in fields:
            record.bytes2 = _bytes(fields, "2")
        if "counts" in fields:
            size = _size(fields["type2" if name in ("Gatherv", "Allgatherv") else "type"])
            record.counts = [int(count) * size for count in fields["counts"].split(",")]
        if name == "Alltoallv":
            record.counts2 = [int(count) * _size(fields["type2"]) for count in fields["counts2"].split(",")]
            record.bytes, record.bytes2 = sum(record.counts), sum(record.counts2)
        if name in ("Gatherv", "Scatterv") and record.root != self._rank:
            record.counts = []
        if "req" in fields:
            record.request = self._ids.new(int(fields["req"]))
        return record


def _fields(scheme: list[str], words: list[str]) -> Fields:
    found: Fields = {}
    rest = iter(words)
    for name in scheme:
        if name in LISTS:
            next(rest, "")
        found[name] = next(rest, "")
    if any(not value for value in found.values()):
        raise ValueError("arguments are missing")
    return found


def _ns(text: str) -> int:
    return round(float(text) * US)


def _size(kind: str) -> int:
    """Bytes of a type: the second part of "11,8,8"."""
    return int(kind.split(",")[1])


def _bytes(fields: Fields, which: str = "") -> int:
    return int(fields[f"n{which}"]) * _size(fields[f"type{which}"])


def _peer(text: str, mpich: bool) -> int:
    """A rank, ANY or PROC_NULL."""
    value = int(text)
    if value >= 0:
        return value
    return ANY if (value == -2) == mpich else PROC_NULL
