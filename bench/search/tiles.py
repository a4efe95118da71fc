"""Records a grid of tiled matrix multiplies: what `python -m bench.search` replays searches on beside HPL's.

    python -m bench.search.tiles [--rounds 6]

The search was made, and its figures chosen, on HPL's grid: this one is held out. Every configuration once a round, in
an order drawn anew for each round; a process measures all three sizes, each thrice, in CPU time, since the machine that
it was recorded on had other work. Rows are appended as they are measured: started again, it goes on where it ended.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
import tempfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path

from bench.engine.places import DATA, LOOPS

SIZES = (64, 128, 256)
SEED = 20261125
SOURCE = LOOPS / "tiled.c"
GRID = DATA / "tiles-grid.csv"

KNOBS: Mapping[str, tuple[str, ...]] = {
    "order": ("ijk", "ikj", "jik", "jki", "kij", "kji"),
    "ti": ("8", "32", "128"),
    "tj": ("16", "64", "256"),
    "tk": ("8", "32", "128"),
    "optimise": ("O2", "O3"),
}
DEFAULT = {"order": "ijk", "ti": 32, "tj": 64, "tk": 32, "optimise": "O2"}
NUMBERS = ("ti", "tj", "tk")
HEADS = ["round", *KNOBS, *(f"n{n}" for n in SIZES)]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    rounds = parser.parse_args().rounds
    done = sum(1 for _ in GRID.open()) - 1 if GRID.exists() else 0
    with tempfile.TemporaryDirectory() as folder, GRID.open("a", newline="") as out:
        programs = {level: _built(Path(folder), level) for level in KNOBS["optimise"]}
        rows = csv.writer(out)
        if not done:
            rows.writerow(HEADS)
        for number, (turn, config) in enumerate(_runs(rounds)):
            if number >= done:
                rows.writerow([turn, *config, *_measured(programs, config)])
                out.flush()


def _runs(rounds: int) -> list[tuple[int, tuple[str, ...]]]:
    every, shuffled = list(product(*KNOBS.values())), random.Random(SEED)
    return [(turn, one) for turn in range(rounds) for one in shuffled.sample(every, len(every))]


def _built(folder: Path, level: str) -> Path:
    """The program at a level of optimisation. Raises CalledProcessError where it does not compile."""
    program = folder / f"tiled-{level}"
    subprocess.run(["gcc", f"-{level}", "-march=native", "-o", str(program), str(SOURCE)], check=True)
    return program


def _measured(programs: Mapping[str, Path], config: tuple[str, ...]) -> list[str]:
    *tiles, level = config
    command = [str(programs[level]), *tiles, *map(str, SIZES)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[1] for line in lines]


if __name__ == "__main__":
    main()
