"""A rank's file, written and read back; torn and damaged ones keep their whole chunks."""

from __future__ import annotations

import random
import re
import tracemalloc
import zlib
from pathlib import Path

import pytest

from tests.unit.trace.making import made, pingpong, plain, recv, sealed, send, some_record
from wulf.trace.calls import BY_NAME
from wulf.trace.errors import TraceError
from wulf.trace.reader import HEAD, RankFile, open_trace, timed
from wulf.trace.record import ANY, MOST_OUTSIDE, MOST_RANKS, OUTSIDE, Record
from wulf.trace.runs import Runs
from wulf.trace.wire import put_varint, varint
from wulf.trace.writer import MOST, encoded, name_of

NOTED = {"thread", "site", "site_name"}


def test_every_operation_comes_back_as_it_was(tmp_path: Path) -> None:
    draw = random.Random(1)
    records = [some_record(name, draw) for _ in range(20) for name in BY_NAME if name not in NOTED]
    trace = made(tmp_path, [records])
    again = list(trace.ranks[0].records())
    assert plain(again) == plain(records)
    assert trace.ranks[0].fault is None
    assert trace.ranks[0].totals is not None and trace.ranks[0].totals.records == len(records)


def test_numbers_and_a_send_are_these_very_bytes() -> None:
    out = bytearray()
    for value in (0, 127, 128, 300, 2**64 - 1):
        put_varint(out, value)
    assert out.hex() == "00" + "7f" + "8001" + "ac02" + "ff" * 9 + "01"
    at, found = 0, []
    while at < len(out):
        value, at = varint(bytes(out), at)
        found.append(value)
    assert found == [0, 127, 128, 300, 2**64 - 1]
    # op 10, gap 300, call 5, peer 1 + 3, tag 7 + 1, comm 0, 1024 bytes
    assert encoded(send(1, 1024, 7, 300, 5)).hex() == "0a" + "ac02" + "05" + "04" + "08" + "00" + "8008"
    # op 22, from anybody: the actual source 2 + 3 and tag 7 + 1 follow
    assert encoded(recv(ANY, 8, 7, actual=(2, 7))).hex() == "16" + "0000" + "02" + "08" + "00" + "08" + "0508"
    # 5 5 5 6 as two runs
    record = Record("Reduce_scatter", counts=[5, 5, 5, 6])
    assert encoded(record).hex() == "39" + "0000" + "00" + "04" + "0b03" + "0c"


def test_what_an_exchange_gets_is_a_byte_where_it_is_what_it_gives() -> None:
    head = "41" + "0000" + "00" + "0a" + "0a" + "02" + "0b02"  # times, comm, 10 B, 10 B, two counts of 5
    for got, more in ([5, 5], "00"), ([], "01"), ([4, 6], "03" + "08" + "0c"):
        assert encoded(Record("Alltoallv", bytes=10, bytes2=10, counts=[5, 5], counts2=got)).hex() == head + more


def test_files_of_version_1_do_not_tell_what_an_exchange_gets(tmp_path: Path) -> None:
    exchange, after = Record("Alltoallv", bytes=10, bytes2=10, counts=[5, 5], counts2=[5, 5]), send(1, 8)
    path = made(tmp_path, [[exchange, after]]).ranks[0].path
    data = bytearray(path.read_bytes())
    data[8:10] = (1).to_bytes(2, "little")
    path.write_bytes(sealed(bytes(data), encoded(exchange)[:-1] + encoded(after), 2))
    one = RankFile(path)
    assert plain(list(one.records())) == plain([Record("Alltoallv", bytes=10, bytes2=10, counts=[5, 5]), after])
    assert one.fault is None


