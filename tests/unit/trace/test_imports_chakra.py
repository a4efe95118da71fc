"""Chakra's execution traces: nodes become a GOAL schedule, what is not told is said, what is damaged is refused.

Collectives, which wulf-replay carries out, are one round here; its own are in tests/process/workflow/trace.
"""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wording import Wording, lacking
from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported, chakra
from wulf.trace.imports.chakra.collectives import TYPES, Expand, Round
from wulf.trace.imports.goal import read_goal
from wulf.trace.manifest import GOAL, SCHEDULE

METADATA, LOAD, COMPUTE, SEND, RECEIVE, COLLECTIVE = 1, 2, 4, 5, 6, 7

Lines = list[list[str]]
Value = int | str | bool | list[bool] | float


def varint(value: int) -> bytes:
    value %= 1 << 64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def piece(field: int, data: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name: str, value: Value) -> bytes:
    match value:
        case bool():
            told = number(27, value)
        case int():
            told = number(9, value)
        case float():
            told = varint(3 << 3 | 1) + struct.pack("<d", value)
        case str():
            told = piece(29, value.encode())
        case list():
            told = piece(28, piece(1, bytes(value)))
    return piece(10, piece(1, name.encode()) + told)


def node(
    id_: int, kind: int, *, needs: Sequence[int] = (), after: Sequence[int] = (), micros: int = 0, values: str = "",
    **attributes: Value,
) -> bytes:  # fmt: skip
    """A node as protobuf writes it: zeros left out, lists packed."""
    out = number(1, id_) if id_ else b""
    out += piece(2, f"node {id_}".encode()) + number(3, kind)
    for field, some in ((4, after), (5, needs)):
        out += piece(field, b"".join(map(varint, some))) if some else b""
    out += number(7, micros) if micros else b""
    out += piece(8, piece(1, values.encode())) if values else b""
    return out + b"".join(attribute(name, value) for name, value in attributes.items())


def stream(*nodes: bytes, metadata: bytes | None = None) -> bytes:
    first = piece(1, b"0.0.4") if metadata is None else metadata
    return b"".join(varint(len(message)) + message for message in (first, *nodes))


def around(_algorithm: str, *, ranks: int, rank: int, **call: Any) -> list[Round]:
    """A round in which each rank hands its bytes on to the next one."""
    size = call["bytes"]
    return [[("recv", (rank - 1) % ranks, size), ("send", (rank + 1) % ranks, size)]]


def brought(
    folder: Path, *ranks: Iterable[bytes] | bytes, extra: Sequence[Path] = (), expand: Expand = around
) -> tuple[Lines, Imported]:
    """The lines of each rank's part of the schedule."""
    source, out = folder / "source", folder / "out"
    source.mkdir(exist_ok=True)
    out.mkdir(exist_ok=True)
    for rank, nodes in enumerate(ranks):
        (source / f"app.{rank}.et").write_bytes(nodes if isinstance(nodes, bytes) else stream(*nodes))
    told = chakra.bring([source, *extra], out, expand=expand)
    head, *parts = (out / SCHEDULE).read_text().split("\nrank ")
    assert head == f"num_ranks {len(ranks)}\n" and told.ranks == len(ranks) and told.kind == GOAL
    assert read_goal(out / SCHEDULE).ranks == len(ranks)
    return [part.splitlines()[1:-1] for part in parts], told


def collective(kind: str, size: int, id_: int = 0, **more: Value) -> bytes:
    return node(id_, COLLECTIVE, comm_type=TYPES.index(kind), comm_size=size, **more)


def messages(lines: Iterable[str]) -> list[tuple[str, int, int]]:
    """(send or recv, bytes, peer) of a rank's lines."""
    found = [line.split() for line in lines if " send " in line or " recv " in line]
    return [(words[1], int(words[2][:-1]), int(words[4])) for words in found]


