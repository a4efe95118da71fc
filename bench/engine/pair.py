"""Two nodes of a lab, and programs on them, pinned to CPUs."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bench.engine.session import Session
from wulf import lab as labs
from wulf.cluster.programs import find_program

HERE = Path(__file__).parent
CLIENT, SERVER = "n1", "n2"


@dataclass(frozen=True)
class Placement:
    """Which CPU each end is pinned to."""

    name: str
    client: int
    server: int


def placements() -> list[Placement]:
    """Both ends on one CPU; and on two, where this process may use two."""
    first, *others = sorted(os.sched_getaffinity(0))
    both = [Placement("1 CPU", first, first)]
    return both + [Placement("2 CPUs", first, other) for other in others[:1]]


class Pair:
    """A lab of two nodes. As a context manager, the lab and all that runs in it are gone at the end.

    Attributes
    ----------
    address
        Of the server's node.
    backend
        The lab's: "netns", or "loopback" where this machine allows no namespaces.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._helpers: dict[str, Session] = {}
        self._probes: dict[tuple[str, int, bool], Session] = {}
        self._servers: dict[tuple[str, str, int], int] = {}
        self._key = secrets.token_hex(16)
        self._program = find_program("wulf-net").path
        self._lab = self._stack.enter_context(labs.up(2, keep=False))
        self._addresses = {node.name: node.address for node in self._lab.nodes}
        self.address = self._addresses[SERVER]
        self.backend = self._lab.backend

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ask(self, node: str, op: str, **fields: Any) -> dict[str, Any]:
        """A request to the helper (inside.py) on a node."""
        if node not in self._helpers:
            self._helpers[node] = self._session(node, [sys.executable, "-I", "-S", str(HERE / "inside.py")])
        return self._helpers[node].request(op, **fields)

    def exchange(
        self, placement: Placement, server: Sequence[str], client: Sequence[str], listening: tuple[str, int]
    ) -> str:
        """Run a peer: its server on one node, killed at the end, and its client on the other. The client's output.

        Parameters
        ----------
        listening
            Protocol and port by which the server is known to be ready.
        """
        pid = self.ask(SERVER, "start", argv=_pinned(placement.server, server))["pid"]
        try:
            self.ask(SERVER, "listening", protocol=listening[0], port=listening[1], seconds=10)
            answer = self.ask(CLIENT, "run", argv=_pinned(placement.client, client), seconds=30)
            return str(answer["output"])
        finally:
            self.ask(SERVER, "stop", pid=pid)

    def alone(self, placement: Placement, argv: Sequence[str]) -> str:
        """A program by itself on the client's node, pinned to its CPU: its output."""
        return str(self.ask(CLIENT, "run", argv=_pinned(placement.client, argv), seconds=30)["output"])

    def beside(self, placement: Placement, server: Sequence[str], client: Sequence[str], port: int) -> str:
        """As `exchange`, with both ends on the client's node; the server listens at a TCP port."""
        pid = self.ask(CLIENT, "start", argv=_pinned(placement.server, server))["pid"]
        try:
            self.ask(CLIENT, "listening", protocol="tcp", port=port, seconds=10)
            return self.alone(placement, client)
        finally:
            self.ask(CLIENT, "stop", pid=pid)

    def probe(self, node: str, cpu: int, *, serves: bool = False) -> Session:
        """wulf-net on a node, all of it pinned to a CPU; one session serves all replicates, another measures."""
        place = (node, cpu, serves)
        if place not in self._probes:
            self._probes[place] = self._session(node, _pinned(cpu, [str(self._program)]))
        return self._probes[place]

    def renew(self) -> None:
        """New probes from now on; those that there are end with the lab."""
        self._probes.clear()
        self._servers.clear()

    def wulf(self, placement: Placement, pattern: str, transport: str, **params: Any) -> dict[str, Any]:
        """One replicate of wulf-net: its answer."""
        return self._run(SERVER, placement, pattern, transport, params)

    def wulf_within(self, placement: Placement, pattern: str, transport: str, **params: Any) -> dict[str, Any]:
        """The same with both ends on the client's node."""
        return self._run(CLIENT, placement, pattern, transport, params)

    def _run(
        self, node: str, placement: Placement, pattern: str, transport: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        place = (transport, node, placement.server)
        address = self._addresses[node]
        if place not in self._servers:
            serving = self.probe(node, placement.server, serves=True)
            answer = serving.request("serve", transport=transport, address=address, key=self._key)
            self._servers[place] = answer["port"]
        return self.probe(CLIENT, placement.client).request(
            "run", pattern=pattern, transport=transport, address=address, port=self._servers[place],
            key=self._key, params=params,
        )  # fmt: skip

    def _session(self, node: str, command: Sequence[str]) -> Session:
        enter = [sys.executable, "-P", str(HERE / "enter.py"), self._lab.name, node]
        return self._stack.enter_context(Session([*enter, *command]))


def _pinned(cpu: int, command: Sequence[str]) -> list[str]:
    return ["taskset", "-c", str(cpu), *command]
