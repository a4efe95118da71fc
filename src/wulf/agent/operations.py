"""What the agent does on request: one function an operation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from wulf import __version__
from wulf.agent import facts
from wulf.agent.dgemm import dgemm
from wulf.agent.machine import Machine
from wulf.agent.relay import relay, relayed
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


OPERATIONS: dict[str, Operation] = {
    "ping": ping,
    "describe": describe,
    "facts": read_facts,
    "addresses": addresses,
    "dgemm": dgemm,
    "relay": relay,
    "relayed": relayed,
}
