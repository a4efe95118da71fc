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
