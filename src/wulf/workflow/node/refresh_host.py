"""The real machine of a refresh: its load from /proc, what was spent in a file, and measuring in a child process."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from wulf.core.errors import INCOMPLETE, OK
from wulf.core.files import replace_file
from wulf.core.given import Unreadable, json_of
from wulf.core.places import user_folder
from wulf.workflow.node.refresh import Account, Batch, Why

WINDOW = 0.4
"""Seconds between two looks at the load: a load that rises is seen, and measuring ended, well within a second."""

NICE = 19


def state_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the account is kept: systemd's $STATE_DIRECTORY, else $XDG_STATE_HOME or ~/.local/state, in wulf/."""
    if given := environ.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(given) / "refresh.json"
    return user_folder("state", environ) / "refresh.json"


def read_account(path: Path, now: float) -> Account:
    """The account as it was kept; an empty one, begun now, where there is none or it can't be read as one."""
    new = Account(at=now, since=now)
    try:
        content = json_of(path)
        numbers = {name: float(content[name]) for name in ("at", "credit", "cost", "spent", "since")}
        return Account(**numbers, tried={str(name): float(at) for name, at in content["tried"].items()})
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        if isinstance(error, Unreadable) and error.absent:
            return new
        print(f"wulf rates refresh: {path} is begun anew: {type(error).__name__}: {error}", file=sys.stderr)
        return new


@dataclass(frozen=True)
class Usage:
    """CPU seconds so far: of all programs on the host, and of our own."""

    at: float
    all: float
    own: float


def busy_share(before: Usage, after: Usage, cpus: int) -> float:
    """CPUs that others kept busy between two looks, per CPU: 0 is idle, 1 is full."""
    others = (after.all - before.all) - (after.own - before.own)
    return max(0.0, others) / max(1e-9, after.at - before.at) / cpus


def programs_seconds(stat: str) -> float:
    """CPU seconds of all programs, out of /proc/stat: user, nice and system. Interrupts are nobody's."""
    fields = stat.splitlines()[0].split()
    return sum(int(field) for field in fields[1:4]) / os.sysconf("SC_CLK_TCK")


def family_seconds(root: int, processes: Mapping[int, tuple[int, float]]) -> float:
    """CPU seconds of a process, all below it, and their children that have ended.

    Parameters
    ----------
    processes
        Process → its parent and its seconds, those of its ended children included.
    """
    members, grown = {root}, True
    while grown:
        more = {pid for pid, (parent, _) in processes.items() if parent in members} - members
        members |= more
        grown = bool(more)
    return sum(processes[pid][1] for pid in members if pid in processes)


def processes() -> dict[int, tuple[int, float]]:
    """All processes that /proc shows."""
    found = {}
    ticks = os.sysconf("SC_CLK_TCK")
    for name in os.listdir("/proc"):  # noqa: PTH208 - twice a second
        if name.isdecimal():
            with suppress(OSError, ValueError):  # it has ended meanwhile
                text = Path(f"/proc/{name}/stat").read_text(encoding="utf-8", errors="replace")
                fields = text.rpartition(")")[2].split()
                found[int(name)] = (int(fields[1]), sum(int(field) for field in fields[11:15]) / ticks)
    return found


def usage() -> Usage:
    """CPU seconds so far. Ours are read last, so that what is not ours is never taken for less than it is."""
    everything = programs_seconds(Path("/proc/stat").read_text(encoding="utf-8"))
    return Usage(time.monotonic(), everything, family_seconds(os.getpid(), processes()))


def background() -> None:
    """Make this process yield to every other one: SCHED_IDLE, and nice 19 for where that is not to be had."""
    os.nice(NICE)
    with suppress(OSError):  # refused in some containers
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class ThisHost:
    """Implements `wulf.workflow.node.refresh.RefreshHost`.

    Parameters
    ----------
    command
        Makes the command that measures rates: names, and a folder for its run, to a list of words.
    state
        Where the account is kept.
    look
        What the CPUs have done so far; tests give their own.
    """

    def __init__(
        self, command: Callable[[Sequence[str], Path], list[str]], state: Path, look: Callable[[], Usage] = usage
    ) -> None:
        self._command, self._state, self._look = command, state, look
        self._counted = 0.0
        self._cpus = os.cpu_count() or 1

    def now(self) -> float:
        return time.time()

    def load(self, *, first: bool) -> float:
        before = self._look()
        time.sleep(WINDOW)
        now = busy_share(before, self._look(), self._cpus)
        return max(now, os.getloadavg()[0] / self._cpus) if first else now

    def overhead(self) -> float:
        own = resource.getrusage(resource.RUSAGE_SELF)
        seconds = own.ru_utime + own.ru_stime
        new, self._counted = seconds - self._counted, seconds
        return new

    def save(self, account: Account) -> None:
        self._state.parent.mkdir(parents=True, exist_ok=True)
        content: dict[str, Any] = asdict(account)
        replace_file(self._state, json.dumps(content, indent=1) + "\n")

    def measure(self, names: Sequence[str], max_load: float) -> Batch:
        with tempfile.TemporaryDirectory(prefix="wulf-refresh-") as folder:
            before = _children_seconds()
            with (Path(folder) / "said").open("w+", encoding="utf-8", errors="replace") as said:
                child = subprocess.Popen(
                    self._command(names, Path(folder) / "run"), stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                    start_new_session=True, env={**os.environ, "TMPDIR": folder},
                )  # fmt: skip
                try:
                    stopped, highest = self._watch(child, max_load)
                finally:
                    _end(child)
                ended = Why.STOPPED if stopped else _judged(child.returncode, said)
            # What a killed child's own children spent is in nobody's account: the last look has seen it.
            return Batch(max(_children_seconds() - before, highest), ended)

    def _watch(self, child: subprocess.Popen[bytes], max_load: float) -> tuple[bool, float]:
        """Wait for the child; True, and the CPU seconds seen, as soon as others keep the CPUs busy."""
        first = last = self._look()
        while True:
            with suppress(subprocess.TimeoutExpired):
                child.wait(WINDOW)
                return False, last.own - first.own
            seen = self._look()
            if busy_share(last, seen, self._cpus) > max_load:
                return True, seen.own - first.own
            last = seen


def _judged(returncode: int, said: TextIO) -> Why | None:
    """None where the child did what it could (3: no rate has a value); else what it said is passed on. Python itself
    ends with 1 where it can't even begin.
    """
    if returncode in (OK, INCOMPLETE):
        return None
    said.seek(0)
    print(f"wulf rates refresh: a batch ended with {returncode}:\n{said.read()[-2000:]}", file=sys.stderr, end="")
    return Why.FAILED


def _children_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child where it still runs; the sessions that it opened end with it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
