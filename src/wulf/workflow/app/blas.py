"""`wulf app blas`: every BLAS of the nodes, by the product that HPL spends its time in, for several NB.

All CPUs multiply at once, a process of one thread on each, as HPL's ranks do: what one core can do alone, a full node
does not, since clock and memory are shared. Libraries and NB are measured in turn, in random order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from wulf.cluster.access import Access
from wulf.core.errors import NodeError, UsageError
from wulf.core.records import Param
from wulf.measure.blas import Found, path_of
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import AGENT, NODE, Metric, Probe
from wulf.workflow.app.peaks import peak_cells
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Study

ROWS = 2000
"""Rows and columns of the product: most of a matrix's blocks are far from its end."""

BLOCKS = (64, 128, 192, 256)

SECONDS = 0.2
"""Of one replicate, about."""

FIND_TIMEOUT = 60.0

_METRIC = Metric("rate", "flop/s", "higher")


@dataclass(frozen=True)
class Wanted:
    """What to measure: m = n = `rows`, k each of `blocks`; `libraries` by path, none: all that a node has."""

    rows: int = ROWS
    blocks: Sequence[int] = BLOCKS
    libraries: Sequence[str] = ()
    seconds: float = SECONDS


class CompareBlas(Study):
    """Every library of every node with every NB, until the intervals are narrow enough.

    Raises
    ------
    UsageError
        No node has a BLAS, or none has the one that was named.
    """

    programs = (NODE, AGENT)

    def __init__(self, given: Conditions, wanted: Wanted) -> None:
        super().__init__(given)
        self._wanted = wanted
        self.found: Found = {}

    def attach(self, connected: Connected, access: Access) -> AbstractContextManager[None]:
        """Nothing more; the nodes' libraries are found."""
        self.given.watch.say("looking for BLAS libraries")
        self.found = libraries_of(access, self._wanted.libraries)
        return super().attach(connected, access)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The products, and the peak beside them."""
        made = list(_cells(connected, self.found, self._wanted))
        return [*made, *peak_cells(connected, self.beside, list(connected.sessions), len(made))]


def libraries_of(access: Access, only: Sequence[str] = ()) -> Found:
    """The BLAS libraries of each node that answers.

    Raises
    ------
    UsageError
        There is none, or a named one is nowhere.
    """
    with access.agents() as opened:
        if not opened.sessions:
            raise next(iter(opened.failed.values()), NodeError("", "no node answered"))
        asked = {node: agent.call("blas_find", also=list(only)) for node, agent in opened.sessions.items()}
        answers = {node: future.result(FIND_TIMEOUT) for node, future in asked.items()}
    found: dict[str, dict[str, Mapping[str, str]]] = {}
    for node, answer in answers.items():
        all_of_them = {library["path"]: library["choose"] for library in answer["libraries"]}
        named = [path for wanted in only if (path := path_of(wanted, answer))]
        found[node] = {path: all_of_them.get(path, {"LD_PRELOAD": path}) for path in named} if only else all_of_them
    if not any(found.values()):
        what = f"no node has {' or '.join(only)}" if only else "no node has a BLAS library that wulf finds"
        raise UsageError(what, "install one (Debian: libopenblas0, libblis4, libatlas3-base), or name one by --library")
    return found


def _cells(connected: Connected, found: Found, wanted: Wanted) -> Iterator[Cell]:
    number = 0
    for node in connected.others.get(AGENT, {}):
        for path in found.get(node, {}):
            for block in wanted.blocks:
                params: dict[str, Param] = {
                    "m": wanted.rows, "n": wanted.rows, "k": block, "update": True, "library": path,
                    "processes": 0, "threads": 0, "seconds": wanted.seconds,
                }  # fmt: skip
                yield Cell(
                    number, node, node, "", "dgemm", params, (_METRIC,), "blas", program=AGENT, patience=PATIENCE
                )
                number += 1


PATIENCE = 120.0
"""Seconds beyond the measuring: a reference BLAS takes long for the first product, which warms up."""
