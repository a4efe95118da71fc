"""`python -m bench [PART …]`: run parts of the bench, write them into results/MACHINE, print the table."""

from __future__ import annotations

import argparse
import json
import random
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.engine import rows
from bench.engine.blocks import Effort
from bench.engine.context import Context, say
from bench.engine.errors import BenchError
from bench.engine.places import DOCS, RESULTS
from bench.engine.rows import Row
from bench.foresight import replay
from bench.mpi import farm, imb, linpack, messages, osu
from bench.net import interval, local, one_pair
from bench.node import library, lmbench, loops
from bench.overhead import build, limits
from bench.report import docs, machine, table
from bench.trace import cost
from wulf.core.errors import INTERRUPTED, USAGE, WulfError

PARTS: dict[str, Callable[[Context], list[Row]]] = {
    "startup": limits.startup,
    "survey": limits.survey,
    "sweep": limits.sweep,
    "share": limits.share,
    "memory": limits.memory,
    "node": loops.measure,
    "library": library.measure,
    "lmbench": lmbench.measure,
    "replay": replay.measure,
    "trace": cost.measure,
    "net": one_pair.measure,
    "local": local.measure,
    "mpi": messages.measure,
    "osu": osu.TOOL.measure,
    "imb": imb.TOOL.measure,
    "mpi-farm": farm.measure,
    "linpack": linpack.measure,
    "interval": interval.measure,
    "build": build.measure,
}
"""In the order of running: what is timed alone comes before the lab."""

SLOW_PARTS = {"survey", "sweep", "share", "lmbench", "library", "osu", "imb", "interval", "linpack", "trace", "build"}
"""Left out by --quick, unless asked for."""

PAGE = DOCS / "explanation" / "benchmarks.md"

BUSY = 0.25
"""Load a CPU above which the figures suffer."""

LOOKS, QUICK_LOOKS = (12, 18, 27, 40, 60, 90, 135, 200), (6,)
"""Blocks after which a comparison may end: see `Effort`. What is open goes on while there is time; at a deviation of
10 % it takes 200 blocks until a tool that is just as good is shown to be so."""

WIDTH = 0.02
"""Relative width of a ratio's interval that ends a comparison whose goal lies within it."""

SECONDS, QUICK_SECONDS = 720.0, 114.0
"""When the last comparison has to end: of each part, and of all together."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 the bench ran, whatever it found; 2 it could not; 130 interrupted, and nothing is written."""
    options = _parser().parse_args(arguments)
    console = Console(width=table.WIDTH)
    try:
        if not options.docs:
            _run([*options.parts, *options.only], options.quick, options.seed)
        found = machines(RESULTS)
        docs.update(PAGE, found)
    except (BenchError, WulfError, FileNotFoundError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("bench: interrupted; the results are as they were", file=sys.stderr)
        return INTERRUPTED
    for _, newest in found[:1]:
        table.terminal(newest, console)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="wulf beside its peers.")
    known = ", ".join(PARTS)
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=f"of {known} [all]")
    parser.add_argument("--only", action="append", default=[], choices=PARTS, help="the same")
    parser.add_argument("--quick", action="store_true", help="two minutes: fewer comparisons, wider intervals")
    parser.add_argument("--docs", action="store_true", help="measure nothing: rewrite docs/explanation/benchmarks.md")
    parser.add_argument("--seed", type=int, help="of the random order")
    return parser


def _run(asked: Sequence[str], quick: bool, seed: int | None) -> None:
    """Measure, and put the rows into this machine's folder, beside those of other parts."""
    began = time.monotonic()
    before = machine.fingerprint()
    if before["load before"] > BUSY * before["cpus"]:
        print(f"note: the load of this machine is {before['load before']}: intervals will be wide", file=sys.stderr)
    drawn = secrets.randbelow(2**31) if seed is None else seed
    chosen = [name for name in PARTS if (name in asked if asked else not (quick and name in SLOW_PARTS))]
    looks, seconds = (QUICK_LOOKS, QUICK_SECONDS) if quick else (LOOKS, SECONDS)
    effort = Effort(looks, WIDTH, began + seconds)
    context = Context(quick, effort, random.Random(drawn), say)
    found = {}
    with context.stack:
        for name in chosen:
            if not quick:
                context.effort = replace(effort, until=time.monotonic() + seconds)
            found[name] = PARTS[name](context)
    measured = [replace(row, part=name) for name in reversed(PARTS) for row in found.get(name, [])]
    _store(measured, before | {"seed": drawn, "quick": quick})


def machines(results: Path) -> list[tuple[dict[str, Any], list[Row]]]:
    """What was measured on each machine, the one measured last first."""
    found = [
        (json.loads(path.read_text()), rows.read(path.with_name("rows.json")))
        for path in results.glob("*/machine.json")
    ]
    return sorted(found, key=lambda one: machine.newest(one[0]), reverse=True)


def _store(measured: Sequence[Row], now: dict[str, Any]) -> None:
    folder = RESULTS / machine.name_of(now)
    stored, page = folder / "rows.json", folder / "machine.json"
    parts = dict.fromkeys(row.part for row in measured)
    old = rows.read(stored) if stored.exists() else []
    if not now.get("quick"):  # which measures fewer; else what a part no longer measures goes
        old = [row for row in old if row.part not in parts or row.name in {one.name for one in measured}]
    rows.write(stored, rows.merged(old, measured))
    before = json.loads(page.read_text()) if page.exists() else {}
    page.write_text(json.dumps(machine.kept(before, now, parts), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
