"""What the agent does on request: one function an operation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from wulf import __version__
from wulf.agent import facts, settings
from wulf.agent.blas import dgemm
from wulf.agent.blas import find as blas
from wulf.agent.changes.operations import OPERATIONS as CHANGES
from wulf.agent.jobs.app import app_clear, app_counters, app_file, app_folder, app_outputs, app_run
from wulf.agent.jobs.build_tree import file_digest, tree_build
from wulf.agent.jobs.compilers import compiler_find
from wulf.agent.jobs.find import app_find
from wulf.agent.jobs.occupancy import occupancy
from wulf.agent.jobs.relay import relay, relayed
from wulf.agent.machine import Machine
from wulf.agent.mpi.build import mpi_build, mpi_key, mpi_progress
from wulf.agent.mpi.files import mpi_look, mpi_read, mpi_write
from wulf.agent.mpi.find import mpi_find
from wulf.agent.mpi.processes import mpi_processes, mpi_reach
from wulf.agent.mpi.profile import profile_fits, profile_read
from wulf.agent.mpi.trace import trace_look, trace_read
from wulf.agent.mpi.wheel import mpi_install
from wulf.agent.net.traffic import sockets
from wulf.agent.session import PROTOCOL, Refused
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.session import Operation

PROGRAM = "wulf-agent"


def description() -> dict[str, Any]:
    """What `--describe` prints."""
    return {
        "program": PROGRAM,
        "version": __version__,
        "protocol": PROTOCOL,
        "ops": sorted(OPERATIONS),
        "probes": [dgemm.PROBE],
        "mechanisms": [mechanism.describe(name) for name, mechanism in settings.mechanisms().items()],
        "facts": [fact.describe() for fact in facts.all_facts()],
    }


def ping() -> dict[str, Any]:
    """{"op": "ping"}: nothing but the answer."""
    return {}


def describe() -> dict[str, Any]:
    """{"op": "describe"}: the program, its operations, and its facts with unit and help."""
    return {"describe": description()}


def read_facts(root: Any = "/", only: Any = None) -> dict[str, Any]:
    """{"op": "facts", "root": "/", "only": ["cpu", "nic.eth0"]}: the facts of this node or of a recorded tree."""
    if not isinstance(root, str) or not os.path.isdir(root):  # noqa: PTH112 - root may be anything
        raise Refused("bad-parameter", f"root must be a folder on this node, not {root!r}", "root")
    if only is not None:
        if not isinstance(only, list) or not all(isinstance(prefix, str) for prefix in only):
            raise Refused("bad-parameter", f"only must be a list of prefixes of facts, not {only!r}", "only")
        unknown = facts.unmatched(only)
        if unknown:
            raise Refused("bad-parameter", f"no fact lies under {', '.join(unknown)}; see describe", "only")
    with Machine(root) as machine:
        return {"facts": facts.read(machine, only)}


def addresses() -> dict[str, Any]:
    """{"op": "addresses"}: addresses of global scope, on interfaces that are up."""
    with Machine() as machine:
        try:
            return {"addresses": machine.ask("addresses")}
        except Unknown as unknown:
            raise Refused("address", f"the node's addresses can't be read: {unknown.reason}") from unknown


def read_settings(read: Any, root: Any = "/") -> dict[str, Any]:
    """{"op": "settings", "read": [{"name", "mechanism", "target"}]}: what these settings are, by name and place."""
    if not isinstance(root, str) or not os.path.isdir(root):  # noqa: PTH112 - root may be anything
        raise Refused("bad-parameter", f"root must be a folder on this node, not {root!r}", "root")
    settings.check(read)
    with Machine(root) as machine:
        return {"settings": settings.read_all(machine, read)}


def run(probe: Any, params: Any = None) -> dict[str, Any]:
    """{"op": "run", "probe": "dgemm", "params": {"n": 1024}}: one replicate, as wulf-node's."""
    if probe != dgemm.PROBE["name"]:
        raise Refused("bad-parameter", f"there is no probe {probe!r}; known: {dgemm.PROBE['name']}", "probe")
    given = {} if params is None else params
    known = [param["name"] for param in dgemm.PROBE["params"]]
    if not isinstance(given, dict) or not set(given) <= set(known):
        raise Refused("bad-parameter", f"params must be an object with {', '.join(known)} alone", "params")
    return dgemm.dgemm(**given)


OPERATIONS: dict[str, Operation] = {
    "ping": ping,
    "describe": describe,
    "facts": read_facts,
    "settings": read_settings,
    "addresses": addresses,
    "occupancy": occupancy,
    "run": run,
    "blas_find": blas.blas_find,
    "compiler_find": compiler_find,
    "tree_build": tree_build,
    "file_digest": file_digest,
    "mpi_find": mpi_find,
    "mpi_key": mpi_key,
    "mpi_build": mpi_build,
    "mpi_progress": mpi_progress,
    "mpi_look": mpi_look,
    "mpi_read": mpi_read,
    "mpi_write": mpi_write,
    "mpi_processes": mpi_processes,
    "mpi_reach": mpi_reach,
    "mpi_install": mpi_install,
    "profile_read": profile_read,
    "profile_fits": profile_fits,
    "trace_look": trace_look,
    "trace_read": trace_read,
    "app_find": app_find,
    "app_folder": app_folder,
    "app_file": app_file,
    "app_run": app_run,
    "app_outputs": app_outputs,
    "app_counters": app_counters,
    "app_clear": app_clear,
    "sockets": sockets,
    "relay": relay,
    "relayed": relayed,
    **CHANGES,
}
