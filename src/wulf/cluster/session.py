"""One running program on one node: requests out, answers in, as ARCHITECTURE.md's session contract has them."""

from __future__ import annotations

import itertools
import json
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from wulf.cluster.answers import fault, greeting_fault
from wulf.cluster.channel import Channel, Exit
from wulf.cluster.inventory import Node
from wulf.core.errors import NodeError
from wulf.core.foreign import clean, parse

PROTOCOL = 1
"""Version of the session contract that this wulf speaks."""

ENDING = "ending"
"""Code of an error: the program's input is closed."""

MALFORMED = "malformed"
"""Code of an error: the program's answer breaks the contract."""

STDERR_KEPT = 60
"""Lines of standard error kept for the reason of a session's end."""

Explain = Callable[[Exit, Sequence[str], bool], tuple[str, str]]
"""Turns an exit, the last lines of standard error, and whether the program had greeted, into what happened and what to
do next."""

_log = logging.getLogger(__name__)


class SessionLost(NodeError):  # noqa: N818 - it says what happened, as the standard library does in KeyboardInterrupt
    """The program or the connection to it ended; ``end`` says how, ``stderr`` has its last lines."""

    def __init__(
        self, node: str, what: str, next_step: str = "", end: Exit | None = None, stderr: Sequence[str] = ()
    ) -> None:
        super().__init__(node, what, next_step)
        self.end = end or Exit()
        self.stderr = tuple(stderr)


class RequestError(NodeError):
    """The program refused a request or failed at it.

    Parameters
    ----------
    code
        The contract's word for the fault (``bad-parameter``, ``connect``, ``refused``, …); ``no-answer`` when the
        program said nothing in time, ``malformed`` when it said what nobody can use.
    field
        The parameter at fault, where there is one.
    """

    def __init__(self, node: str, op: str, code: str, message: str, field: str | None = None) -> None:
        super().__init__(node, f"{op}: {message} ({code}{f', {field}' if field else ''})")
        self.op = op
        self.code = code
        self.message = message
        self.field = field


LONGEST_ERROR = 4000
"""Letters of an error's words that are kept: a compiler's last ones have a third of it."""


def _words(said: Any) -> str:
    words = str(said)
    return words if len(words) <= LONGEST_ERROR else f"{words[:LONGEST_ERROR]}…"


def explain_exit(program: str) -> Explain:
    """The explanation for a program that this machine started itself."""

    def explain(end: Exit, stderr: Sequence[str], _greeted: bool) -> tuple[str, str]:
        return f"{program} ended unexpectedly: {end}{last_words(stderr)}", ""

    return explain


def last_words(stderr: Sequence[str]) -> str:
    """The last lines of standard error, as the end of a sentence; empty where there are none."""
    kept = [line.strip() for line in stderr if line.strip()][-3:]
    return f"; its last words: {' / '.join(kept)}" if kept else ""


