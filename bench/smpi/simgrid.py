"""SimGrid's commands: programs built and run under its SMPI, and the times that it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.engine.errors import BenchError
from bench.engine.places import LOOPS
from bench.foresight.lab import PATIENCE
from bench.smpi import cluster
from wulf.model.network.figures import Values
from wulf.trace.imports import import_named

SIMGRID = "WULF_SIMGRID"
"""Names the folder of SimGrid's `smpicc` and `smpirun`; without it they are taken from PATH."""

_TIME = re.compile(r"Simulated time: ([\d.e+-]+) seconds")


class Smpi:
    """SimGrid's commands, and a folder for what they need.

    Parameters
    ----------
    public
        Programs that are built already, by name; without any, ours are built.
    """

    def __init__(self, folder: Path, public: Mapping[str, Mapping[str, Any]]) -> None:
        self._runner, self._public = tool("smpirun"), public
        self._folder = folder
        self._program = folder / "program"
        if not public:
            output([tool("smpicc"), "-O2", str(LOOPS / "smpi.c"), "-o", str(self._program)], folder)

    def _words(self, program: str, ranks: int) -> list[str]:
        return argv(self._public[program], ranks) if self._public else [str(self._program), program]

    def run(self, program: str, ranks: int, values: Values, trace: str = "") -> float:
        """Simulated seconds on a star of this network; the trace is written if it has a name."""
        traced = ["-trace-ti", "-trace-file", trace] if trace else []
        said = output(
            [
                self._runner, *cluster.write(self._folder, ranks, values), *traced,
                *cluster.words(cluster.options(values)), *self._words(program, ranks),
            ],
            self._folder,
        )  # fmt: skip
        return simulated(said)

    def trace(self, program: str, ranks: int, values: Values) -> tuple[Path, float]:
        """The imported trace of one run, and the seconds that it took."""
        name = f"{program}-{ranks}"
        seconds = self.run(program, ranks, values, f"{name}.txt")
        folder = self._folder / name
        folder.mkdir()
        import_named("simgrid").bring([self._folder / f"{name}.txt"], folder, flops=cluster.FLOPS)
        return folder, seconds


def argv(program: Mapping[str, Any], ranks: int) -> list[str]:
    """A public program's words for so many ranks. BenchError where there are none for that number."""
    own = program["argv"]
    words = own.get(str(ranks)) if isinstance(own, Mapping) else own
    if words is None:
        raise BenchError(f"argv has no words for {ranks} ranks: it has {', '.join(own)}")
    return list(words)


def tool(name: str) -> str:
    """A command of SimGrid's. BenchError where it is not there."""
    found = shutil.which(name, path=os.environ.get(SIMGRID))
    if found is None:
        raise BenchError(
            f"there is no {name}: install SimGrid (Debian: libsimgrid-dev), or name its folder by {SIMGRID}"
        )
    return found


def simulated(said: str) -> float:
    """The seconds in what smpirun prints. BenchError where it prints none."""
    match = _TIME.search(said)
    if match is None:
        raise BenchError(f"smpirun tells no simulated time: {said[-500:]}")
    return float(match[1])


def output(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=folder)
    if done.returncode != 0:
        raise BenchError(f"{command[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout + done.stderr
