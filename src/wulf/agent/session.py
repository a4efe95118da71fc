"""The session that every program on a node is: requests as JSON Lines on stdin, answers on stdout.

The contract stands in ARCHITECTURE.md. Requests run concurrently, each in a thread; the session ends when stdin closes.
"""

from __future__ import annotations

import inspect
import json
import os
import platform
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wulf import __version__

if TYPE_CHECKING:
    from typing import BinaryIO

PROTOCOL = 1
MAX_LINE = 1 << 20
"""Longest request in bytes."""
MAX_RUNNING = 32
"""Requests that may run at once."""
GRACE = 10.0
"""Seconds that requests under way may still take once stdin has closed: `echo '{...}' | wulf-agent` is answered, yet a
read that hangs in a driver keeps no process alive."""

Operation = Callable[..., "dict[str, Any]"]


class Refused(Exception):  # noqa: N818 - the contract's answer "ok": false, not a fault of the program
    """A request that is answered with an error.

    Parameters
    ----------
    code
        One of the contract's words: 'bad-parameter', 'unknown-op', ...
    message
        What is wrong, for a person.
    field
        The request's field at fault, if one is.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.answer = {"code": code, "message": message}
        if field is not None:
            self.answer["field"] = field


def run(program: str, operations: dict[str, Operation]) -> int:
    """Speak the session on stdin and stdout until stdin closes; returns the exit status."""
    # Nothing but answers may reach stdout: keep it to ourselves, and let a stray print go to stderr.
    answers = os.dup(1)
    os.dup2(2, 1)
    session = _Session(operations, answers)
    session.greet(program)
    session.serve(sys.stdin.buffer)
    return 0


class _Session:
    def __init__(self, operations: dict[str, Operation], descriptor: int) -> None:
        self._operations = operations
        self._descriptor = descriptor
        self._writing = threading.Lock()
        self._slots = threading.BoundedSemaphore(MAX_RUNNING)
        self._running: list[threading.Thread] = []

    def greet(self, program: str) -> None:
        self._write(
            {
                "hello": program,
                "version": __version__,
                "protocol": PROTOCOL,
                "host": socket.gethostname(),
                "arch": platform.machine(),
                "pid": os.getpid(),
            }
        )

    def serve(self, stream: BinaryIO) -> None:
        """Answer requests until the stream ends, then wait a little for those under way."""
        while True:
            line = stream.readline(MAX_LINE + 1)
            if not line:
                break
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                _skip_line(stream)
                self._refuse(None, Refused("limit", f"a request is longer than {MAX_LINE} bytes"))
            elif line.strip():
                self._accept(line)
        deadline = time.monotonic() + GRACE
        for thread in self._running:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _accept(self, line: bytes) -> None:
        """Check a request and start it."""
        identifier = None
        try:
            request = _parse(line)
            identifier = _identifier(request)
            operation, parameters = self._operation(request)
            if not self._slots.acquire(blocking=False):
                raise Refused("limit", f"{MAX_RUNNING} requests are under way already; wait for an answer")
        except Refused as refused:
            self._refuse(identifier, refused)
            return
        thread = threading.Thread(target=self._work, args=(identifier, operation, parameters), daemon=True)
        self._running = [other for other in self._running if other.is_alive()] + [thread]
        thread.start()

    def _operation(self, request: dict[str, Any]) -> tuple[Operation, dict[str, Any]]:
        name = request.get("op")
        if not isinstance(name, str):
            raise Refused("bad-parameter", "a request needs an 'op', a string", "op")
        if name not in self._operations:
            known = ", ".join(sorted(self._operations))
            raise Refused("unknown-op", f"there is no operation '{name}'; there are {known}", "op")
        operation = self._operations[name]
        parameters = {key: value for key, value in request.items() if key not in ("id", "op")}
        takes = inspect.signature(operation).parameters
        for key in parameters:
            if key not in takes:
                raise Refused("bad-parameter", f"'{name}' has no parameter '{key}'", key)
        return operation, parameters

    def _work(self, identifier: int, operation: Operation, parameters: dict[str, Any]) -> None:
        try:
            answer = {"id": identifier, "ok": True, **operation(**parameters)}
        except Refused as refused:
            answer = _refusal(identifier, refused)
        except Exception as error:  # noqa: BLE001 - every request gets its answer; stderr gets where it happened
            traceback.print_exc()
            answer = _refusal(identifier, Refused("internal", f"{type(error).__name__}: {error}"))
        self._slots.release()  # before the answer: who has it may send the next request
        self._write(answer)

    def _refuse(self, identifier: int | None, refused: Refused) -> None:
        self._write(_refusal(identifier, refused))

    def _write(self, answer: dict[str, Any]) -> None:
        line = memoryview(json.dumps(answer).encode() + b"\n")
        with self._writing:
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except BrokenPipeError:
                os._exit(0)  # nobody reads any more: the other end is gone, and stdin with it


def _refusal(identifier: int | None, refused: Refused) -> dict[str, Any]:
    return {"id": identifier, "ok": False, "error": refused.answer}


def _skip_line(stream: BinaryIO) -> None:
    while True:
        rest = stream.readline(MAX_LINE)
        if not rest or rest.endswith(b"\n"):
            return


def _parse(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused("bad-json", f"a request is one JSON object on a line: {error}") from None
    if not isinstance(request, dict):
        raise Refused("bad-json", f"a request is a JSON object, not {type(request).__name__}")
    return request


def _identifier(request: dict[str, Any]) -> int:
    identifier = request.get("id")
    if not isinstance(identifier, int) or isinstance(identifier, bool):
        raise Refused("bad-parameter", "a request needs an 'id', an integer", "id")
    return identifier
