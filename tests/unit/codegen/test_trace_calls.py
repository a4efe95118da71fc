"""The wrappers and tables of libwulf-trace that are made from native/trace/calls.txt."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

from wulf.codegen.trace_calls import for_python, generated, operations, read_table
from wulf.codegen.trace_source import trace_source
from wulf.trace import ops as trace_ops

ROOT = Path(__file__).resolve().parents[3]
TABLE = (ROOT / "native/trace/calls.txt").read_text(encoding="utf-8")

SMALL = """
4   tests                   note_tests
14  Isend                   isend       sb sn st peer tag comm req
43  Waitsome                waitsome    m rqs outcount indices stats
80  Ibarrier                ibarrier    comm req
126 Comm_spawn              newcomm_c   str argv n info n comm out errs
"""


BAD = (
    "0 Send send sb sn st peer tag comm", "x Send send comm", "14 Send isend comm", "9 Isend isend comm",
    "9 Send dance comm", "9 Send send comma", "9 Send",
)  # fmt: skip


@pytest.mark.parametrize("line", BAD)
def test_what_is_no_row_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"calls.txt, line 2: "):
        read_table(f"14 Isend isend sb sn st peer tag comm req\n{line}\n")


def test_c_is_recorded_after_the_call() -> None:
    made = generated(SMALL)["trace/calls_c.cpp"]
    isend = made.partition("MPI_Isend(")[2].partition("\n}")[0]
    assert "const void *sb, int sn, MPI_Datatype st, int peer, int tag, MPI_Comm comm, MPI_Request *req" in isend
    assert isend.index("PMPI_Isend(sb, sn, st, peer, tag, comm, req)") < isend.index(
        "wulf::trace::isend(span, sn, st, peer, tag, comm, *req)"
    )
    assert "wulf::trace::barrier(span, comm, *req)" in made
    assert "tests" not in made


def test_requests_are_kept_before_the_call_takes_them() -> None:
    waitsome = generated(SMALL)["trace/calls_c.cpp"].partition("MPI_Waitsome(")[2]
    assert waitsome.index("span.keep(m, rqs);") < waitsome.index("PMPI_Waitsome(")
    assert "stats = span.statuses(m, stats);" in waitsome
    assert "wulf::trace::Indices{indices, 0}" in waitsome


def test_fortran_looks_through_references_and_leaves_texts_out() -> None:
    made = generated(SMALL)["trace/calls_fortran.cpp"]
    assert "MPI_Type_f2c(*st), *peer, *tag, MPI_Comm_f2c(*comm), MPI_Request_f2c(*req)" in made
    assert "wulf::trace::Indices{indices, 1}" in made and "span.keep_f(*m, rqs);" in made
    assert 'next("mpi_waitsome_f08_")' in made
    assert "spawn" not in made  # its text's length is behind all parameters


def test_the_committed_tables_are_those_that_are_made() -> None:
    why = "run tools/trace_ops.py"
    assert (ROOT / "native/trace/format/ops.hpp").read_text(encoding="utf-8") == operations(TABLE), why
    assert Path(trace_ops.__file__).read_text(encoding="utf-8") == for_python(TABLE), why


def test_the_page_of_the_format_explains_every_field() -> None:
    page = (ROOT / "docs/reference/trace-format.md").read_text(encoding="utf-8")
    explained = {word for row in re.findall(r"^\| ([a-z0-9, ]+) \|", page, re.MULTILINE) for word in row.split(", ")}
    assert {field for _, fields in trace_ops.OPERATIONS.values() for field in fields} <= explained


def test_every_shapes_first_field_is_its_times_but_of_notes() -> None:
    for name, fields in trace_ops.OPERATIONS.values():
        assert not name.startswith("MPI_") or fields[0] == "times", name


def test_the_source_has_what_the_compiler_needs_and_no_decoder() -> None:
    with zipfile.ZipFile(io.BytesIO(trace_source()[0])) as archive:
        names = set(archive.namelist())
    assert {"trace/calls_c.cpp", "trace/calls_fortran.cpp", "interpose/life.cpp", "trace/format/crc.cpp"} <= names
    assert "trace/format/decode.cpp" not in names
