"""`wulf mpi list`: which MPIs the nodes have, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import Installed, find_mpis
from wulf.measure.mpi.probes import folded

Found = Mapping[str, Sequence[Installed]]
"""Node → its MPIs, its own choice first."""


@dataclass(frozen=True)
class Row:
    """An MPI, and the nodes that have exactly this one."""

    nodes: tuple[str, ...]
    mpi: Installed


def look(inventory: Inventory, wanted: str | None = None) -> dict[str, tuple[Installed, ...]]:
    """Ask every node.

    Raises
    ------
    NodeError
        A node can't be asked.
    """
    with access_to(inventory) as access:
        return find_mpis(access, wanted)


def rows(found: Found) -> list[Row]:
    """One row an MPI, the nodes that have it together; in the order in which the first of them names it."""
    nodes: dict[Installed, list[str]] = {}
    for node, mpis in found.items():
        for mpi in mpis:
            nodes.setdefault(mpi, []).append(node)
    return [Row(tuple(names), mpi) for mpi, names in nodes.items()]


def common(found: Found) -> list[Installed]:
    """The MPIs that every node has with the same version at the same place: ranks can run on all nodes with these."""
    offers = list(found.values())
    places = [{_identity(mpi) for mpi in mpis} for mpis in offers]
    return [mpi for mpi in (offers[0] if offers else ()) if all(_identity(mpi) in had for had in places)]


def _identity(mpi: Installed) -> tuple[str, str, str]:
    return mpi.kind, mpi.version, mpi.prefix


def mismatches(found: Found) -> list[str]:
    """A line for each kind of MPI that is not the same on all nodes: who has which, and who has none."""
    shared = {mpi.kind for mpi in common(found)}
    kinds = dict.fromkeys(mpi.kind for mpis in found.values() for mpi in mpis)
    return [_differs(kind, found) for kind in kinds if kind not in shared] or _without(found)


def _differs(kind: str, found: Found) -> str:
    groups: dict[str, list[str]] = {}
    for node, mpis in found.items():
        own = " and ".join(f"{mpi.title} ({mpi.prefix})" for mpi in mpis if mpi.kind == kind)
        groups.setdefault(own or f"no {kind}", []).append(node)
    said = "; ".join(f"{folded(nodes)} {'has' if len(nodes) == 1 else 'have'} {text}" for text, nodes in groups.items())
    return f"{kind} is not the same everywhere: {said}"


def _without(found: Found) -> list[str]:
    lacking = [node for node, mpis in found.items() if not mpis]
    verb = "has" if len(lacking) == 1 else "have"
    return [f"{folded(lacking)} {verb} no MPI"] if lacking else []


def to_json(found: Found) -> list[dict[str, Any]]:
    """One object a node."""
    return [{"node": node, "mpis": [asdict(mpi) for mpi in mpis]} for node, mpis in found.items()]