class Session:
    """A program on a node. Thread-safe; requests run concurrently.

    Parameters
    ----------
    node
        Where it runs.
    program
        Its name, which its greeting must repeat.
    channel
        Its standard streams; started here.
    explain
        Words for its end.
    launched
        Another program started it, and may write to the same standard output: lines that are no JSON are that one's
        words, and count as standard error (MPICH's launcher says there which rank died).
    """

    def __init__(
        self, node: Node, program: str, channel: Channel, explain: Explain | None = None, *, launched: bool = False
    ) -> None:
        self.node = node
        self.program = program
        self.greeted: Future[dict[str, Any]] = _running_future()
        """The greeting; or why there is none."""
        self._channel = channel
        self._launched = launched
        self.explain = explain or explain_exit(program)
        """Words for its end; whoever learns more about the program than its launcher knew may give better ones."""
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._pending: dict[int, tuple[str, Future[dict[str, Any]]]] = {}
        self._stderr: deque[str] = deque(maxlen=STDERR_KEPT)
        self._noise: deque[str] = deque(maxlen=STDERR_KEPT)
        self._cut = False
        self._loss: SessionLost | None = None
        self._closing = False
        self._ended = threading.Event()
        channel.start(self)

    @property
    def greeting(self) -> dict[str, Any]:
        """What the program said first: its name, version, host, arch, pid. Waits for nothing: `greeted` does."""
        return self.greeted.result(timeout=0)

    @property
    def alive(self) -> bool:
        """Whether it can be asked something."""
        return self._loss is None and not self._closing

    @property
    def stderr(self) -> list[str]:
        """The last lines of its standard error."""
        return list(self._stderr)

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask, and go on.

        Returns
        -------
        Future
            The answer. It fails with `RequestError` when the answer's ``ok`` is false, or it has not the shape that
            `answers` has for it; and with `SessionLost` when the program dies first. It can't be cancelled: the program
            would work on all the same. Its callbacks run on the thread that serves every session: they must not block.
        """
        return self._submit(op, fields)[1]

    def request(self, op: str, timeout: float | None = 30.0, **fields: Any) -> dict[str, Any]:
        """Ask, and wait for the answer.

        Parameters
        ----------
        timeout
            Seconds; None waits as long as the program lives.

        Raises
        ------
        RequestError
            The answer's ``ok`` is false; or no answer in time, with the code ``no-answer``; or one of another shape.
        SessionLost
            The program or its connection died.
        """
        number, future = self._submit(op, fields)
        try:
            return future.result(timeout)
        except FutureTimeout:
            with self._lock:
                self._pending.pop(number, None)
            raise RequestError(self.node.name, op, "no-answer", f"no answer within {timeout:g} s") from None

    def close(self, grace: float = 2.0) -> None:
        """End the program: close its input, wait, and kill what is still there after ``grace`` seconds."""
        self.close_input()
        if not self.wait_ended(grace):
            self.kill()
            self.wait_ended(grace)

    def close_input(self) -> None:
        """Ask the program to end, and go on."""
        self._closing = True
        self._channel.close_input()

    def kill(self) -> None:
        """End the program, or the connection to it, at once."""
        self._closing = True
        self._channel.kill()

    def wait_ended(self, timeout: float) -> bool:
        """Wait for its end; True when it came within ``timeout`` seconds. Not to be called from a callback."""
        return self._ended.wait(timeout)

    # What the channel tells. One call at a time, on the channel's thread.

    def on_line(self, line: bytes, whole: bool = True) -> None:
        if not line.strip():
            return
        message: Any = None
        why = "is not a JSON object"
        try:
            message = parse(line)
        except ValueError as error:
            why = f"is not a JSON object ({error})"
        if self._launched and not isinstance(message, dict):
            self.on_stderr(line.decode(errors="replace"))
        elif not self.greeted.done():
            self._on_first(line, message)
        elif isinstance(message, dict):
            self._on_answer(message)
        elif not whole:
            self._cut = True  # how it ended is about to be told
        else:
            self._fail(f"{self.program} broke the contract: it wrote {_excerpt(line)}, which {why}")

    def on_stderr(self, line: str) -> None:
        self._stderr.append(clean(line))

    def on_close(self, end: Exit) -> None:
        if self._closing:
            loss = SessionLost(self.node.name, "the session was closed", end=end)
        else:
            what, next_step = self.explain(end, self.stderr, self._has_greeted)
            # what a login script prints where the greeting should stand is often the reason itself
            noise = f"; before that it printed: {' / '.join(self._noise)}" if self._noise else ""
            cut = "; it ended in the middle of an answer" if self._cut else ""
            loss = SessionLost(self.node.name, what + noise + cut, next_step, end, self.stderr)
        self._lose(loss)
        self._ended.set()

    @property
    def _has_greeted(self) -> bool:
        return self.greeted.done() and self.greeted.exception() is None

    def _submit(self, op: str, fields: dict[str, Any]) -> tuple[int, Future[dict[str, Any]]]:
        future = _running_future()
        line = json.dumps({"id": (number := next(self._ids)), "op": op, **fields}, separators=(",", ":"))
        with self._lock:
            loss = self._loss
            if loss is None and self._closing:
                loss = SessionLost(self.node.name, "the session was closed")
            if loss is None:
                self._pending[number] = (op, future)
        if loss is not None:
            future.set_exception(loss)
        else:
            self._channel.send(line.encode())
        return number, future

    def _on_first(self, line: bytes, message: Any) -> None:
        if not isinstance(message, dict) or "hello" not in message:
            self._noise.append(_excerpt(line))
        elif message["hello"] != self.program or message.get("protocol") != PROTOCOL:
            self._fail(
                f"expected {self.program} with protocol {PROTOCOL}, "
                f"but {message['hello']} with protocol {message.get('protocol')} answered",
                "give WULF_PROGRAMS a build of this version, or run `make build`",
            )
        elif why := greeting_fault(message):
            self._fail(f"its greeting is not as {self.program} greets: {why}")
        else:
            self.greeted.set_result(message)

    def _on_answer(self, message: dict[str, Any]) -> None:
        number, error = message.get("id"), message.get("error")
        if isinstance(error, dict) and error.get("code") == ENDING and not self._closing:
            return  # somebody else ends it: its end, which says why, is the answer
        with self._lock:
            op, future = self._pending.pop(number, ("", None)) if isinstance(number, int) else ("", None)
        if future is None:
            # an answer that came after its request timed out, or one to a line that could not be read
            _log.debug("%s: nobody waits for %s", self.node, message)
        elif message.get("ok") is True:
            why = fault(self.program, op, message)
            if why is None:
                future.set_result(message)
            else:
                text = f"its answer is not as {self.program} answers: {why}"
                future.set_exception(RequestError(self.node.name, op, MALFORMED, text))
        else:
            future.set_exception(self._refusal(op, error))

    def _refusal(self, op: str, error: Any) -> RequestError:
        error = error if isinstance(error, dict) else {}
        code, message = error.get("code", "internal"), error.get("message", "failed without a reason")
        field = error.get("field")
        return RequestError(self.node.name, op, _words(code), _words(message), None if field is None else _words(field))

    def _fail(self, what: str, next_step: str = "") -> None:
        self._lose(SessionLost(self.node.name, what, next_step))
        self._channel.kill()

    def _lose(self, loss: SessionLost) -> None:
        """The first loss is the reason; whatever waits is told."""
        with self._lock:
            if self._loss is None:
                self._loss = loss
            waiting = [future for _, future in self._pending.values()]
            self._pending.clear()
        if not self.greeted.done():
            waiting.append(self.greeted)
        for future in waiting:
            future.set_exception(self._loss)


def _running_future() -> Future[dict[str, Any]]:
    future: Future[dict[str, Any]] = Future()
    future.set_running_or_notify_cancel()  # so that nobody can cancel it
    return future


def _excerpt(line: bytes, length: int = 80) -> str:
    text = line.decode(errors="replace")
    return repr(text if len(text) <= length else text[:length] + "…")
