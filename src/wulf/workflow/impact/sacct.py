"""What a cluster's jobs took, by Slurm's accounting: sacct's table, taken in line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, lines_of

COLUMNS = "JobName|Account|CPUTimeRAW|Elapsed|State"
COMMAND = "sacct -a -P -X -S now-30days --format=JobName,Account,CPUTimeRAW,Elapsed,State"
"""-a: of all users; -P: with bars between columns; -X: jobs without their steps."""

MOST = 1 << 27
"""Bytes: two million jobs."""

COMPLETED = "COMPLETED"
STATES = frozenset({
    COMPLETED, "BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "PREEMPTED",
    "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SUSPENDED", "TIMEOUT",
})  # fmt: skip
"""Of sacct(1), "Job state codes"."""

_ELAPSED = re.compile(r"((\d{1,6}-)?\d{1,2}:)?\d{1,2}:\d{2}(\.\d+)?", re.ASCII)
"""Tells a table whose columns have moved: CPUTimeRAW has it in already."""


@dataclass(frozen=True)
class SlurmUse:
    """One job: what it was called, whose account it was, CPU seconds, and whether it completed."""

    name: str
    account: str
    cpu_seconds: int
    completed: bool


def read_sacct(path: Path) -> list[SlurmUse]:
    """The jobs of a file or pipe that holds what `COMMAND` printed.

    Raises
    ------
    UsageError
        It can't be read, its first line names other columns, or a line is wrong: which, and why.
    """
    lines = enumerate(lines_of(path, MOST), 1)
    try:
        number, head = next(lines, (1, ""))
        if head.rstrip("\r") != COLUMNS:
            _wrong(path, number, f"it is no {COLUMNS}")
        found = [_job(path, number, line) for number, line in lines if line.strip()]
    except Unreadable as error:
        raise UsageError(f"can't read {path}: {error}", f"write it by: {COMMAND} > jobs.txt") from error
    if not found:
        raise UsageError(f"{path} has no jobs", f"write it by: {COMMAND} > jobs.txt")
    return found


def _wrong(path: Path, number: int, why: str) -> NoReturn:
    raise UsageError(f"{path}, line {number}: {why}", f"write it by: {COMMAND} > jobs.txt")


def _job(path: Path, number: int, line: str) -> SlurmUse:
    cells = line.rsplit("|", 4)  # a job's name may have bars in it
    if len(cells) != 5:
        _wrong(path, number, f"{len(cells)} columns, where 5 should be")
    name, account, cpu, elapsed, state = (cell.strip() for cell in cells)
    if not re.fullmatch(r"\d{1,15}", cpu, re.ASCII):
        _wrong(path, number, f"CPUTimeRAW {cpu!r} is no number of seconds")
    if not _ELAPSED.fullmatch(elapsed):
        _wrong(path, number, f"Elapsed {elapsed!r} is no time such as 1-02:03:04")
    word = state.partition(" ")[0].rstrip("+")  # `CANCELLED by 1000`
    if word not in STATES:
        _wrong(path, number, f"State {state!r} is none of Slurm's")
    return SlurmUse(name, account, int(cpu), word == COMPLETED)


def words_of(name: str) -> Iterator[str]:
    """A job's name, and its words: `gromacs-run12` is gromacs, too."""
    yield name
    yield from re.split(r"[^a-z0-9]+", name.lower())
