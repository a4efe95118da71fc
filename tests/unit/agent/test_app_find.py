"""Where programs are found: trees made for the test."""

from __future__ import annotations

import sys

import pytest

from wulf.agent import app_find as finding
from wulf.agent.app_find import app_find
from wulf.agent.session import Refused

TCL = """#%Module1.0
set version 2.3
set root /R/hpl/$version
prepend-path PATH $root/bin
prepend-path MANPATH $root/man
append-path PATH ${unknown}/bin
"""

LUA = """
local base = "/R/lammps"
prepend_path("PATH", "/R/lammps/bin")
prepend_path("LD_LIBRARY_PATH", "/R/lammps/lib")
"""


@pytest.fixture
def node(tmp_path, monkeypatch):
    """No folder but those of the test."""
    monkeypatch.setattr(finding, "PACKAGED", ())
    monkeypatch.setattr(finding, "SPACK_ROOTS", (str(tmp_path / "spack"),))
    monkeypatch.setattr(finding, "MODULE_PATHS", (str(tmp_path / "modulefiles"),))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("MODULEPATH", raising=False)
    monkeypatch.delenv("SPACK_ROOT", raising=False)
    return tmp_path


def program(path, mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def places(name):
    return [(row["where"], row["path"]) for row in app_find([name])["programs"][name]]


def test_the_path_comes_first_then_modules_then_spack(node):
    for text, name in ((TCL, "hpl/2.3"), (LUA, "lammps.lua")):
        path = node / "modulefiles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("/R", str(node)))
    own, modules = program(node / "bin/xhpl"), program(node / "hpl/2.3/bin/xhpl")
    lua = program(node / "lammps/bin/xhpl")
    spack = program(node / "spack/opt/spack/linux-debian12-zen2/gcc-12.2.0/hpl-2.3-abc/bin/xhpl")
    assert places("xhpl") == [("PATH", str(own)), ("module", str(lua)), ("module", str(modules)), ("Spack", str(spack))]


def test_a_link_is_no_second_program_and_what_can_not_run_is_none(node):
    program(node / "spack/opt/spack/linux/hpl-2.3-abc/bin/xhpl")
    (node / "bin").mkdir()
    (node / "bin/xhpl").symlink_to(node / "spack/opt/spack/linux/hpl-2.3-abc/bin/xhpl")
    program(node / "bin/readme", 0o644)
    assert places("xhpl") == [("PATH", str(node / "bin/xhpl"))]
    assert places("readme") == []


def test_what_was_looked_into_is_told(node):
    (node / "bin").mkdir()
    assert app_find(["xhpl"]) == {"programs": {"xhpl": []}, "looked": {"PATH": 1}}


def test_an_interpreter_that_has_a_module(node):
    (node / "bin").mkdir()
    (node / "bin/python3").symlink_to(sys.executable)
    assert places("python3:json") == [("PATH", str(node / "bin/python3"))]
    assert places("python3:no_such_module_of_anybody") == []


@pytest.mark.parametrize(
    ("libraries", "mpi", "blas"),
    [
        ("libmpi.so.40 => /usr/lib/libmpi.so.40 (0x0)", "openmpi", None),
        ("libmpich.so.12 => /usr/lib/libmpich.so.12 (0x0)", "mpich", None),
        ("libmpi.so.12 => /opt/intel/libmpi.so.12 (0x0)\n\tlibblas.so.3 => /R/libblas.so.3 (0x0)", "mpich", "real"),
        ("libopenblas.so.0 => /R/libopenblas.so.0 (0x0)", None, "libopenblas.so.0"),
        ("libm.so.6 => /lib/libm.so.6", None, None),
        ("\tnot a dynamic executable", None, None),
    ],
)
def test_what_a_program_is_linked_with(tmp_path, libraries, mpi, blas):
    (tmp_path / "real").touch()
    (tmp_path / "libblas.so.3").symlink_to("real")
    said = finding.linked(libraries.replace("/R", str(tmp_path)))
    assert said == {"mpi": mpi, "blas": blas and str(tmp_path / blas)}


def test_a_path_is_that_very_file(node):
    own = program(node / "elsewhere/xhpl")
    assert places(str(own)) == [("given", str(own))]
    assert places(f"{own}-not") == []


@pytest.mark.parametrize("names", ["xhpl", ["./xhpl"], [""]])
def test_what_is_no_name_is_refused(names):
    with pytest.raises(Refused):
        app_find(names)