def test_lists_take_what_their_runs_take_in_the_file(tmp_path: Path) -> None:
    """A file of 1.5 MB whose calls each claimed a count for four million ranks took minutes to read."""
    path = made(tmp_path, [[Record("Reduce_scatter", counts=[8, 8])]], {0: {"size": MOST_RANKS}}).ranks[0].path
    one = bytearray([0x39, 0, 0, 0])  # times, comm
    for number in (MOST_RANKS, 8 << 1 | 1, MOST_RANKS):
        put_varint(one, number)
    path.write_bytes(sealed(path.read_bytes(), bytes(one) * 1000, 1000))
    tracemalloc.start()
    try:
        records = list(RankFile(path).records())
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert [len(one.counts) for one in records] == [MOST_RANKS] * 1000


@pytest.mark.parametrize(
    "claim",
    [
        Record("Reduce_scatter", counts=Runs([(8, MOST_OUTSIDE + 3, 0)])),
        Record("Comm_split", newcomm=2, members=Runs([(0, MOST_OUTSIDE + 3, 1)])),
        Record("Comm_spawn", newcomm=2, members=[0, 1], members2=Runs([(OUTSIDE, MOST_OUTSIDE + 3, 0)])),
    ],
)
def test_a_record_that_names_more_processes_than_there_are_ends_the_file_there(tmp_path: Path, claim: Record) -> None:
    one = made(tmp_path, [[send(1, 8), claim, send(1, 8)], []]).ranks[0]
    assert len(list(one.records())) == 1
    assert one.fault is not None
    assert "record 1 of the chunk names more processes than there are" in one.fault.what


@pytest.mark.parametrize("bad", [Record("Send", bytes=4, tag=1), Record("Send", peer=-9, tag=1)])
def test_what_a_field_can_not_hold_is_refused(bad: Record) -> None:
    with pytest.raises(ValueError, match=r"Send needs peer|below what its field"):
        encoded(bad)


@pytest.mark.full
def test_a_long_trace_has_several_chunks_and_its_threads(tmp_path: Path) -> None:
    records = [Record("Send", 10**12, thread=at % 2, peer=1, tag=0, bytes=2**40) for at in range(100_000)]
    trace = made(tmp_path, [records])
    one = trace.ranks[0]
    assert one.path.stat().st_size > MOST
    chunks = list(one._chunks())
    assert len(chunks) >= 2 and all(len(payload) <= MOST for *_, payload in chunks)
    assert sum(count for _, _, count, _ in chunks) == one.totals.records  # type: ignore[union-attr]
    assert [record.thread for record in one.records()] == [at % 2 for at in range(100_000)]
    ends = {record.thread: end for record, _, end in timed(one.records())}
    assert ends == {0: 50_000 * 10**12, 1: 50_000 * 10**12}


def three_chunks(tmp_path: Path) -> tuple[RankFile, list[int]]:
    """A file of three chunks and the last one, and where each begins."""
    records = [Record("Alltoallv", at, counts=range(1000, 2000)) for at in range(1400)]
    one = made(tmp_path, [records]).ranks[0]
    offsets = [offset for _, offset, _, _ in one._chunks()]
    assert len(offsets) == 3
    return one, offsets


@pytest.mark.parametrize(
    ("cut", "chunk", "why"),
    [
        (lambda offsets, _: offsets[1] + 5, 1, "within a chunk's head"),
        (lambda offsets, _: offsets[2] + 100, 2, "bytes early"),
        (lambda _, size: size - 12 * 8 - HEAD.size, 3, "without its last chunk"),
    ],
)
def test_a_torn_file_keeps_its_whole_chunks_and_says_where(tmp_path: Path, cut, chunk, why) -> None:  # type: ignore[no-untyped-def]
    one, offsets = three_chunks(tmp_path)
    counts = [count for _, _, count, _ in one._chunks()]
    data = one.path.read_bytes()
    at = cut(offsets, len(data))
    one.path.write_bytes(data[:at])
    assert len(list(one.records())) == sum(counts[:chunk])
    assert one.fault is not None and one.totals is None
    begin = [*offsets, at][chunk]
    assert (one.fault.rank, one.fault.chunk, one.fault.offset) == (0, chunk, begin)
    assert why in one.fault.what and f"rank 0: {name_of(0)} is torn at byte {begin}, chunk {chunk}" in one.fault.what


