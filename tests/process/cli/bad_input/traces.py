"""A rank's file of a trace, changed in its records; its checksums stay right, so that whoever reads it gets to them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.unit.trace.making import made, pingpong, recv, sealed, send, wait
from wulf.trace.reader import CHUNK, HEAD
from wulf.trace.record import ANY, MOST_RANKS, Completion, Record
from wulf.trace.runs import Runs
from wulf.trace.wire import put_varint
from wulf.trace.writer import encoded, name_of

MUTATIONS = 60
"""Of a file."""

NUMBERS = (0, 1, 127, 128, 65_538, MOST_RANKS, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1)
"""What stands in the place of others."""

REPEATED = 20_000
"""Records that claim something, one after the other: some hundred kilobytes."""

_ALL = Runs([(0, MOST_RANKS, 1)])
_EACH = Runs([(8, MOST_RANKS, 0)])

CLAIMS: Mapping[str, Record] = {
    "counts": Record("Alltoallv", bytes=8, bytes2=8, counts=_EACH, counts2=_EACH),
    "members": Record("Comm_split", newcomm=2, members=_ALL),
    "a communicator that is found": Record("found_comm", newcomm=3, members=_ALL),
    "spawned": Record("Comm_spawn", newcomm=2, members=[0, 1], members2=Runs([(-3, MOST_RANKS, 0)])),
    "neighbours": Record("neighbours", comm=0, members=_ALL, members2=_ALL),
    "tests": Record("tests", count=2**63, between=2**62),
    "bytes": Record("Send", peer=1, tag=0, bytes=2**63),
    "times": Record("Barrier", 2**62, 2**62),
    "completed": Record("Waitall", given=2**40, completions=[Completion(2**27)]),
    "from anywhere": Record("Recv", peer=ANY, tag=ANY, bytes=8, actual=(2**31 - 1, 2**31 - 2)),
    "threads": Record("thread", thread=2**31 - 1),
    "names of sites": Record("site_name", site=2**31 - 1, text="x" * 20),
}
"""What a few bytes can say that is of no run, or more than anything that reads it should keep."""


def make_sound(folder: Path) -> Path:
    """A trace of two ranks that do most of what ranks do."""
    ranks = [[*_about(rank), *records] for rank, records in enumerate(pingpong())]
    made(folder, ranks)
    return folder / name_of(0)


def _about(rank: int) -> list[Record]:
    other = 1 - rank
    return [
        Record("site_name", site=1, text="program+0x12ab"), Record("site", site=1),
        Record("Comm_split", 1000, 400, newcomm=2, members=[0, 1]),
        Record("Isend", 100, 50, peer=other, tag=3, bytes=4096, request=0),
        Record("Irecv", 100, 50, peer=ANY, tag=3, bytes=4096, request=1),
        Record("tests", 10, 5, count=7, between=60),
        Record("Waitall", 10, 900, given=2, completions=[Completion(0), Completion(1, other, 3)]),
        Record("Alltoallv", 100, 300, comm=2, bytes=12, bytes2=12, counts=[4, 8], counts2=[4 + 4 * rank] * 2),
        Record("Allreduce", 100, 200, bytes=8),
        *([send(1, 64, 9, 100, 50), recv(1, 64, 9, 0, 100)] if rank == 0 else [recv(0, 64, 9), send(0, 64, 9, 100)]),
        wait(gap=5), Record("pcontrol", number=3),
    ]  # fmt: skip


def changed_rank(sound: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """What was changed, and the file: claims, and its records with bytes and numbers changed."""
    at = sound.index(CHUNK)
    _, length, records, _ = HEAD.unpack_from(sound, at)
    payload = sound[at + HEAD.size : at + HEAD.size + length]
    for name, record in CLAIMS.items():
        claim = encoded(record)
        yield f"{name}, before the records", sealed(sound, claim + payload, records + 1)
        yield f"{name}, {REPEATED} times", sealed(sound, claim * REPEATED + payload, records + REPEATED)
    for _ in range(MUTATIONS):
        name, other = _mutated(payload, chance)
        yield name, sealed(sound, other, records)
    for count in (0, records - 1, records + 1, 2**32 - 1):
        yield f"{count} records are announced", sealed(sound, payload, count)


def _mutated(payload: bytes, chance: random.Random) -> tuple[str, bytes]:
    at = chance.randrange(len(payload))
    kind = chance.choice(("number", "number", "bytes", "gone", "twice"))
    if kind == "number":
        number = bytearray()
        put_varint(number, value := chance.choice(NUMBERS))
        return f"byte {at} of the records is {value}", payload[:at] + number + payload[at + 1 :]
    if kind == "bytes":
        bytes_ = chance.randbytes(chance.randint(1, 4))
        return f"random bytes at byte {at} of the records", payload[:at] + bytes_ + payload[at + len(bytes_) :]
    many = chance.randint(1, 12)
    if kind == "gone":
        return f"{many} bytes at byte {at} of the records are gone", payload[:at] + payload[at + many :]
    return f"{many} bytes at byte {at} of the records are there twice", payload[: at + many] + payload[at:]
