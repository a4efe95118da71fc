"""Part `linpack`: wulf's own solver beside HPL as Debian's hpcc holds it; the same MPI, BLAS, N, NB and grid.

Both take OpenBLAS with one thread: hpcc by LD_LIBRARY_PATH, so that the machine's own choice of BLAS stays. hpcc runs
all its tests each time; its HPL solves every size some times over, with look-ahead 1 and the broadcast 1ringM.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.engine import programs
from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.rows import Row, without_peer
from bench.engine.session import Session
from bench.mpi.building import OPTIONS, program
from bench.mpi.messages import KIND, RANKS
from wulf.apps.linpack import hpcc_files
from wulf.apps.linpack import output as hpl
from wulf.apps.linpack.dat import HplDat

SIZES = (1000, 2000, 4000)
BLOCKS = (64, 128)
GRIDS = ((1, 2), (2, 1))

TIMES = 3
"""Solutions of each by one run of hpcc."""

BLAS = "openblas-serial/libblas.so.3"
"""Below the folder of the machine's libraries (Debian: libopenblas0-serial)."""

PEER = "HPL in hpcc, OpenBLAS"

PATIENCE = 600.0
"""Seconds for one run of hpcc: its other tests take most of it."""


def measure(context: Context) -> list[Row]:
    """A row for each size, block and grid."""
    blas = next(iter(sorted(Path("/usr/lib").glob(f"*/{BLAS}"))), None)
    missing = next((tool for tool in ("hpcc", f"mpicxx.{KIND}") if shutil.which(tool) is None), None)
    if missing or blas is None:
        reason = f"{missing or BLAS} is not installed"
        return [without_peer("LU of 2 ranks", f"{PEER} ({reason})", "flop/s", "higher")]
    contests = list(_contests(blas))
    run_blocks(contests, context.effort, context.rng, context.say)
    return [contest.row() for contest in contests]


def _contests(blas: Path) -> Iterator[Contest]:
    library_path = f"LD_LIBRARY_PATH={blas.parent}"  # libblas.so.3 there needs the libopenblas.so.0 beside it
    launch = ["env", library_path, f"mpirun.{KIND}", *OPTIONS[KIND], "-n", str(RANKS)]
    ranks = [*launch, str(program(KIND))]
    for n in SIZES:
        peer = Hpcc(n, launch)
        for nb in BLOCKS:
            for p, q in GRIDS:
                given = {"n": n, "nb": nb, "p": p, "q": q, "lookahead": 1, "blas": str(blas), "seconds": 0}
                yield Contest(
                    f"LU, n = {n}, NB = {nb}, {p}x{q}", PEER, "flop/s", "higher",
                    functools.partial(_ours, ranks, given), functools.partial(peer.figure, nb, p, q),
                )  # fmt: skip


def _ours(ranks: Sequence[str], params: dict[str, object]) -> float:
    """Of the second solution of a launch: hpcc's ranks have done other tests before, and ours' first is half as fast
    (at n = 1000), since neither the BLAS's own memory nor that of the messages is laid on pages yet."""
    with Session(ranks) as session:
        session.request("run", probe="linpack", params=params)
        return float(session.request("run", probe="linpack", params=params)["metrics"]["rate"]["value"])


@dataclass
class Hpcc:
    """Runs of hpcc on one size, each of which has some figures for every contest.

    Parameters
    ----------
    n
        Rows of the matrix.
    launch
        What starts the ranks.
    """

    n: int
    launch: list[str]
    waiting: dict[tuple[int, int, int], deque[float]] = field(default_factory=dict)

    def figure(self, nb: int, p: int, q: int) -> float:
        """The next figure [flop/s]; hpcc is run when all have been used."""
        if not self.waiting.get((nb, p, q)):
            rows = hpl.parse(self._output()).rows
            if any(solved.passed is False for solved in rows):
                raise BenchError("HPL says that a residual is too large: it or its BLAS computes wrongly")
            for solved in rows:
                if solved.n == self.n:
                    self.waiting.setdefault((solved.nb, solved.p, solved.q), deque()).append(solved.rate)
        if not self.waiting.get((nb, p, q)):
            raise BenchError(f"hpcc has no row of N {self.n}, NB {nb}, {p} x {q}")
        return self.waiting[nb, p, q].popleft()

    def _output(self) -> str:
        asked = HplDat((self.n,) * TIMES, BLOCKS, GRIDS)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / hpcc_files.INPUT).write_text(hpcc_files.input_text(asked))
            programs.output([*self.launch, "hpcc"], PATIENCE, Path(folder))
            return (Path(folder) / hpcc_files.OUTPUT).read_text()
