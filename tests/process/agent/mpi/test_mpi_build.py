"""Sources are compiled together, and nothing but what was built is kept on the node."""

from __future__ import annotations

import zipfile
from pathlib import Path

from wulf.agent.mpi import build

COMPILER = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    -o) echo built >"$2"; shift;;
    *.cpp) echo "$1: $(cat "$1")" >>{asked};;
  esac
  shift
done
"""


def compiler(folder: Path) -> str:
    """A compiler that makes what it is asked for, and notes each source with its text."""
    path = folder / "mpicxx"
    path.write_text(COMPILER.format(asked=folder / "asked"))
    path.chmod(0o755)
    return str(path)


def test_what_was_built_is_all_that_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "cache/source.zip"
    source.parent.mkdir()
    with zipfile.ZipFile(source, "w") as archive:
        for name in ("core/json/json.cpp", "mpi/main.cpp", "mpi/probe.cpp"):
            archive.writestr(name, f"// {name}\n")
    target = source.parent / "key/wulf-mpi"
    build._build(target, source, compiler(tmp_path), build.PROGRAM, [])
    assert target.read_text() == "built\n"
    kept = {str(path.relative_to(source.parent)) for path in source.parent.rglob("*") if path.is_file()}
    assert kept == {"source.zip", "key/wulf-mpi"}
    asked = (tmp_path / "asked").read_text()
    assert "core/json/json.cpp: // core/json/json.cpp" in asked
    assert 'together-0.cpp: #include "mpi/main.cpp"\n#include "mpi/probe.cpp"' in asked
