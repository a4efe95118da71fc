"""The controller's end of a gateway: many programs' streams over one session of the agent there."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from wulf.cluster.channel import Exit, Listener
from wulf.cluster.session import Session
from wulf.cluster.ssh.words import SSH_FAILED
from wulf.core.errors import NodeError

BATCH = 1 << 18
"""Bytes of actions in one request, about: the agent takes a line of a MiB."""


class Gateway:
    """Starts programs on a gateway and carries their lines.

    One request for actions and one for events are under way at a time, so that neither is overtaken by its like.

    Parameters
    ----------
    session
        Of the agent on the gateway.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._numbers = itertools.count(1)
        self._listeners: dict[int, Listener] = {}
        self._waiting: list[list[Any]] = []
        self._sending = self._listening = False
        self._lock = threading.Lock()

    def channel(self, argv: Sequence[str], stdin: str | None = None) -> RelayedChannel:
        """A program that will run on the gateway.

        Parameters
        ----------
        stdin
            Name of a file in the gateway's cache for its standard input; None: what is sent.
        """
        return RelayedChannel(self, next(self._numbers), argv, stdin)

    def add(self, number: int, listener: Listener) -> None:
        """Tell a listener of a program from now on."""
        with self._lock:
            self._listeners[number] = listener
            begin, self._listening = not self._listening, True
        if begin:
            self._listen()

    def act(self, action: list[Any]) -> None:
        """Have the gateway do something, after all that it was told before."""
        with self._lock:
            self._waiting.append(action)
            if self._sending:
                return
            self._sending = True
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            size, count = 0, 0
            while count < len(self._waiting) and size < BATCH:
                size += len(json.dumps(self._waiting[count]))
                count += 1
            batch, self._waiting = self._waiting[:count], self._waiting[count:]
            self._sending = bool(batch)
        if batch:
            self.session.call("relay", actions=batch).add_done_callback(self._sent)

    def _sent(self, answer: Future[dict[str, Any]]) -> None:
        if (error := answer.exception()) is not None:
            self._lost(error)
        else:
            self._flush()

    def _listen(self) -> None:
        self.session.call("relayed").add_done_callback(self._heard)

    def _heard(self, answer: Future[dict[str, Any]]) -> None:
        if (error := answer.exception()) is not None:
            self._lost(error)
            return
        for name, number, *what in answer.result()["events"]:
            self._tell(name, number, what)
        with self._lock:
            self._listening = bool(self._listeners)
        if self._listening:
            self._listen()

    def _tell(self, name: str, number: int, what: list[Any]) -> None:
        with self._lock:
            listener = self._listeners.pop(number, None) if name == "end" else self._listeners.get(number)
        if listener is None:
            return
        if name == "line":
            listener.on_line(what[0].encode(), *what[1:])
        elif name == "stderr":
            listener.on_stderr(what[0])
        else:
            listener.on_close(Exit(*what))

    def _lost(self, error: BaseException) -> None:
        """The gateway is gone: so are all programs behind it, each told once."""
        with self._lock:
            listeners, self._listeners = self._listeners, {}
            self._waiting, self._sending, self._listening = [], False, False
        why = error.what if isinstance(error, NodeError) else str(error)
        for listener in listeners.values():
            listener.on_stderr(f"its gateway was lost: {why}")
            listener.on_close(Exit(status=SSH_FAILED))


class RelayedChannel:
    """A program on a gateway as a `wulf.cluster.channel.Channel`."""

    def __init__(self, gateway: Gateway, number: int, argv: Sequence[str], stdin: str | None) -> None:
        self._gateway = gateway
        self._number = number
        self._argv = list(argv)
        self._stdin = stdin

    def start(self, listener: Listener) -> None:
        self._gateway.add(self._number, listener)
        self._gateway.act(["spawn", self._number, self._argv, self._stdin])

    def send(self, line: bytes) -> None:
        self._gateway.act(["write", self._number, line.decode()])

    def close_input(self) -> None:
        self._gateway.act(["eof", self._number])

    def kill(self) -> None:
        self._gateway.act(["kill", self._number])
