"""Whatever lies in a file, an import either reads it, or refuses it by the file's name: no other exception, no hang."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.trace import test_imports_chakra as chakra
from tests.unit.trace import test_imports_paraver as paraver
from tests.unit.trace.test_imports import ALLPROF, GOAL, OTF2, TWO, binary
from tests.unit.trace.test_imports_dumpi import block, dumpi_text, grouped
from wulf.core.errors import UsageError
from wulf.trace.errors import TraceError
from wulf.trace.imports import EXPANDED, NAMES, Imported, import_named
from wulf.trace.manifest import RANKS
from wulf.trace.reader import open_trace

SIMGRID = (
    "0 init 1\n0 compute 1e6\n0 isend 1 7 5 0\n0 wait 0 1 7\n0 allreduce 5 1e3\n0 alltoallv 6 3 3 6 3 3\n0 finalize\n",
    "1 init 1\n1 irecv 0 7 5\n1 test 0 1 7\n1 wait 0 1 7\n1 allreduce 5 1e3\n1 alltoallv 6 3 3 6 3 3\n1 finalize\n",
)
LISTED = {"list": b"0.txt\n1.txt\n", "0.txt": SIMGRID[0].encode(), "1.txt": SIMGRID[1].encode()}

PARAVER = "".join(
    [
        paraver.HEAD, paraver.WORLD,
        paraver.call(1, 50, 100, 31, kind=paraver.OTHER), paraver.call(1, 110, 120, 1),
        paraver.message(1, 110, 2, 130, 160, 64, 5), paraver.call(2, 130, 160, 2),
        paraver.call(3, 80, 90, 4), paraver.message(1, 120, 3, 90, 200, 8, 6), paraver.call(1, 120, 120, 1),
        paraver.call(3, 150, 200, 5), *(paraver.collective(task, 300, 13, 8, 24, root=task == 2) for task in (1, 2, 3)),
        paraver.ends(1, 2, 3),
    ]
)  # fmt: skip
CHAKRA = (
    chakra.stream(
        chakra.node(1, chakra.COMPUTE, micros=3, is_cpu_op=True, tid=5),
        chakra.node(2, chakra.SEND, needs=[1], comm_src=0, comm_dst=1, comm_size=64, comm_tag=9),
        chakra.collective("ALL_REDUCE", 4096, 3, pg_name="0"),
    ),
    chakra.stream(
        chakra.node(1, chakra.RECEIVE, comm_src=0, comm_size=64, comm_tag=9),
        chakra.node(2, chakra.COMPUTE, after=[1], micros=1, stream=20),
        chakra.collective("ALL_REDUCE", 4096, 3, pg_name="0"),
    ),
)

VALID: Sequence[tuple[str, Mapping[str, bytes]]] = (
    ("goal", {"x.goal": GOAL.encode()}),
    ("goal", {"x.bin": binary(TWO, {0: [(0, 2)], 1: [(0, 1)]})}),
    ("allprof", {f"pmpi-trace-rank-{rank}.txt": text.encode() for rank, text in enumerate(ALLPROF)}),
    ("dumpi", {"d-0000.txt": dumpi_text().encode(),
               "d-0001.txt": (block("MPI_Init", 1, 2) + block("MPI_Finalize", 3, 4)).encode()}),
    ("dumpi", {f"d-{rank:04d}.txt": text.encode() for rank, text in enumerate(grouped())}),
    ("otf2", {"trace.txt": OTF2.encode()}),
    ("simgrid", LISTED),
    ("simgrid", {"all.txt": "".join(SIMGRID).encode()}),
    ("paraver", {"app.prv": PARAVER.encode()}),
    ("chakra", {f"app.{rank}.et": data for rank, data in enumerate(CHAKRA)}),
)  # fmt: skip
"""Format → files that it reads. Where there is a list of files, that is what the import is given."""

MANY = b"9" * 5000
"""More digits than Python makes a number of."""

NASTY = (
    b"-1", b"-2", b"-666", b"0", b"1", b"7", b"99999", b"%d" % 2**31, b"%d" % 2**32, b"%d" % 2**63, b"%d" % 2**64,
    b"%d" % 10**30, MANY, b"1e400", b"-1e9", b"nan", "²".encode(), "٣".encode(), b"\0", b"\xff\xfe", b"", b"{", b"}",
    b"x" * 300, b"#", b"/*", b" ", b"\n", b":", b",", b"[]", b"rank 0 {", b"\n0 wait 0 0 0\n",
)  # fmt: skip

Mutation = Callable[[bytes, int, bytes], bytes]
"""Of the data, at a place of it, perhaps with something else."""


def _at(pattern: bytes) -> Mutation:
    """Something in the place of one of what a pattern fits."""

    def mutated(data: bytes, at: int, nasty: bytes) -> bytes:
        found = list(re.finditer(pattern, data))
        if not found:
            return data
        one = found[at % len(found)]
        return data[: one.start()] + nasty + data[one.end() :]

    return mutated


def _lines(change: Callable[[list[bytes], int], None]) -> Mutation:
    def mutated(data: bytes, at: int, _: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        if lines:
            change(lines, at % len(lines))
        return b"".join(lines)

    return mutated


def _put(data: bytes, at: int, nasty: bytes) -> bytes:
    at %= len(data) + 1
    return data[:at] + nasty + data[at:]


def _cut(data: bytes, at: int, _: bytes) -> bytes:
    return data[: at % (len(data) + 1)]


MUTATIONS: tuple[Mutation, ...] = (
    _at(rb"-?\d+"), _at(rb"-?\d+"), _at(rb"\S+"), _at(rb"(?s)."), _put, _cut,
    _lines(lambda lines, at: lines.insert(at, lines[at])), _lines(lambda lines, at: lines.append(lines.pop(at))),
    _lines(lambda lines, at: lines.__delitem__(at)),
)  # fmt: skip
"""Numbers, words and bytes for something else, something between, the end gone, lines twice, at the end, gone."""

CHANGES = st.lists(
    st.tuples(st.sampled_from(MUTATIONS), st.integers(0, 2**16), st.sampled_from(NASTY)), min_size=1, max_size=3
)


@pytest.mark.parametrize(("name", "file"), {name: next(iter(files)) for name, files in VALID}.items())
def test_nobody_waits_for_a_pipe(tmp_path: Path, name: str, file: str) -> None:
    os.mkfifo(tmp_path / file)
    (tmp_path / "trace").mkdir()
    with pytest.raises(TraceError, match="no regular file"):
        _bring(name, [tmp_path / file], tmp_path / "trace")


def _bring(name: str, paths: Sequence[Path], folder: Path) -> Imported:
    return import_named(name).bring(paths, folder, **({"expand": chakra.around} if name in EXPANDED else {}))


def _given(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    return [folder / file for file in (["list"] if "list" in files else files)]


def refused_or_read(name: str, files: Mapping[str, bytes], folder: Path) -> bool:
    """Whether a format's import takes these files; what it wrote is then read back whole."""
    for file, data in files.items():
        (folder / file).write_bytes(data)
    trace = folder / "trace"
    trace.mkdir()
    try:
        brought = _bring(name, _given(files, folder), trace)
    except (TraceError, UsageError) as error:
        assert any(str(folder / file) in error.what for file in files), error.what
        return False
    if brought.kind == RANKS:
        for rank in open_trace(trace).ranks:
            assert all(record.op for record in rank.records())
    return True


