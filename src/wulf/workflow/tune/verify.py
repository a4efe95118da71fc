"""`wulf tune verify`: after a restart, or any time: do the nodes have what a campaign kept?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import agent_program
from wulf.core.errors import FOUND, INCOMPLETE, OK, NodeError, UsageError
from wulf.tune.kept import Kept, members
from wulf.tune.setting import Setting
from wulf.tune.verifying import Checked, State, requests, verified

if TYPE_CHECKING:
    from wulf.cluster.inventory import Inventory
    from wulf.cluster.launcher import Launcher

PATIENCE = 60.0
"""Seconds for all nodes together; one that hangs must not hold the others up for ever."""


@dataclass
class Verified:
    """What the nodes have."""

    checked: list[Checked] = field(default_factory=list)
    failed: dict[str, NodeError] = field(default_factory=dict)
    """Node → why it could not be asked."""

    @property
    def exit_code(self) -> int:
        """1 where something kept is not there, 3 where something could not be seen."""
        states = {each.state for each in self.checked}
        if State.DIFFERS in states:
            return FOUND
        return INCOMPLETE if self.failed or State.UNREADABLE in states else OK


def nodes_of(kept: Sequence[Kept]) -> str:
    """All nodes of a campaign, as one node set; empty where none are named."""
    from ClusterShell.NodeSet import NodeSet

    return str(NodeSet.fromlist(sorted(set().union(*members(kept).values()))))


def verify(
    inventory: Inventory,
    kept: Sequence[Kept],
    catalogue: Mapping[str, Setting],
    launch: Callable[[Inventory], Launcher] = make_launcher,
) -> Verified:
    """Ask every node; nothing is changed.

    Raises
    ------
    UsageError
        The catalogue lacks a setting that was kept.
    """
    unknown = sorted({each.name for each in kept} - set(catalogue))
    if unknown:
        raise UsageError(f"the catalogue has no setting {', '.join(unknown)}", "verify with the wulf that tuned")
    found, of_set = Verified(), {nodes: set(names) for nodes, names in members(kept).items()}
    with launch(inventory) as launcher:
        opened = launcher.open(inventory.nodes, agent_program())
        found.failed = dict(opened.failed)
        read = requests(kept, catalogue)
        asked = {node: session.call("settings", read=read) for node, session in opened.sessions.items()}
        until = time.monotonic() + PATIENCE
        for node, future in asked.items():
            its = [each for each in kept if not each.nodes or node in of_set[each.nodes]]
            try:
                answer = future.result(timeout=max(0.0, until - time.monotonic()))
            except FutureTimeout:
                found.failed[node] = NodeError(node, f"no answer within {PATIENCE:g} s", "is a file system hanging?")
            except NodeError as error:
                found.failed[node] = error
            else:
                found.checked += verified(node, its, answer["settings"], catalogue)
    return found