def test_a_graph_of_computing_and_messages(tmp_path: Path) -> None:
    (first, second), told = brought(
        tmp_path,
        [
            node(0, METADATA, values="no groups"),
            node(1, COMPUTE, micros=3, is_cpu_op=True, tid=5),
            node(2, COMPUTE, needs=[1], after=[0, 1], micros=7, stream=20),
            node(3, SEND, needs=[2], comm_src=0, comm_dst=1, comm_size=64, comm_tag=9),
            node(5, COMPUTE, needs=[6], micros=1, is_cpu_op=True, tid=6),
            node(6, LOAD, needs=[3], micros=2, stream=20),
        ],
        [node(4, RECEIVE, comm_src=0, comm_size=64, comm_tag=9), node(7, COMPUTE, needs=[4], micros=1)],
    )
    assert not told.notes
    assert first == [
        "n0: calc 0",
        "n1: calc 3000 cpu 1",
        "n2: calc 7000 cpu 2",
        "n2 requires n1",
        "n2 requires n0",
        "n3: send 64b to 1 tag 9 cpu 3",
        "n3 requires n2",
        "n5: calc 1000 cpu 4",
        "n6: calc 2000 cpu 2",
        "n6 irequires n3",
        "n5 requires n6",
    ]
    assert second == ["n4: recv 64b from 0 tag 9", "n7: calc 1000 cpu 1", "n7 requires n4"]


def test_a_collective_is_rounds_between_two_operations(tmp_path: Path) -> None:
    def expand(algorithm: str, **call: Any) -> list[Round]:
        asked.append((algorithm, call))
        one = {0: [[("send", 1, 7)]], 1: [[("recv", 0, 7)]]}.get(call["rank"], [])
        return [*around(algorithm, **call), *one, *around(algorithm, **call)]

    asked: list[tuple[str, dict[str, Any]]] = []
    gathered = collective("ALL_GATHER", 8, 2, needs=[1])
    nodes = [node(1, COMPUTE, micros=1), gathered, node(3, COMPUTE, needs=[2], micros=1)]
    (_, second, _), told = brought(tmp_path, nodes, nodes, nodes, expand=expand)
    assert asked[1] == ("allgather/ring", {"ranks": 3, "rank": 1, "bytes": 8, "take": (8, 8, 8)})
    tag = 1 << 24
    assert second == [
        "n1: calc 1000",
        "n2b: calc 0 cpu 1",
        f"n2r1m0: recv 8b from 0 tag {tag} cpu 1",
        "n2r1m0 requires n2b",
        f"n2r1m1: send 8b to 2 tag {tag} cpu 1",
        "n2r1m1 requires n2b",
        "n2r1: calc 0 cpu 1",
        "n2r1 requires n2r1m0",
        "n2r1 requires n2r1m1",
        f"n2r2: recv 7b from 0 tag {tag} cpu 1",
        "n2r2 requires n2r1",
        f"n2m0: recv 8b from 0 tag {tag} cpu 1",
        "n2m0 requires n2r2",
        f"n2m1: send 8b to 2 tag {tag} cpu 1",
        "n2m1 requires n2r2",
        "n2: calc 0 cpu 1",
        "n2 requires n2m0",
        "n2 requires n2m1",
        "n2b requires n1",
        "n3: calc 1000",
        "n3 requires n2",
    ]
    assert len(told.notes) == 1 and "rings" in told.notes[0]


def test_what_a_collective_is_asked_for(tmp_path: Path) -> None:
    def expand(algorithm: str, **call: Any) -> list[Round]:
        asked.append((algorithm, {name: value for name, value in call.items() if name not in ("rank", "ranks")}))
        return around(algorithm, **{"bytes": 1, **call})

    asked: list[tuple[str, dict[str, Any]]] = []
    kinds = ("ALL_REDUCE", "SCATTER", "ALL_TO_ALL", "GATHER", "BARRIER")
    brought(tmp_path, *[[collective(kind, size, at) for at, kind in enumerate(kinds)] for size in (60, 3000)],
            expand=expand)  # fmt: skip
    assert asked[5:] == [
        ("allreduce/ring", {"bytes": 3000}), ("scatter/linear-nb", {"bytes": 1500, "give": (1500, 1500)}),
        ("alltoall/linear", {"give": (1500, 1500), "take": (30, 1500)}),
        ("gather/linear", {"bytes": 3000, "take": (60, 3000)}), ("barrier/dissemination", {"bytes": 0}),
    ]  # fmt: skip
    asked.clear()
    brought(tmp_path, *[[collective("ALL_REDUCE", 2048)]] * 2, expand=expand)
    assert asked[0] == ("allreduce/recursive-doubling", {"bytes": 2048})


def test_a_collective_of_one_rank_is_no_message(tmp_path: Path) -> None:
    (only,), _ = brought(tmp_path, [collective("ALL_REDUCE", 4096), node(1, COMPUTE, needs=[0], micros=1)])
    assert only == ["n0: calc 0", "n1: calc 1000 cpu 1", "n1 requires n0"]


