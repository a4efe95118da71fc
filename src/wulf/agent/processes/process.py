"""What the kernel says of a process: proc(5), /proc/PID/stat."""

from __future__ import annotations

from pathlib import Path

_STATE, _STARTED = 0, 19  # places behind the name, which stands in parentheses and may hold any character


def state(pid: int) -> str | None:
    """Its state's letter: Z for one that has ended and is not yet waited for; None: there is none."""
    return _field(pid, _STATE)


def started(pid: int) -> str:
    """When it was started, in the kernel's ticks since boot; '' where there is none.

    By that it is told from another one that has got its number.
    """
    return _field(pid, _STARTED) or ""


def _field(pid: int, place: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[place].decode()
    except (OSError, IndexError):
        return None
