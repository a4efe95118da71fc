"""Records an exhaustive grid of HPL configurations: what `python -m bench.search` replays searches on.

    python -m bench.search.grid --xhpl PATH --blas openblas=DIR --blas blis=DIR --rounds 3

Two ranks, one configuration a process, every configuration once a round, in an order drawn anew for each round, with
the anchor every few starts. Each process solves all three sizes thrice, after one that only warms it up. The ranks run
with real-time priority where that is allowed, so that what else the machine does costs as little as can be. Rows are
appended as they are measured: started again, it goes on where it ended.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from bench.engine.places import DATA
from wulf.apps.linpack import output as hpl
from wulf.apps.linpack.dat import HplDat

N = 2048
SIZES = (N // 4, N // 2, N)
REPEATS, WARM = 3, 256
ANCHOR_EVERY = 12
SEED = 20261122
GRID, ABOUT = DATA / "hpl-grid.csv", DATA / "hpl-grid.json"

KNOBS: Mapping[str, tuple[str, ...]] = {
    "blas": ("openblas", "blis"),
    "grid": ("1x2", "2x1"),
    "nb": ("32", "64", "96", "128", "192", "256"),
    "depth": ("0", "1"),
    "pfact": ("left", "crout", "right"),
    "nbmin": ("2", "8"),
}
ANCHOR = {"blas": "openblas", "grid": "1x2", "nb": "128", "depth": "1", "pfact": "right", "nbmin": "8"}
PFACT = {"left": 0, "crout": 1, "right": 2}


def configurations() -> list[dict[str, str]]:
    """All of them, the last knob changing fastest."""
    return [dict(zip(KNOBS, values, strict=True)) for values in product(*KNOBS.values())]


def starts(rounds: int) -> Iterator[tuple[int, str, dict[str, str]]]:
    """(round, "grid" or "anchor", configuration) in the order measured: a function of the seed alone."""
    every = configurations()
    for number in range(rounds):
        order = random.Random(f"{SEED}-{number}").sample(every, len(every))
        for place, one in enumerate(order):
            if place % ANCHOR_EVERY == 0:
                yield number, "anchor", ANCHOR
            yield number, "grid", one


def solve(xhpl: str, blas: str, one: Mapping[str, str]) -> tuple[float, list[list[float]]]:
    """Seconds of the whole process, and GFLOPS of each size, `REPEATS` of each; raises where a residual is wrong."""
    sizes = [WARM, *SIZES * REPEATS]
    p, q = map(int, one["grid"].split("x"))
    asked = HplDat(tuple(sizes), (int(one["nb"]),), ((p, q),), pfacts=(PFACT[one["pfact"]],),
                   nbmins=(int(one["nbmin"]),), depths=(int(one["depth"]),))  # fmt: skip
    first = ["chrt", "-f", "20"] if shutil.which("chrt") and os.geteuid() == 0 else []
    launch = [*first, "mpirun", "--allow-run-as-root", "--bind-to", "core", "-n", "2", xhpl]
    environment = {**os.environ, "LD_LIBRARY_PATH": blas, "OPENBLAS_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "HPL.dat").write_text(asked.text())
        began = time.monotonic()
        done = subprocess.run(launch, cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
                              check=True)  # fmt: skip
        wall = time.monotonic() - began
    rows = hpl.parse(done.stdout).rows
    if [row.n for row in rows] != sizes or not all(row.passed for row in rows):
        raise RuntimeError(f"{one}: sizes or residuals are not as they should be:\n{done.stdout[-2000:]}")
    return wall, [[row.rate / hpl.GIGA for row in rows if row.n == size] for size in SIZES]


def record(xhpl: str, blas: Mapping[str, str], rounds: int) -> None:
    """Measure what the file does not hold yet."""
    DATA.mkdir(exist_ok=True)
    have = sum(1 for _ in GRID.open()) - 1 if GRID.exists() else -1
    with GRID.open("a", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        if have < 0:
            rows.writerow(["round", "kind", *KNOBS, "wall", *(f"n{n}.{i}" for n in SIZES for i in range(REPEATS))])
            ABOUT.write_text(json.dumps(about(xhpl, blas), indent=1) + "\n")
        for place, (number, kind, one) in enumerate(starts(rounds)):
            if place < have:
                continue
            wall, gflops = solve(xhpl, blas[one["blas"]], one)
            figures = (f"{value:.4g}" for some in gflops for value in some)
            rows.writerow([number, kind, *(one[knob] for knob in KNOBS), f"{wall:.3f}", *figures])
            out.flush()


def about(xhpl: str, blas: Mapping[str, str]) -> dict[str, object]:
    """What the figures were measured on."""
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    return {
        "what": "HPL 2.0 as hpcc 1.5.0 ships it, its own time and residual check", "ranks": 2, "sizes": SIZES,
        "repeats": REPEATS, "unit": "GFLOPS", "seed": SEED, "anchor": ANCHOR, "program": Path(xhpl).name,
        "blas": {name: Path(where.split(":")[0]).name for name, where in blas.items()},
        "mpi": version, "cpu": cpu[1] if cpu else None, "cpus": os.cpu_count(), "kernel": platform.release(),
        "recorded": time.strftime("%Y-%m-%d"),
    }  # fmt: skip


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xhpl", required=True)
    parser.add_argument("--blas", action="append", required=True, metavar="NAME=DIR", help="A library's folder.")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    record(given.xhpl, dict(one.split("=", 1) for one in given.blas), given.rounds)


if __name__ == "__main__":
    main()
