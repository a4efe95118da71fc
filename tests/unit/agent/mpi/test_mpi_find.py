"""MPIs found by what their launchers and compilers say, in folders made for that."""

import sys

import pytest

from tests.unit.cluster.mpi import outputs
from wulf.agent.mpi import find
from wulf.agent.mpi.find import identify, library_folders


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        (outputs.OPENMPI_4_DEBIAN, ("openmpi", "4.1.4", "")),
        (outputs.OPENMPI_4, ("openmpi", "4.1.5", "")),
        (outputs.OPENMPI_5, ("openmpi", "5.0.11", "")),
        (outputs.MPICH_4, ("mpich", "4.0.2", "ch4:ucx")),
        (outputs.MPICH_5_WHEEL, ("mpich", "5.0.2", "ch4:ucx,ofi")),
        (outputs.INTEL, ("intel", "2021.10", "")),
        (outputs.OTHER, ("other", "2.28", "")),
        ("", ("other", "", "")),
    ],
)
def test_kind_version_and_device(text, identity):
    assert identify(text) == identity


@pytest.mark.parametrize(
    ("show", "folders"),
    [
        (outputs.SHOW_OPENMPI_4, ["/usr/lib/x86_64-linux-gnu/openmpi/lib"]),
        (outputs.SHOW_OPENMPI_5, ["/opt/om/lib"]),
        (outputs.SHOW_MPICH_4, ["/usr/lib/x86_64-linux-gnu"]),
        (outputs.SHOW_INTEL, ["/opt/intel/oneapi/mpi/2021.10.0/lib/release", "/opt/intel/oneapi/mpi/2021.10.0/lib"]),
    ],
)
def test_where_a_wrapper_links_from(show, folders):
    assert library_folders(show) == folders


def command(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'.'\n{text}\n.\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without any MPI but what the test puts into tmp_path."""
    for name in find.NAMED_BY:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(find, "SYSTEM", ())
    monkeypatch.setattr(find, "OPTIONAL", ())
    monkeypatch.setattr(find, "wheel_folders", list)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "no python"))
    monkeypatch.setattr(find.os, "get_exec_path", lambda: [str(tmp_path / "usr/bin")])
    return tmp_path


def test_none(bare):
    assert find.find([]) == []


def test_debians_pair_with_their_own_compilers(bare):
    usr = bare / "usr/bin"
    command(usr, "mpirun.openmpi", outputs.OPENMPI_4_DEBIAN)
    command(usr, "mpicxx.openmpi", "g++ 12")
    command(usr, "mpirun.mpich", outputs.MPICH_4)
    (usr / "mpirun").symlink_to("mpirun.mpich")  # the alternatives: launchers' and compilers' need not agree
    (usr / "mpicxx").symlink_to("mpicxx.openmpi")
    found = find.find([])
    assert [(row["kind"], row["mpicxx"]) for row in found] == [
        ("mpich", None), ("openmpi", str(usr / "mpicxx.openmpi")),
    ]  # fmt: skip
    assert found[1]["compiler"] == "g++ 12"
    assert {row["where"] for row in found} == {"system"}


def test_what_was_given_stands_first_and_wheels_last(bare, monkeypatch):
    command(bare / "usr/bin", "mpirun", outputs.OPENMPI_4)
    command(bare / "my mpi/bin", "mpirun", outputs.MPICH_4)
    command(bare / "wheel-mpich/bin", "mpirun", outputs.MPICH_5_WHEEL)
    command(bare / "module/bin", "mpirun", outputs.INTEL)
    monkeypatch.setattr(find, "wheel_folders", lambda: [bare / "wheel-mpich"])
    monkeypatch.setenv("I_MPI_ROOT", str(bare / "module"))
    found = find.find([str(bare / "my mpi")])
    assert [(row["where"], row["kind"], row["version"]) for row in found] == [
        ("given", "mpich", "4.0.2"), ("system", "openmpi", "4.1.5"), ("module", "intel", "2021.10"),
        ("wheel", "mpich", "5.0.2"),
    ]  # fmt: skip
    assert found[0]["prefix"] == str(bare / "my mpi")


def test_a_launcher_that_fails_is_of_unknown_kind(bare):
    path = command(bare / "usr/bin", "mpirun", "")
    path.write_text("#!/bin/sh\nexit 1\n")
    assert [(row["kind"], row["version"]) for row in find.find([])] == [("other", "")]


def test_the_operation_tells_what_decides_a_launch(bare):
    command(bare / "x/bin", "mpirun", outputs.MPICH_4)
    answer = find.mpi_find([str(bare / "x")])
    assert [row["kind"] for row in answer["mpis"]] == ["mpich"]
    assert answer["cpus"] >= 1
    assert len(answer["boot_id"]) == 36
