"""Who holds a state, and which processes a measurement has: what a sentry that was killed has left."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from wulf.agent.processes import process
from wulf.core.errors import UsageError
from wulf.core.files import appending

MARK = "WULF_MEASUREMENT"
"""The variable that every process of a measurement has on this machine: the state's path, and the measurement."""

ENDING = 15.0
"""Seconds in which what a killed sentry has left ends by itself, as its connections close; what has not is killed."""


def myself() -> dict[str, str]:
    """Boot, process, and when that was started: nothing else is ever the same in all three."""
    return {"boot": _boot(), "pid": str(os.getpid()), "started": process.started(os.getpid())}


def is_alive(holder: Mapping[str, str]) -> bool:
    """Whether that process still runs, here."""
    pid = holder.get("pid", "")
    return holder.get("boot") == _boot() and pid.isdecimal() and process.started(int(pid)) == holder.get("started")


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


@contextmanager
def held(state: Path) -> Iterator[None]:
    """A state is this process's alone for the length of the block; others may read it.

    Raises
    ------
    UsageError
        Another sentry has it: says which.
    """
    path = state.with_name(f"{state.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = appending(path)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}", "name another state with --state") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise UsageError(
                f"another sentry has {state}: {_who(lock.read())}", "one state has one sentry: end that one first"
            ) from error
        lock.truncate(0)
        lock.write(json.dumps({**myself(), "host": os.uname().nodename, "since": time.time()}).encode())
        yield


def _who(text: bytes) -> str:
    try:
        found = json.loads(text)
        return f"process {found['pid']} on {found['host']}"
    except (ValueError, KeyError, TypeError):
        return "it has only just begun"


def mark_of(state: Path, number: int) -> str:
    """What `MARK` is of a measurement's processes."""
    return f"{state.absolute()}#{number}"


def processes_of(mark: str) -> list[int]:
    """The processes that have this mark, in whatever session or group."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):  # noqa: PTH208 - thousands of entries
        if entry.isdecimal():
            with suppress(OSError):
                content = Path(f"/proc/{entry}/environ").read_bytes()
                if wanted in content.split(b"\0") and process.state(int(entry)) not in (None, "Z"):
                    found.append(int(entry))
    return found


def ended(
    mark: str, patience: float = ENDING, *, look: Callable[[str], list[int]] = processes_of,
    clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
    kill: Callable[[int, int], None] = os.kill,
) -> bool:  # fmt: skip
    """Wait for a measurement's processes to be gone, then kill those that are left; whether all are gone."""
    deadline = clock() + patience
    while left := look(mark):
        if clock() > deadline + patience:
            return False  # in the kernel's hands: nobody can end it
        if clock() > deadline:
            for pid in left:
                with suppress(OSError):
                    kill(pid, signal.SIGKILL)
        sleep(0.1)
    return True
