"""A simulated cluster in the place of a real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.store.run import RunWriter
from wulf.workflow.engine import connect as connecting
from wulf.workflow.engine.measuring import Effort, Outcome

QUICK = Effort(width=0.5, quick=True)


def simulator(monkeypatch: pytest.MonkeyPatch, folder: Path, measure: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Runs a workflow over simulated nodes: `run("n[1-4]", value=…, options={…})`."""
    monkeypatch.setattr(connecting, "find_program", lambda name: Program(name, Path(name), "0" * 64))
    monkeypatch.setattr(connecting, "agent_program", lambda: Program("wulf-agent", Path("x"), "0" * 64, python=True))

    def run(nodes: str = "n[1-4]", options: dict[str, Any] | None = None, **cluster: Any) -> Outcome:
        inventory = Inventory.from_nodeset(nodes, launcher="null")
        simulated = SimulatedCluster(inventory.names, **cluster)
        monkeypatch.setattr(connecting, "make_launcher", lambda i: NullLauncher(i, simulated))
        with RunWriter(folder / "run", "net", {"seed": 1, "nodes": list(inventory.names)}) as writer:
            return measure(inventory, QUICK, writer, 1, **(options or {}))

    return run
