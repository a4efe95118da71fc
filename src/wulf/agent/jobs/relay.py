"""Programs run for somebody else: a gateway of a launch tree starts ssh to the nodes of its branch, and relays lines.

One thread serves all of them. What they say is fetched with `relayed`, which waits until there is something; so the
session's contract, one answer a request, holds here too.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from wulf.agent.files.state import own_cache
from wulf.agent.processes.lines import Lines
from wulf.agent.session import Refused

WAIT = 5.0
"""Seconds until `relayed` answers with nothing: who waits for ever keeps this program alive when its reader is gone."""

MOST = 1 << 18
"""Bytes of an answer, about: what comes beyond them waits for the next."""

CHUNK = 1 << 16

LONGEST_LINE = 1 << 26
"""Bytes of a line: no program of wulf's on a node says a hundredth of it. More would fill the memory here."""

REAP_GRACE = 1.0
"""Seconds that a program may live on after it closed its output, before it is killed."""


class _Process:
    """One program: its pipes, and what is still to be written."""

    def __init__(self, number: int, argv: list[str], stdin: str | None) -> None:
        source = open(stdin, "rb") if stdin else None  # noqa: PTH123, SIM115 - closed below
        try:
            self.popen = subprocess.Popen(
                argv, stdin=source or subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0, start_new_session=True,
            )  # fmt: skip
        finally:
            if source:
                source.close()
        self.number = number
        self.pending = bytearray()
        self.closing = False
        self.silent_since: float | None = None
        self.said = {"line": Lines(LONGEST_LINE), "stderr": Lines(LONGEST_LINE)}
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)

    def kill(self) -> None:
        """The program, and what it started."""
        if self.popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)

    def lines(self, stream: str, part: bytes) -> list[list[Any]]:
        """The whole lines in what has been read so far; an empty part ends the last one, which is told to be cut."""
        said = self.said[stream]
        events = [[stream, self.number, line.decode("utf-8", "replace")] for line in said.take(part)]
        if complaint := said.complaint():
            events.append(["stderr", self.number, complaint])
            self.kill()
        elif not part and (rest := said.rest()):
            events.append([stream, self.number, rest.decode("utf-8", "replace"), False])
        return events

    def flush(self) -> bool:
        """Write what the pipe takes; True where something is left."""
        pipe = self.popen.stdin
        if pipe is None or pipe.closed:
            return False
        try:
            while self.pending:
                written = os.write(pipe.fileno(), self.pending[:CHUNK])
                del self.pending[:written]
        except BlockingIOError:
            return True
        except OSError:  # it reads no more: its end is told by its exit
            self.pending.clear()
        if self.closing:
            pipe.close()
        return False


