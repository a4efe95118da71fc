"""Processes that operations start and wait for: none of them outlives the session."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from wulf.agent.session import Refused

_lock = threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()
_ended = threading.Event()


def run(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    joined: bool = False,
    text: str | None = None,
    most: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end: its status and what it printed.

    It has a process group of its own, which is killed with all that it started when the time is over, or the session
    ends.

    Parameters
    ----------
    timeout
        Seconds; None: as long as it takes.
    joined
        Standard error goes where standard output goes.
    text
        What it reads on its standard input.
    most
        Bytes of its standard output that are read: more of it is cut off, and ends it. Needs `joined` and `timeout`.

    Raises
    ------
    subprocess.TimeoutExpired
        It took longer.
    Refused
        The session is ending.
    """
    with _lock:
        if _ended.is_set():
            raise Refused("ending", "the session is ending")
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if joined else subprocess.PIPE,
            start_new_session=True,
        )
        _running.add(child)
    try:
        if most is not None and timeout is not None and child.stdout is not None:
            out, err = _first(child, child.stdout, most, timeout), b""
        else:
            out, err = child.communicate(None if text is None else text.encode(), timeout=timeout)
    finally:
        with _lock:
            _kill(child)
            _running.discard(child)
    words = [(text or b"").decode(errors="replace") for text in (out, err)]
    return subprocess.CompletedProcess(command, child.returncode, *words)


def _first(child: subprocess.Popen[bytes], printed: IO[bytes], most: int, timeout: float) -> bytes:
    """The first bytes that it prints. One that takes longer is killed here, one that prints on by the caller."""
    late = threading.Event()

    def end() -> None:
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(timeout, end)
    timer.start()
    try:
        with printed as pipe:
            out = pipe.read(most)
            if len(out) < most:
                child.wait(timeout)
    finally:
        timer.cancel()
    if late.is_set():
        raise subprocess.TimeoutExpired(child.args, timeout)
    return out


def end_all() -> None:
    """Kill what is running, and start nothing any more."""
    with _lock:
        _ended.set()
        for child in _running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # whoever waits for it takes it in


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Its whole group, unless it has ended: its number may be somebody else's by then."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
