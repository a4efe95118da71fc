"""Which nodes are idle: by their load and who is logged in, or by Slurm's word."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from typing import Protocol

from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.core.errors import NodeError, UsageError
from wulf.sentry.draining import SlurmNode
from wulf.sentry.messages import incident_in
from wulf.sentry.plan import Idleness

PATIENCE = 20.0
"""Seconds for a node, or Slurm, to answer."""

BATCH = 256
"""Nodes that are asked side by side: each is a connection that is open."""


class IdleNodes(Protocol):
    """Knows which nodes are idle.

    Attributes
    ----------
    unreached
        Node → why it could not be asked, of the last time.
    apart
        Nodes that are idle, and can't be measured together with others, as of the last time.
    """

    unreached: dict[str, str]
    apart: set[str]

    def of(self, nodes: Sequence[str]) -> set[str]:
        """Those of these that are idle now; one that can't be asked is not. Raises UsageError where none can."""


@dataclass
class ByLoad:
    """Implements `IdleNodes` by one request a node."""

    inventory: Inventory
    rule: Idleness
    unreached: dict[str, str] = field(default_factory=dict)
    apart: set[str] = field(default_factory=set)

    def of(self, nodes: Sequence[str]) -> set[str]:
        self.unreached = {}
        found: set[str] = set()
        for start in range(0, len(nodes), BATCH):
            found |= self._batch(nodes[start : start + BATCH])
        return found

    def _batch(self, names: Sequence[str]) -> set[str]:
        chosen = replace(self.inventory, nodes=self.inventory.pick(names))
        with access_to(chosen) as access, access.agents() as opened:
            self.unreached |= {name: error.what for name, error in opened.failed.items()}
            asked = {name: session.call("occupancy") for name, session in opened.sessions.items()}
            found = set()
            for name, future in asked.items():
                try:
                    said = future.result(PATIENCE)
                except (NodeError, FutureTimeout) as error:
                    self.unreached[name] = str(error) or f"no answer within {PATIENCE:g} s"
                    continue
                quiet = said["load"] / said["cpus"] <= self.rule.load
                if quiet and (self.rule.users or not said["users"]):
                    found.add(name)
        return found


@dataclass
class BySlurm:
    """Implements `IdleNodes` by sinfo: nodes without any job that take one, and those that we had drained ourselves.

    Those that Slurm can't reach are Slurm's to tell.

    Attributes
    ----------
    drained
        (Node, incident) that Slurm was asked to drain for.
    apart
        Nodes that we had drained, as of the last time: no job gets there, so they are measured without one.
    """

    drained: Callable[[], Collection[tuple[str, int]]]
    look: Callable[[], Mapping[str, SlurmNode]] = field(default_factory=lambda: slurm_nodes)
    apart: set[str] = field(default_factory=set)
    unreached: dict[str, str] = field(default_factory=dict)

    def of(self, nodes: Sequence[str]) -> set[str]:
        known, ours = self.look(), self.drained()
        self.apart = {
            name
            for name, node in known.items()
            if node.is_empty and (incident := incident_in(node.reason)) and (name, incident) in ours
        }
        return {name for name in nodes if (name in known and known[name].is_idle) or name in self.apart}


def slurm_nodes() -> Mapping[str, SlurmNode]:
    """All nodes as Slurm sees them.

    Raises
    ------
    UsageError
        There is no sinfo, or it does not answer.
    """
    found: dict[str, SlurmNode] = {}
    for line in asked("sinfo", "--noheader", "--Node", "--format=%N|%T|%E").splitlines():
        name, _, rest = line.partition("|")
        state, _, reason = rest.partition("|")
        found[name.strip()] = SlurmNode(name.strip(), state.strip(), "" if reason.strip() == "none" else reason.strip())
    return found


def asked(*words: str) -> str:
    """What a command of Slurm's says.

    Raises
    ------
    UsageError
        It is not there, does not answer, or refuses.
    """
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=PATIENCE,
            check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise UsageError(
            f"this machine has no {words[0]}", "run the sentry where Slurm's commands are (slurm-client)"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"{words[0]} did not answer within {PATIENCE:g} s", "is slurmctld up? scontrol ping"
        ) from error
    if done.returncode != 0:
        said = " / ".join(done.stderr.split("\n")[:3]).strip(" /")
        raise UsageError(f"{words[0]} refused: {said}", "scontrol ping says whether slurmctld is up")
    return done.stdout
