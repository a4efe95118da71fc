"""A command in a process of its own: what it took."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engine.errors import BenchError


@dataclass(frozen=True)
class Spent:
    """Exit status, seconds, seconds of CPU, and the most bytes that were resident: at least what this process had."""

    status: int
    seconds: float
    cpu: float
    memory: int


def children_cpu() -> float:
    """Seconds of CPU that all processes have taken which were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_resident(status: str) -> int:
    """Bytes, from /proc/PID/status: VmHWM, the peak of the program that runs (proc_pid_status(5)).

    ru_maxrss of getrusage(2) isn't that of the program alone: across exec, a process keeps the peak of whatever it was
    forked from.
    """
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if not peak:
        raise BenchError(f"no VmHWM in what is to be /proc/PID/status: {status[:100]!r}")
    return int(peak[1]) * 1024


def own_peak() -> int:
    """Bytes, of this process so far."""
    return peak_resident(Path("/proc/self/status").read_text())


def spend(argv: Sequence[str]) -> Spent:
    """Run a command, whose output nobody wants, to its end."""
    began = time.monotonic()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    return Spent(child.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
