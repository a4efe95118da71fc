"""Part `build`: what building costs on this machine, beside limits and the commit before builds were made fast.

Both are built in the same run, each by its own means: `bench.overhead.checkouts`.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.places import ROOT
from bench.engine.rows import Row, compared, exact, without_peer
from bench.overhead.checkouts import BASE, TOUCHED, Tree, copy_ours, run, unpack_base
from wulf.agent.mpi.find import find
from wulf.cluster.mpi.installed import Installed

PEER = f"commit {BASE}"
LIMIT = "limit"

PROBES, MPI = "native probes, from nothing", "wulf-mpi, from an empty cache"
PROBES_S, MPI_S, TOUCH_S = 90.0, 20.0, 5.0

PROGRAMS = ("wulf-net", "wulf-link", "wulf-node", "wulf-replay")

BLOCKS, QUICK_BLOCKS = 3, 1
"""Of builds from nothing, the older of which take minutes."""

SECONDS, TOUCH_SECONDS = 5400.0, 600.0
"""The part's own time, so that it takes none of the others': of builds from nothing, and of those after a touch."""


def measure(context: Context) -> list[Row]:
    """All rows of the part; one alone, with the reason, where the older commit can't be had."""
    above = ROOT / "build"
    above.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=above) as scratch:
        ours, base = Path(scratch, "ours"), Path(scratch, "base")
        try:
            unpack_base(base)
        except BenchError as error:
            context.say(f"{PEER}: {error}")
            return [without_peer(PROBES, f"{PEER} ({error})", "s", "lower")]
        copy_ours(ours)
        return compare(Tree(ours, run), Tree(base, run), compilers(Installed(**row) for row in find([])), context)


def compilers(found: Iterable[Installed]) -> list[Installed]:
    """Those that programs can be built with; of one title, the first."""
    by_title: dict[str, Installed] = {}
    for mpi in found:
        if mpi.mpicxx is not None:
            by_title.setdefault(mpi.title, mpi)
    return list(by_title.values())


def compare(ours: Tree, base: Tree, mpis: Sequence[Installed], context: Context) -> list[Row]:
    """Build both trees, block by block; the rows of times, then those of sizes."""

    def contest(name: str, build: Callable[[Tree], float]) -> Contest:
        told = functools.partial(_told, context.say, name)
        return Contest(name, PEER, "s", "lower", lambda: told("ours", build(ours)), lambda: told(PEER, build(base)))

    whole = [(contest(PROBES, Tree.probes), PROBES_S)]
    whole += [(contest(mpi_name(mpi), functools.partial(Tree.mpi, mpi=mpi)), MPI_S) for mpi in mpis]
    touched = [(contest(touch_name(name), functools.partial(Tree.touch, name=name)), TOUCH_S) for name in TOUCHED]
    now, blocks = context.effort.clock, QUICK_BLOCKS if context.quick else BLOCKS
    effort = dataclasses.replace(context.effort, looks=(blocks,), until=now() + SECONDS)
    run_blocks([each for each, _ in whole], effort, context.rng, context.say)
    effort = dataclasses.replace(context.effort, until=now() + TOUCH_SECONDS)
    run_blocks([each for each, _ in touched], effort, context.rng, context.say)
    rows = [row for each, limit in [*whole, *touched] for row in times(each, limit)]
    rows += [size(name, ours.program(name), base.program(name)) for name in PROGRAMS]
    rows += [size(f"wulf-mpi with {mpi.title}", ours.mpi_program(mpi), base.mpi_program(mpi)) for mpi in mpis]
    return rows if mpis else [*rows, without_peer(MPI, f"{PEER} (no MPI with a compiler is installed)", "s", "lower")]


def mpi_name(mpi: Installed) -> str:
    """The name of the rows of one MPI."""
    return MPI.replace("wulf-mpi", f"wulf-mpi with {mpi.title}")


def touch_name(source: str) -> str:
    """The name of the rows of one source: short enough for a terminal's column."""
    return f"{TOUCHED[source]}, {Path(source).name} touched"


def _told(say: Callable[[str], None], name: str, side: str, seconds: float) -> float:
    say(f"{name}, {side}: {seconds:.1f} s")
    return seconds


def times(contest: Contest, limit: float) -> list[Row]:
    """Ours beside its limit, and beside the older commit."""
    if not contest.pairs:
        return [without_peer(contest.name, f"{peer} (failed)", "s", "lower") for peer in (LIMIT, PEER)]
    against = [(seconds, limit) for seconds, _ in contest.pairs]
    return [compared(contest.name, LIMIT, "s", "lower", against, looks=contest.looks), contest.row()]


def size(name: str, ours: Path, base: Path) -> Row:
    """Bytes of a program, which every build makes the same: no interval."""
    name = f"{name}, size"
    if not (ours.exists() and base.exists()):
        return without_peer(name, f"{PEER} (failed)", "B", "lower")
    return exact(name, float(ours.stat().st_size), float(base.stat().st_size), PEER, "B")
