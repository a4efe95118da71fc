"""Applications on an inventory's nodes: found, started alone or as the ranks of an MPI, their answers brought back."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ClusterShell.NodeSet import NodeSet

from wulf.agent.counting import difference
from wulf.apps.driver import Job
from wulf.cluster.access import Access
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.mpi.building import fetch, send
from wulf.cluster.mpi.commands import Command, command
from wulf.cluster.mpi.installed import TITLES, Installed, NodeView, agree, in_common, look, prefixes_of
from wulf.cluster.mpi.opening import check_machines, is_local, machines_of, site_of, starter_of
from wulf.cluster.mpi.reach import check_reach
from wulf.cluster.mpi.spec import WorldSpec, layout
from wulf.cluster.session import Session
from wulf.core.errors import NodeError, UsageError

ASK_TIMEOUT = 30.0
FIND_TIMEOUT = 120.0
"""Seconds for a node to look through its folders: they may be on a slow file system."""

END_SECONDS = 60.0
"""Seconds that the end of an application may take beyond its own time: ranks on other nodes, files read back."""

PIECE = 1 << 17
"""Characters of a file that travel in one request, which may be 1 MiB long when all of them are escaped."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Executable:
    """A program on a node: how it was found, and what it is linked with (None: none, or not known).

    Attributes
    ----------
    blas
        Path of the BLAS that it loads by itself.
    """

    path: str
    where: str
    mpi: str | None
    blas: str | None = None


