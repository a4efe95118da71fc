"""MPI's ranks without MPI: a world whose session answers from a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tests.unit.sessions import Answering
from wulf.cluster.access import Access
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError
from wulf.measure.mpi.probes import mpi_probe

Answer = Callable[[str, Mapping[str, Any], int], Any]
"""From probe, parameters and number of ranks to the primary metric's value, a whole answer, or an error to raise."""


class FakeSession(Answering):
    """Alive until the world says otherwise."""

    def __init__(self) -> None:
        super().__init__(lambda op, **_: {"ok": True} if self.alive else NodeError("n1", "rank 1 on n2 was killed"))


class FakeWorld:
    """Ranks on the nodes of an inventory."""

    def __init__(self, inventory: Inventory, spec: WorldSpec, answer: Answer) -> None:
        ranks = spec.ranks or spec.per_node * len(inventory.nodes)
        self.places = tuple(
            inventory.names[min(rank // spec.per_node, len(inventory.names) - 1)] for rank in range(ranks)
        )
        self.installed = SimpleNamespace(kind="openmpi", version="4.1.4", name="openmpi 4.1.4", title="Open MPI 4.1.4")
        self.notes = ("a note of the launch",)
        self.session = FakeSession()
        self.launches = 1
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.closed = 0
        self._answer = answer

    def run(self, probe: str, params: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        assert timeout > 0
        self.ran.append((probe, dict(params)))
        found = self._answer(probe, params, len(self.places))
        if isinstance(found, Exception):
            if not isinstance(found, RequestError):
                self.session.alive = False
            raise found
        if isinstance(found, dict):
            return found
        metric = mpi_probe().pattern(probe).metrics[0]
        return {"ok": True, "metrics": {metric.name: {"unit": metric.unit, "value": found, "n": 100}}, "info": {}}

    def relaunch(self) -> None:
        self.launches += 1
        self.session = FakeSession()

    def close(self) -> None:
        self.closed += 1
        self.session.alive = False


def launcher(answer: Answer, worlds: list[FakeWorld], error: Exception | None = None) -> Any:
    """What stands in the place of `open_world`."""

    @contextmanager
    def open_world(access: Access, spec: WorldSpec, say: Callable[[str], None]) -> Iterator[FakeWorld]:
        if error is not None:
            raise error
        worlds.append(FakeWorld(access.inventory, spec, answer))
        yield worlds[-1]

    return open_world
