"""Waiting for what other processes do, and for processes that must be gone: a zombie is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60.0
"""Seconds that only a hang reaches."""


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether it becomes so within `seconds`; only what hangs takes as long."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def text_when_there(path: Path, patience: float = PATIENCE) -> str:
    """A file's text, once it is there and its last line has ended."""
    assert wait_until(lambda: path.exists() and path.read_text().endswith("\n"), patience), f"no whole line in {path}"
    return path.read_text()


def alive(pid: int | str) -> bool:
    """Whether it still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int | str, patience: float = PATIENCE) -> bool:
    """Whether it ends within `patience` seconds."""
    return wait_until(lambda: not alive(pid), patience)
