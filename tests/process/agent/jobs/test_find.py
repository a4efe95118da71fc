"""Where programs are found: trees made for the test."""

from __future__ import annotations

import sys

from tests.unit.agent.jobs.test_find import node as node
from wulf.agent.jobs.find import app_find

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


def test_an_interpreter_that_has_a_module(node):
    (node / "bin").mkdir()
    (node / "bin/python3").symlink_to(sys.executable)
    assert places("python3:json") == [("PATH", str(node / "bin/python3"))]
    assert places("python3:no_such_module_of_anybody") == []


def test_a_path_is_that_very_file(node):
    own = program(node / "elsewhere/xhpl")
    assert places(str(own)) == [("given", str(own))]
    assert places(f"{own}-not") == []