def test_a_damaged_chunk_is_named_and_those_before_it_are_kept(tmp_path: Path) -> None:
    one, offsets = three_chunks(tmp_path)
    data = bytearray(one.path.read_bytes())
    data[offsets[1] + 1000] ^= 1
    one.path.write_bytes(data)
    first = next(count for _, _, count, _ in one._chunks())
    assert len(list(one.records())) == first
    assert one.fault is not None and "checksum" in one.fault.what and one.fault.chunk == 1


def test_an_operation_that_is_not_known_ends_the_file_there(tmp_path: Path) -> None:
    one = made(tmp_path, [[send(0, 1)]]).ranks[0]
    data = bytearray(one.path.read_bytes())
    ((_, offset, count, payload),) = one._chunks()
    changed = b"\xfa" + payload[1:]
    at = offset + HEAD.size
    data[at : at + len(payload)] = changed
    data[offset:at] = HEAD.pack(b"CHNK", len(payload), count, zlib.crc32(changed))
    one.path.write_bytes(data)
    assert list(one.records()) == []
    assert one.fault is not None and "record 0" in one.fault.what and "250" in one.fault.what


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda data: b"nonsense" + data[8:], "no trace of a rank"),
        (lambda data: data[:8] + b"\x09\x00" + data[10:], "version 9 of the format; .* versions 1 to 2"),
        (lambda data: data[:20], "header is torn"),
        (lambda _: b"", "no trace of a rank"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, change, why) -> None:  # type: ignore[no-untyped-def]
    path = made(tmp_path, pingpong()).ranks[0].path
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(TraceError, match=why):
        RankFile(path)
    trace = open_trace(tmp_path)  # the other rank is there
    assert trace.missing == (0,) and re.search(why, trace.unread[0].what)


def test_missing_ranks_are_named(tmp_path: Path) -> None:
    made(tmp_path, [*pingpong(), [], []])
    (tmp_path / name_of(1)).unlink()
    (tmp_path / name_of(3)).unlink()
    assert open_trace(tmp_path).missing == (1, 3)
    with pytest.raises(TraceError, match="holds no trace"):
        open_trace(tmp_path / "nothing")


@pytest.mark.parametrize(
    "header",
    [
        {"size": 4_000_000_000}, {"size": 0}, {"size": "2"}, {"rank": 1 << 40}, {"rank": -1}, {"host": ["n1"]},
        {"begin_realtime_ns": "now"}, {"mpi": None}, {"command": {}},
    ],
    ids=str,
)  # fmt: skip
def test_a_header_that_says_what_none_does_is_refused_at_once(tmp_path: Path, header: dict[str, object]) -> None:
    with pytest.raises(TraceError, match=f"its header's {next(iter(header))}: "):
        made(tmp_path, [[send(1, 8)]], {0: header})


@pytest.mark.parametrize(
    "damaged",
    [
        "39" + "0000" + "00" + "8080808020" + "0b" + "8080808020",  # 2^33 counts, all the same
        "71" + "0000" + "00" + "03" + "01" + "03" + "8080808020" + "02" + "00",  # a group of 2^33
    ],
)
def test_a_list_of_more_than_any_machine_takes_no_memory(tmp_path: Path, damaged: str) -> None:
    path = made(tmp_path, [[send(1, 8)]]).ranks[0].path
    content, payload = path.read_bytes(), bytes.fromhex(damaged)
    start = content.index(HEAD.pack(*HEAD.unpack_from(content, content.index(encoded(send(1, 8))) - HEAD.size)))
    mark = content[start : start + 4]
    path.write_bytes(content[:start] + HEAD.pack(mark, len(payload), 1, zlib.crc32(payload)) + payload)
    rank = RankFile(path)
    assert list(rank.records()) == []
    assert rank.fault is not None
