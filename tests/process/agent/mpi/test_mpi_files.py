"""Files in parts, whole or not there; folders that can't hold programs."""

import os

from tests.unit.agent.mpi.test_mpi_files import CONTENT, DIGEST, write
from tests.unit.agent.mpi.test_mpi_files import small_parts as small_parts
from wulf.agent.mpi.files import mpi_look, mpi_read


def read(path):
    parts = mpi_read(path)["parts"]
    return [mpi_read(path, part)["data"] for part in range(parts)]


def test_there_and_back(tmp_path):
    source, target = tmp_path / "a b", tmp_path / "new folder/c"
    source.write_bytes(CONTENT)
    parts = read(source)
    assert len(parts) == 6
    write(target, parts)
    assert target.read_bytes() == CONTENT
    assert os.access(target, os.X_OK)
    assert mpi_look(target)["digest"] == DIGEST
    assert [path.name for path in target.parent.iterdir()] == ["c"]


def test_whether_a_program_runs_here(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 0\n")
    assert mpi_look(program)["trouble"] is None  # a file, and no program
    program.chmod(0o700)
    assert mpi_look(program)["trouble"] is None
    program.write_text("#!/bin/sh\necho 'libmpi.so.40: cannot open shared object file' >&2; exit 127\n")
    assert "libmpi.so.40: cannot open" in mpi_look(program)["trouble"]
    program.write_bytes(CONTENT)
    assert "Exec format error" in mpi_look(program)["trouble"]