class Relay:
    """All programs of this gateway. The actions are called from any thread."""

    def __init__(self) -> None:
        self._processes: dict[int, _Process] = {}
        self._events: deque[list[Any]] = deque()
        self._changed = threading.Condition()
        self._selector = selectors.DefaultSelector()
        self._wake, self._bell = os.pipe()
        self._started = False

    def act(self, actions: list[list[Any]]) -> None:
        """Carry out ["spawn", number, argv, stdin], ["write", number, line], ["eof", number], ["kill", number]."""
        with self._changed:
            for name, number, *rest in actions:
                self._one(name, number, rest)
            if not self._started:
                self._started = True
                _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
                resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # three a program
                threading.Thread(target=self._serve, daemon=True).start()
        os.write(self._bell, b"!")

    def _one(self, name: str, number: int, rest: list[Any]) -> None:
        process = self._processes.get(number)
        if name == "spawn":
            self._spawn(number, *rest)
        elif process is None:
            pass  # it has ended; whoever sent this will hear so
        elif name == "write":
            process.pending += rest[0].encode() + b"\n"
        elif name == "eof":
            process.closing = True
        elif name == "kill":
            process.kill()

    def _spawn(self, number: int, argv: list[str], stdin: str | None) -> None:
        try:
            process = _Process(number, argv, _cached(stdin) if stdin else None)
        except OSError as error:
            self._events.append(["stderr", number, f"{error.filename or argv[0]}: {error.strerror}"])
            self._events.append(["end", number, 127 if isinstance(error, FileNotFoundError) else 126, None])
            return
        self._processes[number] = process

    def fetch(self, wait: float) -> list[list[Any]]:
        """What has happened since the last call; after `wait` seconds, nothing."""
        deadline = time.monotonic() + wait
        with self._changed:
            while not self._events and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            taken: list[list[Any]] = []
            size = 0
            while self._events and size < MOST:
                taken.append(self._events.popleft())
                size += len(str(taken[-1]))
            return taken

    def _serve(self) -> None:
        self._selector.register(self._wake, selectors.EVENT_READ, None)
        while True:
            self._watch_all()
            ready = self._selector.select(0.05 if self._ending() else None)
            with self._changed:
                for key, _ in ready:
                    if key.data is None:
                        os.read(self._wake, CHUNK)
                    elif key.data[1] != "stdin":
                        self._hear(key.fd, *key.data)
                self._reap()
                if self._events:
                    self._changed.notify_all()

    def _watch_all(self) -> None:
        """Register what is new, and the inputs that still have something to take."""
        with self._changed:
            for process in self._processes.values():
                for stream, pipe in (("line", process.popen.stdout), ("stderr", process.popen.stderr)):
                    if pipe is not None and not pipe.closed and pipe.fileno() not in self._selector.get_map():
                        self._selector.register(pipe.fileno(), selectors.EVENT_READ, (process, stream))
                waits = process.flush()
                pipe = process.popen.stdin
                watched = pipe is not None and not pipe.closed and pipe.fileno() in self._selector.get_map()
                if pipe is not None and waits and not watched:
                    self._selector.register(pipe.fileno(), selectors.EVENT_WRITE, (process, "stdin"))
                elif pipe is not None and watched and not waits:
                    self._selector.unregister(pipe.fileno())

    def _hear(self, descriptor: int, process: _Process, stream: str) -> None:
        try:
            part = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return
        self._events.extend(process.lines(stream, part))
        if not part:
            self._selector.unregister(descriptor)
            pipe = process.popen.stdout if stream == "line" else process.popen.stderr
            if pipe is not None:
                pipe.close()
            if stream == "line":
                process.silent_since = time.monotonic()

    def _ending(self) -> bool:
        with self._changed:
            return any(process.silent_since is not None for process in self._processes.values())

    def _reap(self) -> None:
        """Tell the end of those whose output has ended; one that lives on without any is ended."""
        for number, process in list(self._processes.items()):
            if process.silent_since is None:
                continue
            if process.popen.poll() is None:
                if time.monotonic() - process.silent_since > REAP_GRACE:
                    process.kill()
                continue
            self._forget(process)
            status = process.popen.returncode
            self._events.append(["end", number, *((None, -status) if status < 0 else (status, None))])
            del self._processes[number]

    def _forget(self, process: _Process) -> None:
        for pipe in (process.popen.stdin, process.popen.stderr):
            if pipe is not None and not pipe.closed:
                if pipe.fileno() in self._selector.get_map():
                    self._selector.unregister(pipe.fileno())
                if pipe is process.popen.stderr:
                    self._events.extend(process.lines("stderr", _rest(pipe.fileno())) + process.lines("stderr", b""))
                pipe.close()


def _rest(descriptor: int) -> bytes:
    """What can still be read without waiting."""
    parts = []
    try:
        while part := os.read(descriptor, CHUNK):
            parts.append(part)
    except BlockingIOError:
        pass
    return b"".join(parts)


def _cached(name: str) -> str:
    """A program's file in this node's cache, where it was put to be handed on."""
    for folder in (own_cache() / "bin", Path(f"/tmp/wulf-{os.getuid()}")):  # noqa: S108
        path = folder / Path(name).name
        if path.is_file() and path.stat().st_uid == os.getuid():
            return str(path)
    raise FileNotFoundError(2, "is not in this node's cache", name)


_relay = Relay()


def relay(actions: Any = None) -> dict[str, Any]:
    """{"op": "relay", "actions": [["spawn", 1, ["ssh", ...], null], ["write", 1, "..."]]}: run programs for others."""
    if not isinstance(actions, list) or not all(
        isinstance(one, list) and len(one) > 1 and one[0] in ("spawn", "write", "eof", "kill") for one in actions
    ):
        raise Refused("bad-parameter", "actions must be a list of [spawn|write|eof|kill, number, ...]", "actions")
    _relay.act(actions)
    return {}


def relayed() -> dict[str, Any]:
    """{"op": "relayed"}: what those programs said and how they ended, once there is something, or after 5 s."""
    return {"events": _relay.fetch(WAIT)}
