"""Slurm's commands as a login node would have them, for a wulf that runs outside of the lab whose Slurm it is."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from wulf.lab import state

COMMANDS = ("srun", "salloc", "sbatch", "squeue", "scancel", "scontrol", "sinfo")


def write_commands(lab, directory: Path) -> Path:
    """A directory for PATH, each of whose commands runs on the lab's first node with our standard streams."""
    process = lab._node("n1")["process"]
    words = [sys.executable, "-I", "-S", str(state.INSIDE), "enter", str(process["pid"]), process["start"]]
    for name in COMMANDS:
        path = directory / name
        path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} /usr/bin/{name} "$@"\n')
        path.chmod(0o755)
    return directory
