"""`wulf app list`: which drivers' programs the nodes have, where, and for which MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.apps import drivers
from wulf.cluster.access import access_to
from wulf.cluster.applications import Executable, open_applications
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import WorldSpec
from wulf.core.errors import NodeError


@dataclass(frozen=True)
class DriverPlaces:
    """A driver on the nodes that have it at one place; without a program, on those that have none."""

    driver: str
    nodes: tuple[str, ...]
    program: Executable | None
    wanted: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """One object a row."""
        found = vars(self.program) if self.program else {"path": None, "reason": self.reason}
        return {"driver": self.driver, "nodes": list(self.nodes), **found}

    @property
    def reason(self) -> str:
        """Why there is no program."""
        names = " or ".join(self.wanted)
        return f"no {names} in the PATH, nor in a module's, Spack's or a package's folder"


def look(inventory: Inventory) -> tuple[list[DriverPlaces], dict[str, NodeError]]:
    """Ask every node for every driver's programs; nodes that can't be asked, and why."""
    names = sorted({name for driver in drivers().values() for name in driver.PROGRAMS})
    with access_to(inventory) as access, open_applications(access, WorldSpec()) as apps:
        failed = dict(apps.failed)
        found = apps.find(names, failed=failed) if apps.nodes else {}
        return rows({name: tuple(driver.PROGRAMS) for name, driver in drivers().items()}, found), failed


def rows(
    wanted: Mapping[str, Sequence[str]], found: Mapping[str, Mapping[str, Sequence[Executable]]]
) -> list[DriverPlaces]:  # fmt: skip
    """One row a driver and program, the nodes that have the same one together."""
    made = []
    for driver, names in wanted.items():
        groups: dict[Executable | None, list[str]] = {}
        for node, programs in found.items():
            best = next((places[0] for name in names if (places := programs.get(name, []))), None)
            groups.setdefault(best, []).append(node)
        made += [
            DriverPlaces(driver, tuple(nodes), program, tuple(names)) for program, nodes in groups.items() if names
        ]
    return made
