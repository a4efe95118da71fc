"""A command in a process of its own: what it took."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spent:
    """Exit status, seconds, seconds of CPU, and the most bytes that were resident."""

    status: int
    seconds: float
    cpu: float
    memory: int


def children_cpu() -> float:
    """Seconds of CPU that all processes have taken which were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spend(argv: Sequence[str]) -> Spent:
    """Run a command, whose output nobody wants, to its end."""
    began = time.monotonic()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    return Spent(child.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
