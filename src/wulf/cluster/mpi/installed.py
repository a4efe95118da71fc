"""Which MPIs the nodes have, and the one that all of them agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ClusterShell.NodeSet import NodeSet

from wulf.cluster.access import Access
from wulf.cluster.session import Session
from wulf.core.errors import NodeError, UsageError

FIND_TIMEOUT = 120.0
"""Seconds for a node to ask its launchers and compilers for their versions; each has 20 s there."""

TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "other": "an unknown MPI"}
"""Kind → what people call it."""

WHEEL = "wheel:"
"""Begins the name of an MPI that was installed from PyPI: "wheel:mpich"."""


@dataclass(frozen=True)
class Installed:
    """An MPI on a node.

    Parameters
    ----------
    kind
        openmpi, mpich, intel or other.
    version
        As its launcher says: "4.1.4"; empty where it does not.
    prefix
        The folder that has its bin/.
    mpirun, mpicxx
        Its launcher and its C++ compiler; no compiler: only its run-time part is there.
    compiler
        What the compiler calls itself: "g++ (Debian 12.2.0-14+deb12u1) 12.2.0".
    where
        How it was found: system, module, wheel, or given (by the user).
    device
        MPICH's way to the network: "ch4:ucx"; empty for others.
    """

    kind: str
    version: str
    prefix: str
    mpicxx: str | None
    mpirun: str
    compiler: str | None
    where: str
    device: str = ""

    @property
    def title(self) -> str:
        """For people: "Open MPI 4.1.4"."""
        return f"{TITLES.get(self.kind, self.kind)} {self.version}".strip()

    @property
    def name(self) -> str:
        """For records: "openmpi 4.1.4"."""
        return f"{self.kind} {self.version}".strip()

    def is_meant_by(self, wanted: str | None) -> bool:
        """Whether the user's word for an MPI means this one: a kind, "wheel:KIND", or the path of any of its parts."""
        if wanted is None:
            return True
        if wanted.startswith(WHEEL):
            return self.where == "wheel" and self.kind == wanted.removeprefix(WHEEL)
        if "/" not in wanted:
            return self.kind == wanted
        return wanted.rstrip("/") in (self.prefix, self.prefix + "/bin", self.mpirun, self.mpicxx)


@dataclass(frozen=True)
class NodeView:
    """What decides how ranks are started on a node.

    Parameters
    ----------
    mpis
        The MPIs there, the node's own choice first.
    places
        Folders for built programs, the best first.
    boot_id
        Of the machine: nodes with the same one share it, as a lab's do.
    host
        Its name as it knows it itself.
    cpus
        Logical CPUs that processes may use there.
    uid
        User number of whoever logs in; 0 = root.
    """

    mpis: tuple[Installed, ...]
    places: tuple[str, ...]
    boot_id: str
    host: str
    cpus: int
    uid: int

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> NodeView:
        """From the agent's answer to ``mpi_find``."""
        return cls(
            tuple(Installed(**row) for row in answer["mpis"]),
            tuple(answer["places"]),
            answer["boot_id"],
            answer["host"],
            answer["cpus"],
            answer["uid"],
        )


def look(sessions: Mapping[str, Session], prefixes: Sequence[str] = ()) -> dict[str, NodeView]:
    """Ask the agents, all at the same time.

    Parameters
    ----------
    prefixes
        Where else to look for an MPI on each node.

    Raises
    ------
    NodeError
        A node does not answer.
    """
    asked = {node: session.call("mpi_find", prefixes=list(prefixes)) for node, session in sessions.items()}
    views = {}
    for node, future in asked.items():
        try:
            views[node] = NodeView.of(future.result(FIND_TIMEOUT))
        except TimeoutError:
            what = f"the search for an MPI did not end within {FIND_TIMEOUT:g} s"
            raise NodeError(node, what, "does a file system hang there?") from None
    return views


