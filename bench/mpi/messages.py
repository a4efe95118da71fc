"""Part `mpi`: wulf-mpi beside NetPIPE over MPI, HPCC's rings and PTRANS; the same MPI, ranks and mpirun.

Debian's netpipe-openmpi and hpcc are built with Open MPI; wulf-mpi is built with the same. The ranks are on this host,
over shared memory and over TCP's loopback.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.engine import parse, programs
from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.rows import Row, without_peer
from bench.engine.session import Session, once
from bench.engine.several import Runs
from bench.mpi.building import OPTIONS, program
from bench.net.peers import TRIALS
from wulf.apps.linpack import hpcc_files
from wulf.apps.linpack.dat import HplDat

KIND, RANKS = "openmpi", 2

BYTES = 8

PATIENCE = 300.0
"""For a launch [s]."""

WAYS = {"shared memory": (), "TCP loopback": ("--mca", "btl", "tcp,self")}
"""What carries the messages → mpirun's words for it."""

ORDER = 2000
"""Of HPL's matrix in hpccinf.txt; PTRANS takes half of it."""

BLOCK = 80

RINGS = (
    ("natural", "latency", "NaturallyOrderedRingLatency_usec", 1e-6, "s"),
    ("random", "latency", "RandomlyOrderedRingLatency_usec", 1e-6, "s"),
    ("natural", "throughput", "NaturallyOrderedRingBandwidth_GBytes", 1e9, "B/s"),
    ("random", "throughput", "RandomlyOrderedRingBandwidth_GBytes", 1e9, "B/s"),
)
"""Order, our metric, HPCC's name of it, its unit in SI, the unit."""

INPUT = HplDat((ORDER,), (BLOCK,), ((1, RANKS),), depths=(0,))
"""One of everything, the ranks in one row."""


def measure(context: Context) -> list[Row]:
    """All rows of the part."""
    contests: list[Contest] = []
    rows: list[Row] = []
    for command, name, make in (("NPopenmpi", "NetPIPE", _netpipe), ("hpcc", "HPCC", _hpcc)):
        missing = next((tool for tool in (command, f"mpicxx.{KIND}") if shutil.which(tool) is None), None)
        if missing:
            rows.append(without_peer(f"MPI beside {name}", f"{name} ({missing} is not installed)", "s", "lower"))
        else:
            contests += make()
    run_blocks(contests, context.effort, context.rng, context.say)
    return [*(contest.row() for contest in contests), *rows]


def launch(*words: str) -> list[str]:
    """What launches two ranks of a program that is named next."""
    return [f"mpirun.{KIND}", *OPTIONS[KIND], *words, "-n", str(RANKS)]


def wulf_ranks(*words: str) -> list[str]:
    """wulf-mpi's ranks: launched anew for every figure, as the peers are."""
    return [*launch(*words), str(program(KIND))]


def _mean(session: Session, **params: object) -> float:
    answer = session.request("run", probe="pingpong", params={"bytes": BYTES, **params})
    return float(answer["metrics"]["rtt"]["value"])


def _least_mean(ranks: Sequence[str], count: int) -> float:
    with Session(ranks) as session:
        return min(_mean(session, iterations=count) for _ in range(TRIALS))


def _netpipes(words: Sequence[str], count: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        sizes = ["-l", str(BYTES), "-u", str(BYTES), "-p", "0", "-n", str(count), "-o", f"{folder}/np.out"]
        return parse.netpipe_least_mean(programs.output([*launch(*words), "NPopenmpi", *sizes], PATIENCE))


def _netpipe() -> Iterator[Contest]:
    """The least of the means of its trials, of as many round trips each, on both sides."""
    for way, words in WAYS.items():
        ranks = wulf_ranks(*words)
        with Session(ranks) as session:
            count = max(1000, round(0.3 / _mean(session, seconds=0.3)))
        yield Contest(
            f"MPI {BYTES} B round trip, {way}, least mean", "NetPIPE", "s", "lower",
            functools.partial(_least_mean, ranks, count), functools.partial(_netpipes, words, count),
        )  # fmt: skip


def _run_hpcc() -> dict[str, float]:
    """All of hpcc's figures, by its own names and in its own units."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / hpcc_files.INPUT).write_text(hpcc_files.input_text(INPUT))
        programs.output([*launch(), "hpcc"], PATIENCE, Path(folder))
        return hpcc_files.summary((Path(folder) / hpcc_files.OUTPUT).read_text())


def _hpcc() -> Iterator[Contest]:
    """Rings by HPCC's own counts and statistics; PTRANS on the same matrix, blocks and grid."""
    hpcc = Runs(_run_hpcc)

    def theirs(name: str, unit: float) -> float:
        return hpcc.figure(name) * unit

    def ours(probe: str, metric: str, **params: object) -> float:
        return float(once(wulf_ranks(), "run", probe=probe, params=params)["metrics"][metric]["value"])

    for order, metric, name, unit, si in RINGS:
        yield Contest(
            f"MPI {order} ring, {metric}, {RANKS} ranks", "HPCC", si, "same",
            functools.partial(ours, "ring", metric, order=order), functools.partial(theirs, name, unit),
        )  # fmt: skip
    yield Contest(
        f"PTRANS, n = {ORDER // 2}, {RANKS} ranks", "HPCC", "B/s", "same",
        functools.partial(ours, "ptrans", "throughput", n=ORDER // 2, nb=BLOCK, grid=f"1x{RANKS}"),
        functools.partial(theirs, "PTRANS_GBs", 1e9),
    )  # fmt: skip
