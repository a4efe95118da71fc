"""The tools whose loops wulf repeats (`--as`): every module of this package holds one of them in `LOOPS`.

A new tool is a new module, found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from wulf.core.errors import UsageError
from wulf.measure.tool import Loop

MPI = ("imb", "osu5", "osu7")
"""Tools whose loops are MPI's own: no probe of sockets repeats them."""


@lru_cache(maxsize=1)
def loops() -> tuple[Loop, ...]:
    """Every loop of every tool."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(loop for name in names for loop in importlib.import_module(f"{__name__}.{name}").LOOPS)


def tools() -> list[str]:
    """The names that `--as` takes, those that are refused with a reason included."""
    return [*dict.fromkeys(loop.tool for loop in loops()), *MPI]


def over_mpi() -> list[str]:
    """The tools of which a loop is over MPI: what `wulf mpi … --as` takes."""
    return list(dict.fromkeys(loop.tool for loop in loops() if loop.transport == "mpi"))


def find(tool: str, pattern: str, transport: str | None) -> Loop:
    """The tool's loop under a command; over its own transport where none is given.

    Raises
    ------
    UsageError
        It needs MPI, or has no such loop; says where the tool is found.
    """
    if tool in MPI:
        others = ", ".join(name for name in tools() if name not in MPI)
        raise UsageError(f"--as {tool} needs MPI: comes with `wulf mpi`", f"over sockets there are: {others}")
    of_tool = [loop for loop in loops() if loop.tool == tool]
    for loop in of_tool:
        if loop.pattern == pattern and transport in (None, loop.transport):
            return loop
    over = f" over {transport}" if transport else ""
    places = ", ".join(f"`wulf net {loop.pattern} … --transport {loop.transport} --as {tool}`" for loop in of_tool)
    raise UsageError(f"{tool} has no {pattern}{over}", f"there is {places.replace(' --transport tcp', '')}")
