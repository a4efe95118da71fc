"""Measurements as child processes: the wulf command of the plan, which ends with the sentry, limited in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from wulf.core.names import fold
from wulf.sentry.plan import Measure
from wulf.workflow.sentry.holding import MARK, mark_of

TIED = Path(__file__).with_name("tied.py")

SAID, COMPLAINED = "stdout", "stderr"
"""Files in the run's folder: what the command said."""

CHECK = "check"
"""The command that makes no run: what it says is what it found."""

GRACE = 20.0
"""Seconds for a command that was asked to end to write down what it has, and close its connections."""

LATE = 10.0
"""Times what a measurement usually takes, after which it is ended; and not before `LEAST` seconds."""

LEAST = 300.0


@dataclass(frozen=True)
class Job:
    """A measurement that is to be run: its folder is the run's, its limit the seconds that it may take."""

    number: int
    measure: Measure
    nodes: tuple[str, ...]
    folder: Path
    limit: float


@dataclass(frozen=True)
class End:
    """How a command ended: its exit status, negative where a signal ended it; whether its time was over."""

    status: int
    late: bool = False


class Child(Protocol):
    """A command that runs."""

    def poll(self, now: float) -> End | None:
        """How it ended; None: it runs. Ends it when its time is over."""

    def stop(self) -> None:
        """Ask it to end."""


class Executor(Protocol):
    """Starts commands."""

    def start(self, job: Job, now: float) -> Child:
        """Start one. Raises OSError."""


def limit(usual: float, nodes: int) -> float:
    """Seconds that a measurement may take; `usual`: those for a node."""
    return max(LEAST, LATE * usual * nodes)


@dataclass(frozen=True)
class Children:
    """Implements `Executor` by processes of this machine.

    Attributes
    ----------
    state
        Path of the state, for the mark of a measurement's processes.
    way
        Options that say how a job's nodes are reached.
    """

    state: Path
    way: Callable[[Job], Sequence[str]] = lambda _: ()
    environ: Mapping[str, str] | None = None

    def start(self, job: Job, now: float) -> Child:
        job.folder.mkdir(parents=True, exist_ok=True)
        environ = {**(os.environ if self.environ is None else self.environ), MARK: mark_of(self.state, job.number)}
        with (job.folder / SAID).open("wb") as said, (job.folder / COMPLAINED).open("wb") as complained:
            process = subprocess.Popen(
                [sys.executable, "-S", str(TIED), str(os.getpid()), *words(job, self.way(job))],
                stdin=subprocess.DEVNULL, stdout=said, stderr=complained, start_new_session=True, env=environ,
            )  # fmt: skip
        return _Process(process, now + job.limit)


def words(job: Job, way: Sequence[str]) -> list[str]:
    """The command of a measurement."""
    own = ["--json"] if job.measure.command[0] == CHECK else ["--out", str(job.folder)]
    command = [sys.executable, "-m", "wulf.cli.main", *job.measure.command]
    return [*command, "--nodes", fold(job.nodes, len(job.nodes)).replace(", ", ","), *way, *own]


@dataclass
class _Process:
    process: subprocess.Popen[bytes]
    until: float
    late: bool = False
    asked_at: float | None = None

    def poll(self, now: float) -> End | None:
        status = self.process.poll()
        if status is not None:
            self._kill()  # what it started has its group, and ends with it
            return End(status, self.late)
        if now > self.until and self.asked_at is None:
            self.late = True
            self.stop()
            self.asked_at = now
        elif self.asked_at is not None and now > self.asked_at + GRACE:
            self._kill()
        return None

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
