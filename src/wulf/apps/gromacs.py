"""GROMACS: mdrun of an input that the user prepared (a .tpr file on the nodes)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Check, Figure, Job, OutputReading, number
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "gromacs"
HELP = "GROMACS mdrun over MPI on a .tpr of yours: simulated time per day."
DOMAIN = "molecular dynamics"
PROGRAMS = ("gmx_mpi", "gmx_mpi_d", "gmx", "mdrun_mpi")
FIGURE = "rate"
PARAMS = (
    ParamSpec("input", "str", "", "The .tpr file, a path from / that all nodes have (gmx grompp makes it)."),
    ParamSpec("steps", "int", "1", "Steps of time.", 2000, 100, 10**9),
    ParamSpec("threads", "int", "1", "OpenMP threads of each rank (-ntomp).", 1, 1, 4096),
)

LOG = "md.log"
NANOSECONDS_A_DAY = 1e-9 / 86400
"""GROMACS' unit, in seconds of simulated time a second."""

_RATE = re.compile(r"^Performance:\s+(\S+)\s+(\S+)", re.MULTILINE)
_TIME = re.compile(r"^\s*Time:\s+\S+\s+(\S+)", re.MULTILINE)
_VERSION = re.compile(r"GROMACS(?: - [^,\n]*,| version:)\s+(\S+)")
_FINISHED = "Finished mdrun"


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """Half the steps are for load balancing, and not counted (-resethway)."""
    given = params["input"]
    if not isinstance(given, str) or not given.startswith("/"):
        raise UsageError(
            f"input = {given!r} is no path from /: mdrun runs in a folder of its own on the nodes",
            "give --input /path/to/topol.tpr",
        )
    words = [program, *(["mdrun"] if not program.rpartition("/")[2].startswith("mdrun") else [])]
    words += ["-s", given, "-nsteps", str(params["steps"]), "-ntomp", str(params["threads"])]
    words += ["-g", LOG, "-noconfout", "-resethway"]
    mpi = "mpi" in program.rpartition("/")[2]
    return Job(tuple(words if mpi else [*words, "-ntmpi", str(ranks)]), mpi=mpi, outputs=(LOG,))


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """The log's last table."""
    text = files.get(LOG) or stdout
    rate, time, version = _RATE.search(text), _TIME.search(text), _VERSION.search(text)
    facts: dict[str, str | float] = {"version": version[1]} if version else {}
    value = number(rate[1]) if rate else None
    if value is not None:
        facts["ns/day"] = value
    figures = [
        Figure("rate", "1", None, "higher", f"{LOG} has no line of performance")
        if value is None
        else Figure("rate", "1", value * NANOSECONDS_A_DAY, "higher")
    ]
    seconds = number(time[1]) if time else None
    if seconds is not None:
        figures.append(Figure("loop", "s", seconds, "lower"))
    finished = _FINISHED in text
    return OutputReading(
        tuple(figures), (Check("end", finished, f"mdrun {'' if finished else 'not '}finished"),), facts
    )
