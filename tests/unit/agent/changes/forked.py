"""A node whose agents and watchdogs are real processes, forked from the test: they start in a millisecond."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from tests.unit.agent.changes.machine import LASTING, START, FakeNode
from wulf.agent.changes.host import Host
from wulf.agent.changes.state import lock
from wulf.agent.changes.state.lines import Damaged
from wulf.agent.changes.watch import arming, atboot, twin, watchdog
from wulf.agent.changes.watch.twin import Twin
from wulf.agent.session import Refused

REFUSED = 3
"""Exit status of a child that was refused, and gave up."""


class ForkedNode(FakeNode):
    """A node with a real clock and real watchdogs, whose steps are counted over all of its processes.

    Parameters
    ----------
    act
        Called at each step with its number and name; `watchdog_act` in the watchdog.
    paired
        Whether a twin waits for the end of the watchdog.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.told = folder / "steps"
        self.act: Callable[[int, str], None] = lambda *_: None
        self.watchdog_act: Callable[[int, str], None] = lambda *_: None
        self.paired = True
        self.wall: Callable[[], float] = time.time
        self.boot_unit = folder / "at-boot"

    def clock_now(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def step(self, name: str) -> None:
        with self.told.open("a") as file:
            file.write(f"{name}\n")
        self.act(len(self.names()) - 1, name)

    def names(self) -> list[str]:
        return self.told.read_text().splitlines() if self.told.exists() else []

    def arm(self, host: Host, serial: int) -> dict[str, Any]:
        host.step("arm")
        return arming.arm(self.host, serial, self.start)

    def see_to_boot(self, host: Host, wanted: bool) -> None:
        host.step("at boot" if wanted else "not at boot")
        self.boot_unit.touch() if wanted else self.boot_unit.unlink(missing_ok=True)

    def reboot(self) -> None:
        """What a boot does: memory is lost, and all settings but those that last; what was to be done at boot is."""
        self.boot = "boot-2"
        shutil.rmtree(self.run, ignore_errors=True)
        values = self.settings.load()
        self.settings.store({**START, "": {**START[""], LASTING: values[""][LASTING]}})
        if self.boot_unit.exists():
            atboot.take_back(self.host)

    def start(self, host: Host) -> arming.Started:
        if (child := os.fork()) == 0:
            if os.fork() == 0:
                self._watch()
            os._exit(0)
        os.waitpid(child, 0)
        return arming.Started("forked")

    def _watch(self) -> None:
        os.setsid()
        said = os.open(self.folder / arming.LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.closerange(3, 256)  # the guard of whoever started us, above all
        self.told = self.told.with_name("watchdog-steps")
        self.act = self.watchdog_act
        status = 1
        try:
            with mock.patch.object(watchdog, "PAUSE", 0.01):
                watchdog.watch(self.host, Twin(self.host, begin=lambda: None) if self.paired else None)
            status = 0
        finally:
            os._exit(status)

    @property
    def host(self) -> Host:
        return replace(super().host, now=self.clock_now, wall=self.wall)

    def nobody_watches(self) -> bool:
        """Whether neither a watchdog lives, nor one that would take its place."""
        with lock.opened(self.host, twin.WAITS) as waits, lock.opened(self.host, watchdog.ALONE) as alone:
            return lock.try_lock(waits) and lock.try_lock(alone)

    def watchdog_pids(self) -> list[int]:
        """The watchdog, and its twin; none, where nobody watches."""
        pid = self.watchdog_pid()
        return [] if pid is None else [pid, *_children_of(pid)]

    def watchdog_pid(self) -> int | None:
        found = arming.ask(self.host)
        return found["pid"] if found else None


def in_child(work: Callable[[], None]) -> int:
    """Do it in a process of its own: its exit status, negative for a signal; 3: it was refused, and gave up."""
    if (child := os.fork()) == 0:
        status = 4
        try:
            work()
            status = 0
        except Refused as refused:
            print(f"refused: {refused.answer}", file=sys.stderr)
            status = REFUSED
        except (Damaged, lock.Busy):
            status = 2
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def kill_at_once(pids: list[int]) -> None:
    """Several of which one would start another in the place of one that has ended."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _children_of(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if path.read_bytes().rpartition(b")")[2].split()[1] == b"%d" % pid:
                found.append(int(path.parent.name))
    return found
