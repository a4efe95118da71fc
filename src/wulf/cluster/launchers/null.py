"""The null launcher: sessions with a simulated cluster, in this process. The template for new launchers.

To add one (Slurm, a container runtime, ...): copy this file under the launcher's name. It needs

1. a `Channel` (wulf.cluster.channel): how lines reach a program and come back. A launcher whose programs are processes
   of this machine, such as ssh or srun, needs none of its own: derive it from `ProcessLauncher`, as `local` does, and
   hand `launch` the command line;
2. a class derived from `Launcher` with `connect`, which starts the program on one node and waits until it has greeted;
3. the class under the name `LAUNCHER`, where `make_launcher` looks for it;
4. a line in tests/contract/, where one suite tells whether it keeps the contract.
"""

from __future__ import annotations

import json
import os
import platform
import threading
from typing import Any

from wulf.cluster.channel import Exit, Listener
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Launcher, Turn
from wulf.cluster.programs import Program
from wulf.cluster.session import PROTOCOL, Session
from wulf.cluster.simulated.cluster import Refusal, SimulatedCluster
from wulf.core.errors import NodeError


class NullChannel:
    """Lines to and from a simulated program.

    A channel calls its listener one call at a time; `_turn` sees to that here, where any thread may send. It is
    reentrant, since whoever is told of an answer may send the next request at once.
    """

    def __init__(self, cluster: SimulatedCluster, node: str, program: str) -> None:
        self._cluster = cluster
        self._node = node
        self._program = program
        self._turn = threading.RLock()
        self._listener: Listener | None = None

    def start(self, listener: Listener) -> None:
        self._listener = listener
        greeting = {
            "hello": self._program, "version": "0.1.0", "protocol": PROTOCOL,
            "host": self._node, "arch": platform.machine(), "pid": os.getpid(),
        }  # fmt: skip
        self._tell(greeting)

    def send(self, line: bytes) -> None:
        try:
            request = json.loads(line)
        except ValueError as error:
            self._refuse(None, "bad-json", str(error))
            return
        number, op = request.get("id"), request.get("op", "")
        fault = self._cluster.fault(self._node, op, self._program)
        if fault is None:
            self._answer(number, request)
        elif fault.kind == "die":
            self._end(Exit(signal=9))
        elif fault.kind == "error":
            self._refuse(number, fault.code, fault.message)
        elif fault.kind == "nonsense":
            self._tell({"id": number, "ok": True, **fault.answer})

    def close_input(self) -> None:
        self._end(Exit(status=0))

    def kill(self) -> None:
        self._end(Exit(signal=9))

    def _answer(self, number: Any, request: dict[str, Any]) -> None:
        try:
            answer = self._cluster.answer(self._node, self._program, request)
        except Refusal as refusal:
            self._tell({"id": number, "ok": False, "error": refusal.error})
        else:
            self._tell({"id": number, "ok": True, **answer})

    def _refuse(self, number: Any, code: str, message: str) -> None:
        self._tell({"id": number, "ok": False, "error": {"code": code, "message": message}})

    def _tell(self, message: dict[str, Any]) -> None:
        with self._turn:
            if self._listener is not None:
                self._listener.on_line(json.dumps(message).encode())

    def _end(self, end: Exit) -> None:
        """Once: a listener that has been told of the end hears nothing more."""
        with self._turn:
            listener, self._listener = self._listener, None
            if listener is not None:
                listener.on_close(end)


class NullLauncher(Launcher):
    """Opens the nodes of a simulated cluster.

    Parameters
    ----------
    cluster
        How it behaves; None: one that works, with the inventory's nodes.
    """

    def __init__(self, inventory: Inventory, cluster: SimulatedCluster | None = None) -> None:
        super().__init__(inventory)
        self.cluster = cluster or SimulatedCluster(inventory.names)

    def connect(self, node: Node, program: Program, turn: Turn) -> Session:
        if node.name in self.cluster.unreachable:
            # A failure is a NodeError that says why and what to do; `Launcher.open` keeps it from the other nodes.
            raise NodeError(node.name, self.cluster.unreachable[node.name], "take it out of `unreachable`")
        channel = NullChannel(self.cluster, node.name, program.speaker)
        # `greeted` waits for the program's first line, remembers the session for `close`, and ends it if the wait is
        # given up.
        return self.greeted(Session(node, program.speaker, channel), turn)


LAUNCHER = NullLauncher