GROUPS = [{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [2, 0]}]


def test_process_groups_are_declared_in_nodes_or_in_a_file(tmp_path: Path, wording: Wording) -> None:
    told_by_torch = f"['{json.dumps(GROUPS)}']"
    own = [node(9, METADATA, values=told_by_torch), collective("BROADCAST", 8, pg_name="7")]
    (tmp_path / "groups.json").write_text('{"8": [1, 3], "9": [1, 44]}')
    eight = [collective("BROADCAST", 8, pg_name="8"), collective("BROADCAST", 8, 1, pg_name="9", micros=5)]
    lines, told = brought(tmp_path, own, eight, own, eight, extra=[tmp_path / "groups.json"])
    assert [messages(some) for some in lines] == [
        [("recv", 8, peer), ("send", 8, peer)] for peer in (2, 3, 0, 1)
    ]  # fmt: skip
    assert lines[1][-1] == "n1: calc 5000"
    said = "\n".join(told.notes)
    assert not lacking(said, "2 × the root of BROADCAST", "2 × COMM_COLL on a process group")
    wording(said)


def test_what_is_not_told_is_counted(tmp_path: Path, wording: Wording) -> None:
    lines, told = brought(
        tmp_path,
        [
            node(0, SEND, micros=4, comm_size=3),
            node(1, RECEIVE, comm_src=1),
            node(2, COLLECTIVE, comm_size=3),
            collective("ALL_REDUCE", 8, 3, involved_dim=[True, False]),
            collective("ALL_REDUCE", 8, 4, involved_dim=[True, True]),
            node(5, COMPUTE, after=[77]),
            node(6, METADATA, values='"pg_name": ['),
            collective("ALL_REDUCE", 8, 7),
        ],
        [collective("ALL_REDUCE", 8), collective("ALL_REDUCE", 80, 1)],
    )
    assert lines[0][:2] == ["n0: calc 4000", "n1: calc 0"] and len(messages(lines[0])) == 4
    said = "\n".join(told.notes)
    assert not lacking(
        said, "2 × COMM_SEND or COMM_RECV", "2 × COMM_COLL without type", "1 × the duration of a node",
        "1 × control dependencies", "1 × process groups", "1 × the size of ALL_REDUCE",
    )  # fmt: skip
    wording(said)


def test_unknown_fields_and_all_kinds_of_numbers_are_read(tmp_path: Path) -> None:
    known = node(1, SEND, comm_dst=1) + number(99, 5) + piece(98, b"x") + varint(97 << 3 | 5) + bytes(4)
    sizes = [varint(21 << 3 | 1) + struct.pack("<Q", 70), number(17, 140), number(7, 70), number(13, 70)]
    for at, size in enumerate(sizes):
        with_size = known + piece(10, piece(2, b"a comment") + size + piece(1, b"comm_size"))
        (first, _), _ = brought(tmp_path, [with_size], [node(0, RECEIVE, comm_src=0, comm_size=70)])
        assert messages(first) == [("send", 70, 1)], at


