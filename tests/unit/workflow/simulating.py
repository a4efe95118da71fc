"""A simulated cluster in the place of a real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wulf.cluster import access
from wulf.cluster.inventory import Inventory
from wulf.cluster.launcher import Launcher
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.store.run import RunWriter
from wulf.workflow.engine import connect as connecting
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome, measure
from wulf.workflow.engine.study import Conditions, Study

QUICK = Effort(width=0.5, quick=True)


def reach(monkeypatch: pytest.MonkeyPatch, make: Callable[[Inventory], Launcher]) -> None:
    """Whatever connects does so by launchers that are made so; their programs have names alone."""
    monkeypatch.setattr(connecting, "find_program", lambda name: Program(name, Path(name), "0" * 64))
    monkeypatch.setattr(access, "agent_program", lambda: Program("wulf-agent", Path("x"), "0" * 64, python=True))
    monkeypatch.setattr(access, "make_launcher", make)


def simulator(
    monkeypatch: pytest.MonkeyPatch, folder: Path, study: Callable[..., Study] | None = None
) -> Callable[..., RunOutcome]:
    """Makes studies over simulated nodes: `run("n[1-4]", {an option of the study: …}, value=…)`.

    A run that is there goes on. Its page, which takes as long as all else, is made where `page` says so.
    """

    def run(
        nodes: str = "n[1-4]",
        options: dict[str, Any] | None = None,
        *,
        made: Callable[..., Study] | None = study,
        effort: Effort = QUICK,
        watch: Watcher = UNWATCHED,
        page: bool = False,
        **cluster: Any,
    ) -> RunOutcome:
        assert made is not None
        inventory = Inventory.from_nodeset(nodes, launcher="null")
        simulated = SimulatedCluster(inventory.names, **cluster)
        reach(monkeypatch, lambda i: NullLauncher(i, simulated))
        meta, there = {"seed": 1, "nodes": list(inventory.names)}, (folder / "run" / "run.json").exists()
        with RunWriter(folder / "run", "net", meta, resume=there) as writer:
            asked = made(Conditions(inventory, effort, writer, 1, watch), **(options or {}))
            asked.page = asked.page and page
            return measure(asked)

    return run
