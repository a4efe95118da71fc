"""Tracing over nodes and launchers in memory: words added, files fetched once, faults said, what is there kept."""

from __future__ import annotations

import shutil
from pathlib import Path

from wulf.workflow.trace.run import why_none


def test_what_a_command_is_linked_with(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "another one, or of none" in why_none([str(script), "-n"])
    true = shutil.which("true")
    assert true is not None and "is not linked with an MPI's shared library" in why_none(["mpirun", true])