BARRIER = stream(collective("BARRIER", 0))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "byte 0: the file is empty"),
        (stream(), "byte 0: there is no node"),
        (b"\x1f\x8b\x08" + bytes(9), "byte 0: a message of 31 bytes"),
        (b"\xff" * 9, "byte 0: the length of a message has no end"),
        (BARRIER[:-1], r"byte 8: a message of \d+ bytes is said to be there, and \d+ are"),
        (stream(metadata=number(1, 0) + piece(2, b"a node")), "byte 1: .* older than 0.0.4"),
        (stream(metadata=piece(1, piece(1, b"schema") + number(2, 4))), "byte 1: .* older than 0.0.4"),
        (stream(metadata=piece(1, b"0.0.3")), "'0.0.3', of which 0.0.4 to 1 are known"),
        (stream(metadata=piece(1, b"2.0.0")), "'2.0.0', of which"),
        (stream(metadata=piece(2, piece(1, b"schema") + piece(29, b"1.0.1-chakra.0.0.1"))), "'0.0.1', of which"),
        (stream(metadata=number(3, 1)), "no GlobalMetadata"),
        (stream(number(1, 1) + piece(3, b"x")), "byte 13: field 3 of a node is of kind 2"),
        (stream(b"\x0b"), "byte 9: a field of kind 3"),
        (stream(b"\x12\x05ab"), "byte 9: the message ends within a field"),
        (stream(b"\x08" + b"\xff" * 11), "byte 9: the message ends within a field"),
        (stream(b"\x08" + b"\xff" * 9 + b"\x7f"), "a value that no message has"),
        (stream(b"\x00\x01"), "a field number"),
        (stream(number(1, 1) + piece(5, b"\x80")), "a list of numbers ends within one"),
        (stream(number(3, 8)), "node 0 is of type 8"),
        (stream(number(1, 1), number(1, 1)), "another node 1"),
        (stream(node(1, COMPUTE, needs=[2])), "node 1 needs node 2"),
        (stream(node(1, COMPUTE, needs=[2]), node(2, COMPUTE, after=[1])), "wait for each other: "),
        (stream(node(1, COMPUTE, micros=1 << 60)), "node 1: it takes"),
        (stream(node(1, SEND, comm_dst=3, comm_size=1)), "node 1: there is no rank 3"),
        (stream(node(1, SEND, comm_dst=0, comm_src=1, comm_size=1)), "node 1: it is rank 1's, in the file of rank 0"),
        (stream(node(1, SEND, comm_dst=0, comm_size=-1)), "its comm_size is '-1'"),
        (stream(node(1, SEND, comm_dst=0, comm_size=1.5)), "its comm_size is '1.5'"),
        (stream(node(1, SEND, comm_dst=0, comm_size=1 << 62)), "its comm_size is 4,"),
        (stream(node(1, SEND, comm_dst=0, comm_size=1)), "1 from 0 to 0 with tag 0 sent too often"),
        (stream(node(1, COLLECTIVE, comm_type=10, comm_size=1)), "its comm_type is 10"),
        (stream(number(1, 1) + piece(10, piece(1, b"comm_size") + piece(9, b"1"))), "value of comm_size is of kind 2"),
    ],
)
def test_what_is_no_trace_of_chakra_is_named_by_byte(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(FormatError, match=why) as raised:
        brought(tmp_path, data)
    assert raised.value.next_step
    assert not list((tmp_path / "out").iterdir())


def test_ranks_have_to_fit_together(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"app.1.et: byte 9: node 0: BARRIER is collective 1 of group '', .*REDUCE"):
        brought(tmp_path, [collective("ALL_REDUCE", 8)], [collective("BARRIER", 8)])
    with pytest.raises(FormatError, match="group '' has 1 collectives on rank 0, and 0 on rank 1"):
        brought(tmp_path, [collective("ALL_REDUCE", 8)], [node(0, COMPUTE)])
    with pytest.raises(FormatError, match=r"the traces of ranks \[1\] are missing"):
        (tmp_path / "source/app.1.et").rename(tmp_path / "source/app.2.et")
        chakra.bring([tmp_path / "source"], tmp_path, expand=around)
    (tmp_path / "rank.et").write_bytes(BARRIER)
    with pytest.raises(FormatError, match="its name tells no rank"):
        chakra.bring([tmp_path / "rank.et"], tmp_path, expand=around)


@pytest.mark.parametrize("text", ["", "[1]", '{"1": 2}', '{"1": ["a"]}', "[" * 100_000, '{"1": [1.5]}'])
def test_a_file_of_groups_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "groups.json").write_text(text)
    with pytest.raises(FormatError, match=r"groups.json is no file of groups") as raised:
        brought(tmp_path, [node(0, COMPUTE)], extra=[tmp_path / "groups.json"])
    assert raised.value.next_step


WHOLE = stream(
    node(9, METADATA, values=f"['{json.dumps(GROUPS)}']"),
    node(1, COMPUTE, micros=5, is_cpu_op=True),
    collective("ALL_REDUCE", 9000, 2, needs=[1]),
    node(3, SEND, needs=[2], comm_dst=0, comm_size=5, stream=3),
    node(4, RECEIVE, after=[3], comm_src=0, comm_size=5),
    collective("BROADCAST", 8, 5, needs=[4], pg_name="0", involved_dim=[True]),
)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 3), st.binary(max_size=3)), max_size=4))
def test_what_is_damaged_is_read_or_refused(changes: list[tuple[int, int, bytes]]) -> None:
    data = bytearray(WHOLE)
    for at, gone, put in changes:
        data[at : at + gone] = put
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "x.0.et").write_bytes(data)
        try:
            assert chakra.bring([folder / "x.0.et"], folder, expand=around).ranks == 1
        except FormatError as error:
            assert error.what and error.next_step
            return
        assert read_goal(folder / SCHEDULE).ranks == 1
