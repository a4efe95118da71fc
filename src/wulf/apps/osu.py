"""OSU Micro-Benchmarks: one of their programs at one message size."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Figure, Job, OutputReading, number
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "osu"
HELP = "An OSU micro-benchmark at one message size: latency, bandwidth, or the time of a collective."
DOMAIN = "message passing"
FIGURE = "result"

PAIRS = ("latency", "bw", "bibw")
COLLECTIVES = ("allreduce", "reduce", "allgather", "alltoall", "bcast", "gather", "scatter", "barrier")
PROGRAMS = tuple(f"osu_{name}" for name in (*PAIRS, *COLLECTIVES))
LEAST_RANKS = 2

PARAMS = (
    ParamSpec("benchmark", "str", "", "Which program: latency is osu_latency.", "latency", choices=PAIRS + COLLECTIVES),
    ParamSpec("bytes", "int", "B", "Message size.", 1, 1, 2**31 - 1),
    ParamSpec("validate", "bool", "", "Have it check what arrived (-c; from version 7 on).", False),
)

_TITLE = re.compile(r"^# (OSU MPI.*?)\s*v(\S+)", re.MULTILINE)
_UNITS = {"us": (1e-6, "s", "lower"), "MB/s": (1e6, "B/s", "higher")}
_UNIT = re.compile(r"\((us|MB/s)\)")


def programs_for(params: Mapping[str, Param]) -> tuple[str, ...]:
    """The one program of this benchmark."""
    return (f"osu_{params['benchmark']}",)


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """One size, so that its repetitions are spent on that one."""
    name = str(params["benchmark"])
    if name in PAIRS and ranks != LEAST_RANKS:
        raise UsageError(f"osu_{name} measures between 2 ranks, and got {ranks}", "name two nodes, or give --ranks 2")
    if ranks < LEAST_RANKS:
        raise UsageError(f"osu_{name} needs 2 ranks, and got {ranks}", "name two nodes, or give --ranks 2")
    sized = () if name == "barrier" else ("-m", f"{params['bytes']}:{params['bytes']}")
    return Job((program, *sized, *(("-c",) if params["validate"] else ())), mpi=True)


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The last row; the head says in what unit. Of a collective its first figure, the mean over the ranks."""
    head = next((line for line in reversed(stdout.splitlines()) if line.startswith("#") and _UNIT.search(line)), "")
    rows = [line.split() for line in stdout.splitlines() if line.strip() and not line.startswith("#")]
    unit = _UNIT.search(head)
    version = _TITLE.search(stdout)
    facts: dict[str, str | float] = {"version": version[2]} if version else {}
    if unit is None or not rows:
        return OutputReading((Figure(FIGURE, "s", None, "lower", "its output has no table"),), (), facts)
    factor, si, better = _UNITS[unit[1]]
    value = number(rows[-1][1 if "Size" in head and len(rows[-1]) > 1 else 0])
    if value is None:
        return OutputReading((Figure(FIGURE, si, None, "lower", f"no number in {' '.join(rows[-1])!r}"),), (), facts)
    return OutputReading((Figure(FIGURE, si, value * factor, "higher" if better == "higher" else "lower"),), (), facts)