class Applications:
    """What runs applications on nodes whose agents are open.

    Attributes
    ----------
    nodes
        Names of those that answered, in the inventory's order.
    failed
        The others, and why.
    say
        Tells a person what is going on.
    """

    def __init__(
        self,
        inventory: Inventory,
        agents: Mapping[str, Session],
        failed: Mapping[str, NodeError],
        starter: Callable[[], Session] | None = None,
        say: Say = lambda _: None,
    ) -> None:
        self._inventory, self._agents, self.say = inventory, dict(agents), say
        self._starter = starter
        self._views: dict[tuple[str, ...], dict[str, NodeView]] = {}
        self._reached: set[tuple[str, ...]] = set()
        self.nodes = tuple(agents)
        self.failed = dict(failed)

    def alive(self, node: str) -> bool:
        """Whether a node's agent still answers."""
        return self._agents[node].alive

    def find(
        self, names: Sequence[str], nodes: Sequence[str] | None = None, failed: dict[str, NodeError] | None = None
    ) -> dict[str, dict[str, list[Executable]]]:
        """Node → program's name → its places there, the best first.

        Parameters
        ----------
        failed
            Takes the nodes that do not answer; without it the first of them ends the search.

        Raises
        ------
        NodeError
            A node does not answer, or not what it was asked.
        """
        asked = {node: self._agents[node].call("app_find", names=list(names)) for node in nodes or self.nodes}
        found = {}
        for node, future in asked.items():
            try:
                found[node] = _places(node, names, future)
            except NodeError as error:
                if failed is None:
                    raise
                failed[node] = error
        return found

    def ask(self, op: str, patience: float, nodes: Sequence[str] | None = None, **fields: Any) -> dict[str, Any]:
        """Node → its agent's answer; NodeError where one has none within `patience` seconds, or refuses."""
        asked = {node: self._agents[node].call(op, **fields) for node in nodes or self.nodes}
        answers = {}
        for node, future in asked.items():
            answers[node] = _answer(node, future, patience, op)
        return answers

    def bring(self, origin: str, path: str, digest: str) -> None:
        """Copy a program of one node to the same path on every other that has not the same one there."""
        others = [node for node in self.nodes if node != origin]
        if is_local(self._inventory) or not others:
            return
        found = self.ask("file_digest", ASK_TIMEOUT, nodes=others, path=path)
        lacking = [node for node in others if found[node]["digest"] != digest]
        if lacking:
            self.say(f"copying {path.rpartition('/')[2]} to {len(lacking)} nodes")
            data = fetch(self._agents[origin], path)
            for node in lacking:
                send(self._agents[node], path, data)

    def mpi_for(self, program: Executable | None, spec: WorldSpec) -> Installed:
        """The MPI whose launcher starts this program's ranks: as the user wants, or the one that it is linked with.

        Raises
        ------
        UsageError
            The nodes have none in common, or the one that the user wants is another than the program's.
        """
        views = self._looked(self._holders(layout(self._names, spec)), spec)
        linked = program.mpi if program is not None else None
        # libmpi.so.12 is the name that Intel's MPI and MPICH have in common
        kinds = () if linked is None else ("mpich", "intel") if linked == "mpich" else (linked,)
        if spec.mpi is None and kinds:
            offered = {mpi.kind for view in views.values() for mpi in view.mpis}
            return agree(views, next((kind for kind in kinds if kind in offered), linked))
        chosen = agree(views, spec.mpi)
        if program is not None and kinds and chosen.kind in TITLES and chosen.kind not in (*kinds, "other"):
            raise UsageError(
                f"{program.path} is linked with {TITLES[kinds[0]]}: {chosen.title}'s launcher would start every rank "
                "alone, each as rank 0 of 1",
                "leave --mpi out, or name a program that was built for it with --program",
            )
        return chosen

    def mpis(self, also: Sequence[str] = ()) -> tuple[Installed, ...]:
        """The MPIs that all nodes have in common, the first node's own choice first.

        Parameters
        ----------
        also
            Words for MPIs: those that are paths are looked into, too.
        """
        views = look(self._agents, [prefix for word in also for prefix in prefixes_of(word)])
        return in_common({node: view.mpis for node, view in views.items()})

    def alone(self, node: str, job: Job) -> dict[str, Any]:
        """Run a job once, on one node: the agent's answer, `counters` by node."""
        return self._run(self._agents[node], job, list(job.command), job.environment, [node])

    def ranks(self, job: Job, spec: WorldSpec, mpi: Installed) -> dict[str, Any]:
        """Run a job over the ranks that `spec` wants: the agent's answer, `counters` by node.

        Raises
        ------
        UsageError, NodeError
            The ranks can't be started on these nodes.
        """
        places = layout(self._names, spec)
        made = self.launch_words(job, spec, mpi)
        holders = self._holders(places)
        starter = self._starter() if spec.starter == "srun" and self._starter else self._agents[holders[0].name]
        return self._run(starter, job, list(made.argv), {}, [node.name for node in holders])

    def launch_words(self, job: Job, spec: WorldSpec, mpi: Installed) -> Command:
        """The whole command line that starts a job's ranks, and what the user should know about it."""
        places = layout(self._names, spec)
        holders = self._holders(places)
        names = tuple(node.name for node in holders)
        views = self._looked(holders, spec)
        if len(names) > 1 and spec.starter == "mpirun" and names not in self._reached:
            self.say("checking ssh between the nodes")
            check_reach(self._agents[names[0]], holders[1:])
            self._reached.add(names)
        site = site_of(self._inventory, self._agents, holders, views, places)
        return command(mpi, site, replace(spec, environment={**spec.environment, **job.environment}), *job.command)

    @property
    def _names(self) -> Sequence[str]:
        if not self.nodes:
            raise UsageError("no node answered: nothing can be run", "`wulf check` says what is wrong with them")
        return self.nodes

    def _holders(self, places: Sequence[str]) -> tuple[Node, ...]:
        """The nodes that have ranks."""
        return machines_of(self._inventory, places)

    def _looked(self, holders: Sequence[Node], spec: WorldSpec) -> dict[str, NodeView]:
        key = (*(node.name for node in holders), spec.mpi or "")
        if key not in self._views:
            agents = {node.name: self._agents[node.name] for node in holders}
            check_machines(agents)
            self._views[key] = look(agents, prefixes_of(spec.mpi))
        return self._views[key]

    def _run(
        self, starter: Session, job: Job, words: list[str], environment: Mapping[str, str], nodes: Sequence[str]
    ) -> dict[str, Any]:
        agents = {node: self._agents[node] for node in nodes}
        makers = [*agents.values(), *([starter] if starter not in agents.values() else [])]
        with _folder(makers, job) as folder:
            before = _counters(agents)
            asked = starter.call(
                "app_run", command=words, environment=dict(environment), timeout=job.timeout,
                folder=job.folder or folder,
            )  # fmt: skip
            try:
                answer = asked.result(job.timeout + END_SECONDS)
            except TimeoutError:
                what = f"{words[0]} neither ended nor could be ended within {job.timeout + END_SECONDS:g} s"
                raise NodeError(starter.node.name, what, "does a process hang there in the kernel (state D)?") from None
            after = _counters(agents)
            counted = {node: difference(before[node], after[node]) for node in before if node in after}
            files = self._agents[nodes[0]].request(
                "app_outputs", ASK_TIMEOUT, folder=job.folder or folder, outputs=list(job.outputs)
            )["files"]
            return {**answer, "counters": counted, "files": files}


