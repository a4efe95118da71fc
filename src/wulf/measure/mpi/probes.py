"""MPI's probes: what wulf-mpi can do, kept as data, and what its records are about.

wulf-mpi is built with each cluster's own MPI, so that there is none to ask on the machine that wulf runs on: its
--describe is committed (`tools/mpi_probes.py` writes it anew).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from wulf import __version__
from wulf.measure.engine.probes import MPI, Pattern, Probe

if TYPE_CHECKING:
    from wulf.core.records import Param, Record

DATA = "probes.json"

SHARED, BLOCKS, EACH = "shared", "blocks", "each"
"""All replicates within one launch, or those of a block, or each in a launch of its own."""

LAUNCHES = (SHARED, BLOCKS, EACH)

LINPACK = "linpack"

LEAST_RATE = 5e7
"""flop/s of a rank of which nobody would wait for the end: a tenth of what a CPU of the year 2000 did."""


@lru_cache(maxsize=1)
def mpi_probe() -> Probe:
    """What wulf-mpi can do."""
    return Probe.from_describe({"version": __version__, **described()})


def described() -> dict[str, Any]:
    """What `probes.json` holds."""
    content: dict[str, Any] = json.loads((files("wulf.measure.mpi") / DATA).read_text(encoding="utf-8"))
    return content


def kept(described: Mapping[str, Any]) -> dict[str, Any]:
    """Of a --describe what does not depend on the MPI and the version: what `probes.json` holds."""
    return {"program": described["program"], "probes": described["probes"]}


def ends_of(pattern: Pattern, params: Mapping[str, Param], ranks: int) -> tuple[int, int] | None:
    """The two ranks between which a probe measures; None where it measures all.

    Raises
    ------
    IndexError
        A rank was asked for that there is not; its text names it.
    """
    if not {"a", "b"} <= {spec.name for spec in pattern.params} or int(params.get("pairs") or 1) > 1:
        return None
    a, b = params.get("a"), params.get("b")
    ends = (0 if a is None else int(a), ranks - 1 if b is None else int(b))
    if max(ends) >= ranks:
        raise IndexError(f"rank {max(ends)} is asked for, and there are {ranks}: 0 to {ranks - 1}")
    return ends


def work_seconds(name: str, params: Mapping[str, Param], ranks: int) -> float:
    """How long a replicate may take whose length follows from its parameters rather than from `seconds`; else 0."""
    if name != LINPACK:
        return 0.0
    n = params.get("n")
    if n is None:
        n = next(spec.default for spec in mpi_probe().pattern(LINPACK).params if spec.name == "n")
    return 2 / 3 * float(n or 0) ** 3 / (LEAST_RATE * ranks)


def subject_of(pattern: Pattern, params: Mapping[str, Param], places: Sequence[str]) -> str:
    """What a record is about: `n1>n2` for two ranks, `n[1-4]` for the nodes of more.

    Parameters
    ----------
    places
        The node of every rank.
    """
    ends = ends_of(pattern, params, len(places))
    if ends is None and len(places) == 2:
        ends = (0, 1)
    if ends is not None:
        return f"{places[ends[0]]}>{places[ends[1]]}"
    wanted = params.get("ranks")
    return folded(places[: int(wanted)] if wanted else places)


def folded(names: Sequence[str]) -> str:
    """Nodes as one name: `n[1-4]`."""
    from ClusterShell.NodeSet import NodeSet

    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else str(NodeSet.fromlist(unique))


def is_mpi(record: Record) -> bool:
    """Whether MPI carried what was measured."""
    return record.probe == MPI


def carrier(record: Record) -> str:
    """What carried the messages: the transport, or MPI; empty where nothing did."""
    return MPI if is_mpi(record) else str(record.params.get("transport") or "")
