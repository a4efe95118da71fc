"""Intel MPI Benchmarks: one benchmark of IMB-MPI1 at one size, over all ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Figure, Job, OutputReading
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "imb"
HELP = "IMB-MPI1 at one message size: time of a call, and throughput where it tells one."
DOMAIN = "message passing"
PROGRAMS = ("IMB-MPI1", "imb-mpi1")
FIGURE = "time"

BENCHMARKS = (
    "PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Reduce_scatter", "Allgather", "Gather",
    "Scatter", "Alltoall", "Bcast", "Barrier",
)  # fmt: skip
LEAST_RANKS = 2

PARAMS = (
    ParamSpec("benchmark", "str", "", "Which one.", "PingPong", choices=BENCHMARKS),
    ParamSpec("bytes", "int", "B", "Message size.", 1, 0, 2**31 - 1),
)

LENGTHS = "lengths"
MICROSECOND, MEGABYTE = 1e-6, 1e6

_HEAD = re.compile(r"^\s*(#bytes|#repetitions)\s+.*$", re.MULTILINE)
_VERSION = re.compile(r"Intel\(R\) MPI Benchmarks (\S+(?: \S+)?),")


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """All ranks at once (-npmin), rather than 2, 4, 8 of them one after the other."""
    if ranks < LEAST_RANKS:
        raise UsageError(f"{params['benchmark']} needs 2 ranks, and got {ranks}", "name two nodes, or give --ranks 2")
    words = (program, str(params["benchmark"]), "-npmin", str(ranks), "-msglen", LENGTHS)
    return Job(words, {LENGTHS: f"{params['bytes']}\n"}, mpi=True)


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The last row of the last table: columns as their head names them."""
    heads = list(_HEAD.finditer(stdout))
    rows = stdout[heads[-1].end() :].splitlines() if heads else []
    numbers = [numbers for row in rows if (numbers := _numbers(row))]
    columns = heads[-1][0].split() if heads else []
    row = dict(zip(columns, numbers[-1], strict=False)) if numbers else {}
    # of a collective, the rank that was the last
    time = next((row[name] for name in ("t[usec]", "t_max[usec]") if name in row), None)
    figures = [Figure("time", "s", None if time is None else time * MICROSECOND, "lower", "" if row else "no table")]
    rate = next((value for name, value in row.items() if name.lower().startswith("mbytes/sec")), None)
    if rate is not None:
        figures.append(Figure("throughput", "B/s", rate * MEGABYTE, "higher"))
    version = _VERSION.search(stdout)
    return OutputReading(tuple(figures), (), {"version": version[1]} if version else {})


def _numbers(line: str) -> list[float]:
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return []
