"""Scripts of mpi4py: one of ours that adds up over all ranks and checks the sum, or one of the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wulf.apps.driver import Check, Figure, Job, OutputReading
from wulf.core.errors import UsageError
from wulf.core.params import ParamSpec
from wulf.core.records import Param

NAME = "mpi4py"
HELP = "A script over mpi4py: time of an allreduce of Python objects, or what a script of yours prints after `time:`."
DOMAIN = "message passing"
PROGRAMS = ("python3:mpi4py",)
FIGURE = "time"
PARAMS = (
    ParamSpec("script", "str", "", "A script of yours, a path from / that all nodes have [one of wulf's]."),
    ParamSpec("count", "int", "1", "Numbers that wulf's script adds up in each call.", 1000, 1, 10**8),
    ParamSpec("calls", "int", "1", "Calls of wulf's script.", 200, 1, 10**8),
)

SCRIPT = "wulf_mpi4py.py"

TEXT = """\
import time
from mpi4py import MPI

world = MPI.COMM_WORLD
ranks, rank = world.Get_size(), world.Get_rank()
mine = [float(rank + i) for i in range({count})]
wanted = [sum(r + i for r in range(ranks)) for i in range({count})]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


world.allreduce(mine, op=add)
world.Barrier()
began = time.perf_counter()
for _ in range({calls}):
    found = world.allreduce(mine, op=add)
took = world.allreduce(time.perf_counter() - began, op=MPI.MAX)
right = world.allreduce(int(found == wanted), op=MPI.SUM)
if rank == 0:
    print("time:", took / {calls})
    print("right:", right, "of", ranks)
    print("mpi:", MPI.Get_library_version().splitlines()[0].split(",")[0])
"""

_TIME = re.compile(r"^time:\s+(\S+)", re.MULTILINE)
_RIGHT = re.compile(r"^right: (\d+) of (\d+)", re.MULTILINE)
_LIBRARY = re.compile(r"^mpi: (.+)", re.MULTILINE)


def job(program: str, params: Mapping[str, Param], ranks: int) -> Job:
    """The user's script as it is, or ours."""
    script = params["script"]
    if script is None:
        text = TEXT.format(count=params["count"], calls=params["calls"])
        return Job((program, SCRIPT), {SCRIPT: text}, mpi=True)
    if not isinstance(script, str) or not script.startswith("/"):
        raise UsageError(
            f"script = {script!r} is no path from /: it runs in a folder of its own on the nodes",
            "give --script /path/to/it.py, or `wulf app run --ranks N -- python3 …`",
        )
    return Job((program, script), mpi=True)


def read(stdout: str, files: Mapping[str, str]) -> OutputReading:
    """A line `time: seconds`; of our script also whether all ranks had the right sum."""
    time, right, library = (pattern.search(stdout) for pattern in (_TIME, _RIGHT, _LIBRARY))
    try:
        value = float(time[1]) if time else None
    except ValueError:
        value = None
    why = "" if value is not None else "its output has no line `time: seconds`"
    checks = (Check("sum", right[1] == right[2], f"right on {right[1]} of {right[2]} ranks"),) if right else ()
    return OutputReading((Figure("time", "s", value, "lower", why),), checks, {"mpi": library[1]} if library else {})
