"""The profile of one run: libwulf-profile brought to the nodes, loaded into the ranks, and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from wulf.apps.ran import OK, Ran
from wulf.cluster.access import Access
from wulf.cluster.mpi.building import WULF_PROFILE
from wulf.cluster.mpi.installed import Installed
from wulf.cluster.mpi.opening import machines_of
from wulf.cluster.session import Session
from wulf.core.errors import NodeError, WulfError
from wulf.model.mpi_share import MpiShare, NoProfileError, mpi_share
from wulf.workflow.mpi.preloading import ask_all, common_folder, handed_on, library_on, trouble_with

FOLDER = "WULF_PROFILE"
"""The variable that names the folder for the ranks' profiles."""

Run = Callable[[Mapping[str, str]], Ran]
"""One run of the application, with these variables beside its own."""


@dataclass(frozen=True)
class Profiled:
    """What became of taking a profile: the share, or why there is none; `wall` is the whole run's seconds."""

    share: MpiShare | None
    reason: str = ""
    wall: float | None = None


Take = Callable[[Run], Profiled]
"""Runs the application once more under the profile."""


class Profiler:
    """Takes profiles with a library that all nodes have at one path.

    Parameters
    ----------
    agents
        Node → its agent.
    """

    def __init__(self, agents: Mapping[str, Session], library: str) -> None:
        self._agents, self._library = agents, library

    def __call__(self, run: Run) -> Profiled:
        """One run; whatever it leaves is gone afterwards."""
        agents = list(self._agents.values())
        with common_folder(agents, "profile") as folder:
            ran = run(handed_on({"LD_PRELOAD": self._library, FOLDER: folder}))
            try:
                found = ask_all(agents, "profile_read", folder=folder)
            except NodeError as error:
                return Profiled(None, f"its profiles can't be had: {error.what}")
        return _profiled(ran, found)


def _profiled(ran: Ran, found: Sequence[Mapping[str, Any]]) -> Profiled:
    if ran.verdict != OK:
        return Profiled(None, f"the run under the profile did not end well: {ran.reason}")
    torn = [text for answer in found for text in answer["torn"]]
    if torn:
        return Profiled(None, f"profiles can't be read: {'; '.join(torn)}")
    # nodes that share a file system have the same files
    unique = {int(one["rank"]): one for answer in found for one in answer["profiles"]}
    try:
        return Profiled(mpi_share(list(unique.values())), "", ran.seconds)
    except NoProfileError as error:
        return Profiled(None, str(error))


@contextmanager
def open_profiler(
    access: Access, mpi: Installed, program: str | None, say: Callable[[str], None] = lambda _: None
) -> Iterator[Take]:
    """Build the library with this MPI, bring it to every node; where that can't be, every profile says why.

    Parameters
    ----------
    program
        That the ranks run; None: not known, a command starts them by itself.
    """
    with ExitStack() as stack:
        try:
            agents = stack.enter_context(access.every_agent(machines_of(access.inventory, access.inventory.names)))
            library = library_on(agents, mpi, say, WULF_PROFILE)
            trouble = trouble_with(agents, program, library)
        except (WulfError, TimeoutError) as error:
            what = getattr(error, "what", "a node did not answer in time")
            yield lambda _run: Profiled(None, what)
            return
        if trouble:
            yield lambda _run: Profiled(None, trouble)
            return
        yield Profiler(agents, library)