IDS = [f"{name}-{next(iter(files))}" for name, files in VALID]


def test_every_format_is_among_them(tmp_path: Path) -> None:
    assert {name for name, _ in VALID} == set(NAMES)
    for number, (name, files) in enumerate(VALID):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert refused_or_read(name, files, folder)


@pytest.mark.parametrize(("name", "files"), VALID, ids=IDS)
@settings(max_examples=100)
@given(which=st.integers(0, 9), changes=CHANGES)
def test_mutated_files_are_read_or_refused_by_name(
    name: str, files: Mapping[str, bytes], which: int, changes: list[tuple[Mutation, int, bytes]]
) -> None:
    file = list(files)[which % len(files)]
    data = files[file]
    for mutation, at, nasty in changes:
        data = mutation(data, at, nasty)
    with tempfile.TemporaryDirectory() as folder:
        refused_or_read(name, {**files, file: data}, Path(folder))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\0" * 4096, random.Random(1).randbytes(4096), b"\x7fELF\x02\x01\x01",
                                  MANY, b"<html><body>404</body></html>\n"],
                         ids=["empty", "blank", "zeros", "random", "program", "digits", "page"])  # fmt: skip
@pytest.mark.parametrize(("name", "files"), VALID, ids=IDS)
def test_garbage_is_refused_by_name(tmp_path: Path, name: str, files: Mapping[str, bytes], data: bytes) -> None:
    assert not refused_or_read(name, {**files, list(files)[-1]: data}, tmp_path)


@pytest.mark.parametrize(("name", "files"), VALID, ids=IDS)
def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path, name: str, files: Mapping[str, bytes]) -> None:
    for file in files:
        (tmp_path / file).mkdir()
    with pytest.raises(TraceError):
        _bring(name, [tmp_path / file for file in files], tmp_path)


@pytest.mark.parametrize(("name", "files"), VALID, ids=IDS)
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str, files: Mapping[str, bytes]) -> None:
    *others, absent = files
    for file in others:
        (tmp_path / file).write_bytes(files[file])
    with pytest.raises(TraceError, match=re.escape(absent)):
        _bring(name, _given(files, tmp_path), tmp_path)
