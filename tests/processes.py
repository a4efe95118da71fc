"""Processes that must be gone: a zombie is."""

from __future__ import annotations

import time
from pathlib import Path

PATIENCE = 60.0
"""Seconds that only a hang reaches."""


def alive(pid: int | str) -> bool:
    """Whether it still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int | str, patience: float = PATIENCE) -> bool:
    """Whether it ends within `patience` seconds."""
    deadline = time.monotonic() + patience
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)