def find_mpis(access: Access, wanted: str | None = None) -> dict[str, tuple[Installed, ...]]:
    """The MPIs of each node, its own choice first.

    Parameters
    ----------
    wanted
        A path where one may be that is not found by itself.

    Raises
    ------
    NodeError
        A node can't be asked.
    """
    with access.every_agent() as agents:
        return {node: view.mpis for node, view in look(agents, prefixes_of(wanted)).items()}


def prefixes_of(wanted: str | None) -> tuple[str, ...]:
    """The folders that a user's word for an MPI names: none where it is a kind."""
    if wanted is None or "/" not in wanted:
        return ()
    base, _, last = wanted.rstrip("/").rpartition("/")
    return (base,) if last.startswith("mpi") and base.endswith("/bin") else (wanted.rstrip("/"),)


def agree(views: Mapping[str, NodeView], wanted: str | None = None) -> Installed:
    """The MPI that all nodes have with the same version at the same place; the first node's choice among them.

    Raises
    ------
    UsageError
        There is none: says which node has what.
    """
    offers = {node: [mpi for mpi in view.mpis if mpi.is_meant_by(wanted)] for node, view in views.items()}
    shared = in_common(offers)
    if shared:
        return shared[0]
    nodes = list(offers)
    without = [node for node in nodes if not offers[node]]
    if without:
        raise _missing(without, wanted, views)
    raise UsageError(
        f"the nodes have different MPIs: {_inventory_of(offers)}",
        "ranks of one program need the same MPI everywhere: name nodes that have it, or install it on the others",
    )


def in_common(offers: Mapping[str, Sequence[Installed]]) -> tuple[Installed, ...]:
    """The MPIs that all nodes have with the same version at the same place, as the first one has them."""
    first, *others = offers.values()
    return tuple(mpi for mpi in first if all(any(_same(mpi, other) for other in there) for there in others))


def _same(a: Installed, b: Installed) -> bool:
    return (a.kind, a.version, a.prefix) == (b.kind, b.version, b.prefix)


def builder(views: Mapping[str, NodeView], chosen: Installed) -> tuple[str, Installed]:
    """The first node that has the chosen MPI's compiler, and the MPI as that node has it.

    Raises
    ------
    NodeError
        None has.
    """
    for node, view in views.items():
        for mpi in view.mpis:
            if _same(mpi, chosen) and mpi.mpicxx:
                return node, mpi
    first = next(iter(views))
    raise NodeError(
        first,
        f"{chosen.title} has no mpicxx there{' nor on any other node' if len(views) > 1 else ''}, "
        "so that wulf-mpi can't be built",
        "install its development package on one node (Debian: libopenmpi-dev or libmpich-dev; "
        "Fedora, RHEL: openmpi-devel or mpich-devel)",
    )


def _missing(without: Sequence[str], wanted: str | None, views: Mapping[str, NodeView]) -> UsageError:
    """No MPI of the kind that was asked for on some nodes."""
    kind = (wanted or "").removeprefix(WHEEL)
    what = f"no MPI from PyPI ({kind})" if (wanted or "").startswith(WHEEL) else f"no {TITLES.get(kind, kind or 'MPI')}"
    others = {node: list(view.mpis) for node, view in views.items() if view.mpis}
    has = f"; there is: {_inventory_of(others)}" if wanted and others else ""
    install = kind if kind in ("openmpi", "mpich") else "mpich"
    return UsageError(
        f"{NodeSet.fromlist(without)}: {what} is there{has}",
        "install one; or name its prefix with --mpi (`module show` tells it); "
        f"or have PyPI's: wulf mpi install {install}",
    )


def _inventory_of(offers: Mapping[str, Sequence[Installed]]) -> str:
    """Who has what, nodes that have the same together: ``n[1-2] have Open MPI 4.1.4 (/usr); n3 has none``."""
    groups: dict[str, list[str]] = {}
    for node, mpis in offers.items():
        text = " and ".join(f"{mpi.title} ({mpi.prefix})" for mpi in mpis) or "none"
        groups.setdefault(text, []).append(node)
    return "; ".join(
        f"{NodeSet.fromlist(nodes)} {'has' if len(nodes) == 1 else 'have'} {text}" for text, nodes in groups.items()
    )
