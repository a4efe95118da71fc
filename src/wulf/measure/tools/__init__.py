"""The tools whose loops wulf repeats (`--as`): every module of this package holds one of them.

Its loops over sockets stand in `LOOPS`, those over MPI in `MPI_LOOPS`. A new tool is a new module, found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING

from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.measure.tool import Loop


def _all(attribute: str) -> tuple[Loop, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(loop for module in modules for loop in getattr(module, attribute, ()))


@lru_cache(maxsize=1)
def loops() -> tuple[Loop, ...]:
    """Every loop over sockets of every tool."""
    return _all("LOOPS")


@lru_cache(maxsize=1)
def mpi_loops() -> tuple[Loop, ...]:
    """Every loop over MPI of every tool."""
    return _all("MPI_LOOPS")


MPI = tuple(sorted({loop.tool for loop in mpi_loops()} - {loop.tool for loop in loops()}))
"""Tools whose loops are MPI's own: no probe of sockets repeats them."""


def tools() -> list[str]:
    """The names that `--as` takes, those that are refused with a reason included."""
    return [*dict.fromkeys(loop.tool for loop in loops()), *MPI]


def find(tool: str, pattern: str, transport: str | None) -> Loop:
    """The tool's loop under a command; over its own transport where none is given.

    Raises
    ------
    UsageError
        It needs MPI, or has no such loop; says where the tool is found.
    """
    if tool in MPI:
        others = ", ".join(name for name in tools() if name not in MPI)
        raise UsageError(
            f"{tool} measures MPI, not sockets: `wulf mpi pingpong … --as {tool}`", f"over sockets there are: {others}"
        )
    of_tool = [loop for loop in loops() if loop.tool == tool]
    for loop in of_tool:
        if loop.pattern == pattern and transport in (None, loop.transport):
            return loop
    over = f" over {transport}" if transport else ""
    places = ", ".join(f"`wulf net {loop.pattern} … --transport {loop.transport} --as {tool}`" for loop in of_tool)
    raise UsageError(f"{tool} has no {pattern}{over}", f"there is {places.replace(' --transport tcp', '')}")


def mpi_tools() -> list[str]:
    """The names that `--as` takes of a probe of MPI."""
    return list(dict.fromkeys(loop.tool for loop in mpi_loops()))


def find_mpi(tool: str, probe: str, *, both: bool = False) -> Loop:
    """The tool's loop over MPI that does what a probe does; `both`: of a stream, that of both ways at once.

    Raises
    ------
    UsageError
        It has no such loop; says which it has.
    """
    of_tool = [loop for loop in mpi_loops() if loop.tool == tool]
    for loop in of_tool:
        if loop.pattern == probe and bool(loop.options.get("both", False)) == both:
            return loop
    places = ", ".join(
        f"`wulf mpi {loop.pattern} …{' --both' if loop.options.get('both') else ''} --as {tool}`" for loop in of_tool
    )
    raise UsageError(f"{tool} has no {probe}{' both ways' if both else ''} over MPI", f"there is {places}")
