"""json.hpp is read once for all files where the compiler can keep it, and by each of them where it can't."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from wulf.agent.mpi import build

GCC = "g++ (Debian 12.2.0) 12.2.0\\nCopyright (C) 2022 Free Software Foundation, Inc."
CLANG = "Debian clang version 14.0.6"


def compiler(folder: Path, says: str, status: int = 0) -> str:
    """A compiler that notes what it is asked for."""
    path = folder / "mpicxx"
    version = f'[ "$1" = --version ] && printf "{says}\\n" && exit'
    path.write_text(f'#!/bin/sh\n{version}\necho "$@" >>asked\nexit {status}\n')
    path.chmod(0o755)
    return str(path)


def test_gcc_reads_it_once(tmp_path: Path) -> None:
    flags = build._precompiled(tmp_path, compiler(tmp_path, GCC), ["-O2"])
    assert flags == ["-include", "nlohmann/json.hpp"]
    assert (tmp_path / "asked").read_text() == "-O2 -c -x c++-header nlohmann/json.hpp -o nlohmann/json.hpp.gch\n"


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_wrapper_that_adds_its_libraries_keeps_it_too(tmp_path: Path) -> None:
    """As every MPI's does: without -c, GCC takes the header for a program's only source, and fails to link it."""
    wrapper = tmp_path / "mpicxx"
    wrapper.write_text('#!/bin/sh\nexec g++ "$@" -lm\n')
    wrapper.chmod(0o755)
    header = tmp_path / build.HEADER
    header.parent.mkdir()
    header.write_text("inline int known() { return 7; }\n")
    flags = build._precompiled(tmp_path, str(wrapper), ["-O2"])
    assert flags == ["-include", build.HEADER]
    header.write_text("#error read again\n")
    (tmp_path / "user.cpp").write_text("int seven = known();\n")
    build._run([str(wrapper), "-O2", *flags, "-c", "user.cpp", "-o", "user.o"], tmp_path)


@pytest.mark.parametrize(("says", "status", "free"), [(CLANG, 0, 1 << 40), (GCC, 1, 1 << 40), (GCC, 0, 1 << 20)])
def test_another_compiler_a_failing_one_and_a_full_disk_do_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, status: int, free: int
) -> None:
    monkeypatch.setattr(build.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert build._precompiled(tmp_path, compiler(tmp_path, says, status), ["-O2"]) == []
