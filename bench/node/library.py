"""Part `library`: the library of examples/tuned_library, installed by this machine's rates, beside its fixed plan."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from pathlib import Path

from bench.engine import programs
from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.places import BUILT, ROOT
from bench.engine.rows import Row
from wulf.rates.places import VARIABLE

SOURCE = ROOT / "examples" / "tuned_library"

RATES = ("mem.l2.latency", "mem.random.latency")

NUMBERS = (1 << 24, 1 << 27)
"""64 and 512 MiB: beyond a core's own caches, and beyond those that cores share on most machines."""

PATIENCE = 240.0
"""For measuring the rates, for a build, for a replicate [s]."""


def measure(context: Context) -> list[Row]:
    """A row for each length of the array: seconds a search."""
    wulf = f"{sys.executable} -m wulf.cli.main"
    os.environ[VARIABLE] = str(BUILT / "library-rates.json")
    BUILT.mkdir(parents=True, exist_ok=True)
    asked = [word for name in RATES for word in ("--rate", name)]
    programs.output([*wulf.split(), "rates", "publish", "--quick", *asked], PATIENCE)
    tuned, fixed = installed("tuned", wulf), installed("fixed", "")
    contests = [
        Contest(
            f"libfind, a search in {numbers:,} numbers, by the machine's rates", "the same, fixed plan", "s", "lower",
            functools.partial(seconds, tuned, numbers), functools.partial(seconds, fixed, numbers),
        )
        for numbers in NUMBERS
    ]  # fmt: skip
    run_blocks(contests[:1] if context.quick else contests, context.effort, context.rng, context.say)
    return [contest.row() for contest in contests if contest.pairs]


def installed(name: str, wulf: str) -> Path:
    """The program of the library, installed by `make install`."""
    place = BUILT / f"library-{name}"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(SOURCE, place)
    programs.output(["make", "-C", str(place), "install", f"PREFIX={place / 'there'}", f"WULF={wulf}"], PATIENCE)
    return place / "there/bin/find-timed"


def seconds(program: Path, numbers: int) -> float:
    """One replicate; BenchError where its places are wrong."""
    return float(programs.output([str(program), str(numbers)], PATIENCE).split()[0])
