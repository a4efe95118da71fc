"""A library of ours loaded into the ranks of somebody's program: brought to the nodes, named to the ranks, and a folder
of one name on every node for what it leaves.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from wulf.cluster.mpi.building import BuildTarget, build, common_place, distribute
from wulf.cluster.mpi.installed import Installed, builder, look, prefixes_of
from wulf.cluster.session import Session
from wulf.core.errors import NodeError

ASK_TIMEOUT = 60.0


def ask_all(agents: Sequence[Session], op: str, **fields: Any) -> list[dict[str, Any]]:
    """The same of all agents at once; their answers."""
    return [future.result(ASK_TIMEOUT) for future in [agent.call(op, **fields) for agent in agents]]


@contextmanager
def common_folder(agents: Sequence[Session], what: str) -> Iterator[str]:
    """A new folder of one path on all nodes, gone at the end from those that are still there."""
    name = f"{what}-{secrets.token_hex(8)}"
    first, *others = agents
    made = first.request("app_folder", ASK_TIMEOUT, name=name)
    folder = str(made["folder"])
    try:
        ask_all(others, "app_folder", name=name, place=made["place"])
        yield folder
    finally:
        with suppress(NodeError, TimeoutError):
            ask_all([one for one in agents if one.alive], "app_clear", folder=folder)


def handed_on(variables: Mapping[str, str]) -> dict[str, str]:
    """An environment for ranks, also as Open MPI's mpirun wants to be told of it where a command calls that by itself:
    it gives ranks on other nodes nothing else.
    """
    listed = ";".join(f"{name}={value}" for name, value in variables.items())
    return {**variables, "OMPI_MCA_mca_base_env_list": listed}


def library_on(agents: Mapping[str, Session], mpi: Installed, say: Callable[[str], None], part: BuildTarget) -> str:
    """Build a library with this MPI on one node, bring it to all; its path, the same everywhere."""
    views = look(agents, prefixes_of(mpi.prefix))
    origin, chosen = builder(views, mpi)
    path, digest = build(agents[origin], chosen, common_place(views), say, part=part)
    distribute(agents, origin, path, digest, say)
    return path


def trouble_with(agents: Mapping[str, Session], program: str | None, library: str) -> str:
    """Why a library can't be loaded into a program's ranks; empty where it can, or where no program is known."""
    if program is None:
        return ""
    answer = next(iter(agents.values())).request("profile_fits", ASK_TIMEOUT, program=program, library=library)
    return str(answer["trouble"] or "")
