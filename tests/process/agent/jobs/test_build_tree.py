"""A program built from a source tree that the user names: a tiny one with the interface of HPL's Makefile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from wulf.agent.jobs.build_tree import file_digest, tree_build
from wulf.agent.session import Refused
from wulf.apps.linpack import make as hpl_make

MAKEFILE = """\
arch = UNKNOWN
install:
\t$(MAKE) -f Make.top build arch=$(arch)
"""
MAKE_TOP = """\
include Make.$(arch)
build:
\t$(MKDIR) $(BINdir)
\tprintf '#!/bin/sh\\necho "$(CC) $(LAlib)"\\n' > $(BINdir)/xhpl
\tchmod +x $(BINdir)/xhpl
\techo once >> @COUNT@
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "hpl 2.3"
    for name in ("testing/ptest", "src", "include", ".git"):
        (folder / name).mkdir(parents=True)
    (folder / ".git/large").touch()
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "Make.top").write_text(MAKE_TOP.replace("@COUNT@", str(tmp_path / "count")))
    return folder


def build(tree: Path, **changed: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "source": str(tree), "needs": list(hpl_make.NEEDS), "place": str(tree.parent / "cache"), "timeout": 60.0,
        "files": {"Make.wulf": hpl_make.make_file("/usr/bin/mpicc.openmpi", "/opt/l/libblas.so.3")},
        "commands": [list(words) for words in hpl_make.COMMANDS], "product": hpl_make.PRODUCT,
    }  # fmt: skip
    return tree_build(**{**asked, **changed})


def test_a_program_is_built_in_a_copy_and_the_users_tree_is_left_alone(tree: Path) -> None:
    before = sorted(tree.rglob("*"))
    found = build(tree)
    program = Path(found["path"])
    assert os.access(program, os.X_OK)
    assert program.name == "xhpl"
    assert "/usr/bin/mpicc.openmpi /opt/l/libblas.so.3 -Wl,-rpath,/opt/l" in program.read_text()
    assert sorted(tree.rglob("*")) == before
    assert [path.name for path in program.parent.parent.iterdir()] == [program.parent.name]
    assert file_digest(str(program)) == {"digest": found["digest"]}


def test_it_is_built_once_for_each_recipe_and_anew_when_the_tree_changed(tree: Path) -> None:
    first = build(tree)
    again = build(tree)
    assert (first["kept"], again["kept"], again["path"]) == (False, True, first["path"])
    other = build(tree, files={"Make.wulf": hpl_make.make_file("/usr/bin/mpicc.mpich", "/opt/l/libblas.so.3")})
    os.utime(tree / "Makefile", (2e9, 2e9))
    changed = build(tree)
    assert len({first["path"], other["path"], changed["path"]}) == 3
    assert (tree.parent / "count").read_text().split() == ["once"] * 3


def test_another_compiler_under_the_same_name_is_another_build(tree: Path, tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("1")
    first = build(tree, uses=[str(compiler), "found-in-the-path"])
    assert build(tree, uses=[str(compiler), "found-in-the-path"])["kept"]
    compiler.write_text("22")
    assert build(tree, uses=[str(compiler), "found-in-the-path"])["path"] != first["path"]


def test_commands_have_their_variables_and_those_of_the_node(tree: Path) -> None:
    command = ["sh", "-c", 'test -n "$PATH" && echo "$OMPI_CC" > made']
    found = build(tree, commands=[command], product="made", environment={"OMPI_CC": "clang"})
    assert Path(found["path"]).read_text() == "clang\n"
    assert build(tree, commands=[command], product="made", environment={"OMPI_CC": "gcc"})["path"] != found["path"]


def test_a_folder_that_is_no_such_tree_is_refused_with_what_it_lacks(tree: Path) -> None:
    (tree / "Make.top").unlink()
    with pytest.raises(Refused, match=r"has no Make\.top"):
        build(tree)


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        ({"commands": [["sh", "-c", "echo no rule; exit 3"]]}, "compile", "status 3; its last words:\nno rule"),
        ({"commands": [["true"]]}, "compile", "made no bin/wulf/xhpl"),
        ({"commands": [["/nowhere/make"]]}, "compile", "there is no /nowhere/make"),
        ({"commands": [["sleep", "60"]], "timeout": 0.05}, "timeout", "had not ended after 0.05 s"),
    ],
)
def test_a_build_that_fails_says_why_and_leaves_nothing(
    tree: Path, changed: dict[str, Any], code: str, said: str
) -> None:
    with pytest.raises(Refused) as caught:
        build(tree, **changed)
    assert caught.value.answer["code"] == code
    assert said in caught.value.answer["message"]
    assert list((tree.parent / "cache").iterdir()) == []


def test_the_c_compiler_is_the_one_beside_the_cpp_one() -> None:
    assert hpl_make.c_compiler("/usr/bin/mpicxx.openmpi") == "/usr/bin/mpicc.openmpi"
    assert hpl_make.c_compiler("/opt/mpi/bin/mpicxx") == "/opt/mpi/bin/mpicc"


def test_a_systems_blas_is_linked_without_a_path_of_its_own() -> None:
    assert "rpath" not in hpl_make.make_file("mpicc", "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3")
