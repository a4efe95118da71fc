"""The ends of measurements: the sessions that cells are measured by, what they serve, which are gone and why."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, NoReturn, Protocol

from wulf.core.errors import NodeError
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NET
from wulf.measure.engine.starts import Start

PEER_GRACE = 2.0
"""Seconds in which a session whose client has lost it is known to have ended, too."""

ANSWER_GRACE = 15.0
"""Seconds that an answer may come later than its own measuring time and timeout before it counts as lost."""


class ProbeSession(Protocol):
    """What is needed of a session (`wulf.cluster.session.Session`)."""

    @property
    def alive(self) -> bool:
        """False once the program or the way to it is gone."""

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Send a request; the future fails with a NodeError."""


def no_second_session(node: str) -> NoReturn:
    """For callers that have none to offer."""
    raise NodeError(node, "no second session is at hand")


Where = tuple[str, str, bool, str]
"""A server: its node, transport, whether it is in the node's second session, and its address."""

Servers = dict[Where, dict[str, Any]]
"""What is served: address, port and key."""


class Ends:
    """Asks the ends of cells to measure them.

    Parameters
    ----------
    programs
        Program, as cells name it → node → open session.
    addresses
        Node → address that its servers bind to.
    second
        Node → another session of wulf-net there.
    servers
        What the nodes already serve; what is started is added.
    """

    def __init__(
        self,
        programs: Mapping[str, Mapping[str, ProbeSession]],
        addresses: Mapping[str, str],
        second: Callable[[str], ProbeSession],
        servers: Servers,
    ) -> None:
        self._programs = programs
        self._addresses = addresses
        self._second = second
        self._servers = servers
        self._lost: dict[tuple[str, str], str] = {}

    @property
    def lost(self) -> Mapping[str, str]:
        """Nodes on which a program died while they were measured, and how."""
        return {node: why for (_, node), why in self._lost.items()}

    def gone(self, cell: Cell) -> str:
        """Why a cell can't be measured any more: its program is gone on one of its nodes. Empty while it can.

        Other programs may still be there.
        """
        for node in dict.fromkeys((cell.client, cell.server)):
            session, key = self._programs.get(cell.program, {}).get(node), (cell.program, node)
            if key not in self._lost and (session is None or not session.alive):
                self._lost[key] = "it has no session" if session is None else _why_dead(node, session)
            if key in self._lost:
                return f"{node}: {self._lost[key]}"
        lacking = self._no_second(cell.server) if _alone(cell) else ""
        return f"{cell.server}: {lacking}" if lacking else ""

    def lacking(self, cell: Cell) -> str:
        """As `gone`, and if nothing is, have the server's node serve the cell's transport; why it can't, or empty.

        The key of what is served never leaves the two sessions.
        """
        gone = self.gone(cell)
        if gone or cell.program != NET or (where := self._where(cell)) in self._servers:
            return gone
        key = secrets.token_hex(16)
        address, session = where[-1], self._programs[NET][cell.server]
        serving = self._second(cell.server) if _alone(cell) else session
        future = serving.call("serve", transport=cell.transport, address=address, key=key)
        answer, error = self._await(future, session, NET, cell.server, ANSWER_GRACE)
        if answer is None:
            return f"{cell.server} can't serve {cell.transport} on {address}: {error['message']}"
        self._servers[where] = {"address": answer["address"], "port": answer["port"], "key": key}
        return ""

    def begin(self, cell: Cell, start: Start | None = None) -> Future[dict[str, Any]]:
        """Ask the cell's client for one replicate, from an agreed moment on where one is given."""
        params = dict(cell.params) if start is None else {**cell.params, "start_at": start.at}
        session = self._programs[cell.program][cell.client]
        if cell.program != NET:
            shares = {"set": {"name": cell.shares.name, "bytes": cell.shares.bytes}} if cell.shares else {}
            return session.call("run", probe=cell.pattern, params=params, **shares)
        served = self._servers[self._where(cell)]
        return session.call("run", pattern=cell.pattern, transport=cell.transport, **served, params=params)

    def answer(self, cell: Cell, future: Future[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, str]]:
        """What the cell's client answers, or None and why there is nothing: code and message."""
        patience = cell.seconds + float(cell.params.get("timeout") or 0.0) + ANSWER_GRACE + cell.patience
        session = self._programs[cell.program][cell.client]
        answer, error = self._await(future, session, cell.program, cell.client, patience)
        if error.get("code") == "peer-lost" and cell.program == NET and cell.client != cell.server:
            server = self._programs[NET][cell.server]
            until = time.monotonic() + PEER_GRACE
            while server.alive and time.monotonic() < until:
                time.sleep(0.02)
            if not server.alive:  # the other end knows why
                error["message"] += f"; {cell.server}: {_why_dead(cell.server, server)}"
        return answer, error

    def _await(
        self, future: Future[dict[str, Any]], session: ProbeSession, program: str, node: str, patience: float
    ) -> tuple[dict[str, Any] | None, dict[str, str]]:
        """The answer, or None and why there is none; a node whose session died is noted as lost."""
        try:
            return future.result(timeout=patience), {}
        except FutureTimeout:
            future.cancel()
            return None, {"code": "no-answer", "message": f"no answer from {node} within {patience:g} s"}
        except NodeError as error:
            if not session.alive:
                self._lost.setdefault((program, node), error.what.removeprefix(f"{node}: "))
            return None, {"code": getattr(error, "code", "lost"), "message": error.what}

    def _where(self, cell: Cell) -> Where:
        return cell.server, cell.transport, cell.client == cell.server, cell.address or self._addresses[cell.server]

    def _no_second(self, node: str) -> str:
        """Why a node that is measured with itself has no second session; empty where it has one."""
        try:
            session = self._second(node)
        except NodeError as error:
            return f"no second session could be opened there: {error.what.removeprefix(f'{node}: ')}"
        return "" if session.alive else f"its second session ended: {_why_dead(node, session)}"


def _alone(cell: Cell) -> bool:
    """Whether a node is measured with itself: each end is then a session of its own."""
    return cell.program == NET and cell.client == cell.server


def _why_dead(node: str, session: ProbeSession) -> str:
    """How the session ended, in its own words: whatever it is asked now fails with them."""
    try:
        session.call("ping").result(timeout=ANSWER_GRACE)
    except NodeError as error:
        return error.what.removeprefix(f"{node}: ")
    except FutureTimeout:
        pass
    return "its session ended"