@contextmanager
def _folder(agents: Sequence[Session], job: Job) -> Iterator[str]:
    """A folder of one name on all these nodes, with the job's files; gone afterwards."""
    name = f"run-{secrets.token_hex(8)}"
    first = agents[0].request("app_folder", ASK_TIMEOUT, name=name)
    folder = str(first["folder"])
    try:
        others = _all(agents[1:], "app_folder", name=name, place=first["place"])
        # where nodes share a file system, the first one's folder is there already
        fresh = [agents[0], *(agent for agent, made in zip(agents[1:], others, strict=True) if made["fresh"])]
        for file, text in job.files.items():
            for start in range(0, max(1, len(text)), PIECE):
                piece = text[start : start + PIECE]
                _all(fresh, "app_file", folder=folder, name=file, text=piece, append=start > 0)
        yield folder
    finally:
        with suppress(NodeError, TimeoutError):  # one that is gone takes its folder with its session
            _all([agent for agent in agents if agent.alive], "app_clear", folder=folder)


def _all(agents: Sequence[Session], op: str, **fields: Any) -> list[dict[str, Any]]:
    """Ask all of them at the same time."""
    return [future.result(ASK_TIMEOUT) for future in [agent.call(op, **fields) for agent in agents]]


def _counters(agents: Mapping[str, Session]) -> dict[str, dict[str, Any]]:
    """What the nodes count now; those that do not answer are left out, and fail where they are needed."""
    asked = {node: agent.call("app_counters") for node, agent in agents.items()}
    found = {}
    for node, future in asked.items():
        with suppress(NodeError, TimeoutError):
            found[node] = future.result(ASK_TIMEOUT)["counters"]
    return found


@contextmanager
def open_applications(access: Access, spec: WorldSpec, say: Say = lambda _: None) -> Iterator[Applications]:
    """Agents on every node; whatever they run ends with the context."""
    with starter_of(access, spec) as starter, access.agents() as opened, ExitStack() as also:
        first = access.inventory.nodes[0]
        there = cache(lambda: also.enter_context(starter.every_agent([first]))[first.name])
        yield Applications(access.inventory, opened.sessions, opened.failed, starter=there, say=say)


def _answer(node: str, future: Future[dict[str, Any]], patience: float, what: str) -> dict[str, Any]:
    """What a node says, within so many seconds."""
    try:
        return future.result(patience)
    except TimeoutError:
        raise NodeError(node, f"{what} did not end within {patience:g} s", "does a file system hang there?") from None


def _places(node: str, names: Sequence[str], answer: Future[dict[str, Any]]) -> dict[str, list[Executable]]:
    """A node's answer to where programs are."""
    programs = _answer(node, answer, FIND_TIMEOUT, f"the search for {', '.join(names)}")["programs"]
    if lacking := [name for name in names if name not in programs]:
        raise NodeError(node, f"was asked where {', '.join(lacking)} is, and does not say", "is its wulf another one?")
    return {name: [Executable(**row) for row in programs[name]] for name in names}


def common_program(
    found: Mapping[str, Mapping[str, Sequence[Executable]]], names: Sequence[str], what: str
) -> Executable:
    """The first of these programs that all nodes have at one place: ranks are started by one path.

    Raises
    ------
    UsageError
        There is none: says which nodes lack it.
    """
    for name in names:
        places = [{program.path for program in programs[name]} for programs in found.values()]
        for program in next(iter(found.values()))[name]:
            if all(program.path in paths for paths in places):
                return program
    lacking = [node for node, programs in found.items() if not any(programs[name] for name in names)]
    if lacking:
        raise UsageError(
            f"{NodeSet.fromlist(lacking)}: {what} is not there: {' or '.join(names)} is neither in the PATH, nor in a "
            "module's, Spack's or a package's folder",
            f"install it, or name it with --program /path/to/{names[0].partition(':')[0]}",
        )
    raise UsageError(
        f"{what} is on every node, but nowhere at the same path on all of them",
        "name a path that all have with --program, or nodes that are alike",
    )
