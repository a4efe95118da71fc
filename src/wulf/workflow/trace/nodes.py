"""A program traced over nodes: the library brought to all of them, a folder on each, the ranks' files brought here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf.agent.mpi.trace import PART
from wulf.apps.ran import OK as WELL
from wulf.apps.ran import Ran
from wulf.cluster.access import access_to
from wulf.cluster.applications import open_applications
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi.building import WULF_TRACE
from wulf.cluster.mpi.installed import Installed
from wulf.cluster.mpi.opening import machines_of
from wulf.cluster.packed import decoded, unpacked
from wulf.cluster.session import Session
from wulf.core.errors import UsageError
from wulf.core.files import emptied
from wulf.core.units import show
from wulf.measure.engine.watcher import Watcher
from wulf.trace.errors import TraceError
from wulf.workflow.app.run import AppRequest
from wulf.workflow.impact.run import Ready, ready_of
from wulf.workflow.mpi.preloading import ASK_TIMEOUT, common_folder, handed_on, library_on, trouble_with
from wulf.workflow.trace.launch import variables
from wulf.workflow.trace.noise import recorded


@dataclass(frozen=True)
class OnNodes:
    """What became of the run; `trouble` is empty where it ended well."""

    command: str
    mpi: Installed
    seconds: float | None
    trouble: str
    notes: Sequence[str]
    noise: Mapping[str, Any] | None = None
    """What was taken from the ranks, and who was late for whom; None where nobody asked, or it is not known."""


def run_on_nodes(inventory: Inventory, application: AppRequest, into: Path, *, sites: bool, noise: bool = False,
                 watch: Watcher) -> OnNodes:  # fmt: skip
    """Run it once under the tracer, and put the ranks' files into a folder of this machine.

    Raises
    ------
    UsageError
        The program is not on the nodes, or is linked with another MPI than the one that starts it.
    NodeError
        A node is lost, or the library can't be built.
    TraceError
        The disk here is full.
    """
    with access_to(inventory) as access, open_applications(access, application.spec, watch.say) as apps:
        for error in apps.failed.values():
            raise error
        watch.say(f"looking for {application.name}")
        ready = ready_of(apps, application)
        mpi = ready.mpi or apps.mpi_for(None, application.spec)
        with access.every_agent(machines_of(inventory, inventory.names)) as agents:
            library = library_on(agents, mpi, watch.say, WULF_TRACE)
            trouble = trouble_with(agents, ready.program, library)
            if trouble:
                raise UsageError(f"{trouble}: it can't be traced", "name its own MPI with --mpi")
            watch.say(f"tracing with {mpi.title}")
            with recorded(access, machines_of(inventory, inventory.names), wanted=noise) as recorder:
                ran = Tracer(agents, library, sites=sites).run(ready, into, watch)
                taken = recorder.told(into)
    reason = "" if ran.verdict == WELL else ran.reason
    return OnNodes(ready.command, mpi, ran.seconds, reason, [*ready.notes, *ran.notes, *recorder.notes], taken)


class Tracer:
    """Runs an application with a library that all nodes have at one path.

    Parameters
    ----------
    agents
        Node → its agent.
    """

    def __init__(self, agents: Mapping[str, Session], library: str, *, sites: bool = False) -> None:
        self._agents, self._library, self._sites = agents, library, sites

    def run(self, ready: Ready, into: Path, watch: Watcher) -> Ran:
        """One run; what the nodes have of its trace is brought here, and gone there, however it ends."""
        with common_folder(list(self._agents.values()), "trace") as folder:
            needed = variables(self._library, folder, sites=self._sites)
            ran: Ran = ready.run(handed_on(needed))
            self.fetch(folder, into, watch)
        return ran

    def fetch(self, folder: str, into: Path, watch: Watcher) -> None:
        """Bring every rank's file here once: nodes that share a file system have the same ones."""
        found: dict[str, tuple[str, int]] = {}
        for node, agent in self._agents.items():
            for row in agent.request("trace_look", ASK_TIMEOUT, folder=folder)["files"]:
                if row["name"] not in found or found[row["name"]][1] < row["bytes"]:
                    found[row["name"]] = (node, int(row["bytes"]))
        for number, (name, (node, size)) in enumerate(sorted(found.items()), 1):
            watch.say(f"fetching {number} of {len(found)}: {show(size, 'B')} from {node}")
            self._bring(node, folder, name, into / name, size)

    def _bring(self, node: str, folder: str, name: str, target: Path, size: int) -> None:
        """A file of so many bytes, part by part: it may be larger than the memory here."""
        try:
            with emptied(target) as out:
                while out.tell() < size and (part := self._part(node, folder, name, out.tell())):
                    out.write(part)
        except OSError as error:
            raise TraceError(
                f"can't write {target}: {error.strerror}", "free some space, or choose another --out"
            ) from error

    def _part(self, node: str, folder: str, name: str, offset: int) -> bytes:
        answer = self._agents[node].request("trace_read", ASK_TIMEOUT, folder=folder, name=name, offset=offset)
        return unpacked(node, "trace_read", decoded(node, "trace_read", answer["data"]), PART)
