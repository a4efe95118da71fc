"""`python -m bench.trace.programs PROGRAMS.toml [PROGRAM …]`: what tracing costs public programs.

PROGRAMS.toml is that of bench.foresight.public. Each program runs over two ranks of this machine, whose calls are
shorter than any network's. In every block it runs once with the tracer and once without, in a random order, and the
time from MPI_Init to MPI_Finalize is taken by a library of its own (bench/loops/stopwatch.c) in both.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.engine.blocks import Contest, Effort, run_blocks
from bench.engine.context import say
from bench.engine.errors import BenchError, told
from bench.engine.places import BUILT, LOOPS
from bench.engine.programs import listed, picked
from bench.engine.rows import Row
from bench.trace.cost import MOST_OF_A_RUN, Side

RANKS = 2
LOOKS = (12, 18, 27, 40)
WIDTH = 0.01
"""Width of a ratio's interval at which a program's blocks end."""

SECONDS = 1800.0
PRELOADED = 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"'
"""A shell's words that put one library before those that are preloaded already."""


def stopwatch(kind: str) -> Path:
    """The library, built with this MPI."""
    BUILT.mkdir(parents=True, exist_ok=True)
    path = BUILT / f"libstopwatch-{kind}.so"
    words = [f"mpicc.{kind}", "-O2", "-shared", "-fPIC", "-o", str(path), str(LOOPS / "stopwatch.c"), "-ldl"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{words[0]} failed: {(done.stdout + done.stderr)[-300:]}")
    return path


def seconds(side: Side, library: Path, program: Mapping[str, Any], *, traced: bool) -> float:
    """Of one run, from MPI_Init to MPI_Finalize.

    Raises
    ------
    BenchError
        It failed, or didn't say how long it took.
    """
    place = ["env", "-C", str(program["cwd"])] if program.get("cwd") else []
    words = [*place, "sh", "-c", PRELOADED, str(library), *program["argv"]]
    return watched(side.run(RANKS, words, traced=traced)[1])


def watched(printed: str) -> float:
    """What the stopwatch printed among a program's own lines."""
    found = re.findall(r"^stopwatch ([\d.]+)$", printed, re.MULTILINE)
    if not found:
        raise BenchError(f"the program did not say how long it took: {printed[-200:]}")
    return float(found[-1])


def table(rows: Sequence[Row]) -> str:
    """What tracing adds to each program, and to the one in the middle."""
    lines = ["| program | untraced [s] | traced [s] | longer | 95 % interval |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        cells = ("–",) * 4
        if row.ours is not None and row.peer is not None and row.ratio is not None:
            within = "–" if row.low is None or row.high is None else f"{row.low - 1:+.1%} to {row.high - 1:+.1%}"
            cells = (f"{row.peer:.4g}", f"{row.ours:.4g}", f"{row.ratio - 1:+.1%}", within)
        lines.append(f"| {' | '.join((row.name, *cells))} |")
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if ratios:
        lines += ["", f"{len(ratios)} programs, {RANKS} ranks, in the median {statistics.median(ratios) - 1:+.2%}."]
    return "\n".join(lines)


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 all was run; 2 it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.trace.programs", description=__doc__)
    parser.add_argument("file", type=Path, help="TOML of programs, as bench.foresight.public takes it")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="of the file [all]")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all of it")
    options = parser.parse_args(arguments)
    known = listed(options.file)
    library = stopwatch(options.mpi)
    with tempfile.TemporaryDirectory(prefix="wulf-tracing-") as scratch:
        side = Side(options.mpi, Path(scratch))
        contests = [
            Contest(
                name, "untraced", "s", "lower", partial(seconds, side, library, known[name], traced=True),
                partial(seconds, side, library, known[name], traced=False), MOST_OF_A_RUN,
            )
            for name in picked(options.programs, known)
        ]  # fmt: skip
        effort = Effort(LOOKS, WIDTH, time.monotonic() + options.seconds)
        run_blocks(contests, effort, random.Random(options.seed), say)
    print(table([contest.row() for contest in contests]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
