"""The wrappers that libwulf-profile is made of: one C and two Fortran entry points a row of the table."""

import io
import zipfile
from pathlib import Path

import pytest

from wulf.codegen.profile_calls import generated, read_table
from wulf.codegen.profile_source import profile_source

TABLE = """# comment
Send   send    cb count type peer tag comm
Gather rooted  cb count type b n t root comm   # another
Wait   wait    req st
"""
NATIVE = Path(__file__).parents[3] / "native"


def test_rows_with_names_for_what_is_looked_at():
    send, gather, wait = read_table(TABLE)
    assert (send.name, send.kind) == ("Send", "send")
    assert send.variables == ["p1", "count", "type", "peer", "p5", "comm"]
    assert gather.variables == ["p1", "count", "type", "p4", "p5", "p6", "root", "comm"]
    assert wait.words == ("req", "st")


@pytest.mark.parametrize("line", ["Send send", "Send sends cb", "Send send cb what", "Send send cb\nSend send cb"])
def test_a_bad_row_is_named_by_its_line(line):
    with pytest.raises(ValueError, match=r"calls\.txt, line \d"):
        read_table(line)


def test_c_calls_the_profiling_name_with_the_same_parameters():
    made = generated(TABLE)["profile/calls_c.cpp"]
    assert (
        "int MPI_Send(const void *p1, int count, MPI_Datatype type, int peer, int p5, MPI_Comm comm)" in made
        and "span.sent(count, type, peer, comm);" in made
        and "PMPI_Send(p1, count, type, peer, p5, comm);" in made
    )
    assert "span.open();" in made.partition("MPI_Wait")[2]


def test_fortran_looks_through_references_and_calls_the_next_library():
    made = generated(TABLE)["profile/calls_fortran.cpp"]
    assert "void mpi_send_(void *p1, MPI_Fint *count, MPI_Fint *type" in made
    assert 'next("mpi_send_f08_")' in made
    assert "span.sent(*count, MPI_Type_f2c(*type), *peer, MPI_Comm_f2c(*comm));" in made
    assert "span.joined_rooted(*count, MPI_Type_f2c(*type), *root, MPI_Comm_f2c(*comm));" in made


def test_rows_are_numbered_as_the_wrappers_count_them():
    made = generated(TABLE)
    assert made["profile/rows.cpp"].index("MPI_Send") < made["profile/rows.cpp"].index("MPI_Gather")
    assert "row_count = 3;" in made["profile/rows.cpp"]
    assert "Span span(2);" in made["profile/calls_c.cpp"].partition("MPI_Wait")[2]


def test_the_projects_table_is_whole():
    names = {call.name for call in read_table((NATIVE / "profile/calls.txt").read_text())}
    assert {"Send", "Isend", "Recv", "Irecv", "Wait", "Waitall", "Sendrecv", "Barrier", "Bcast", "Reduce", "Allreduce",
            "Gather", "Allgather", "Scatter", "Alltoall", "Alltoallv", "Put", "Get", "Win_fence"} <= names  # fmt: skip


def test_the_source_has_what_the_compiler_needs():
    with zipfile.ZipFile(io.BytesIO(profile_source()[0])) as archive:
        names = set(archive.namelist())
    assert {"profile/calls_c.cpp", "profile/calls_fortran.cpp", "profile/rows.cpp", "interpose/life.cpp"} <= names
