"""Two processes for one watchdog: one watches, the other waits for its end, however that comes, and takes its place.

It waits in a lock, which the kernel passes on when the process that holds it ends: nobody polls. Where systemd has
started the watchdog it also starts it anew, and no twin is needed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from wulf.agent.changes.state import lock
from wulf.agent.changes.watch.watchdog import ALONE, go_on, settle

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host

WAITS = "watchdog.twin"
LIVES = 100
"""Twins that one watchdog and those after it may have in all: what ends them may come from themselves."""
PATIENCE = 5.0
"""Seconds that one has to say that it waits: a watchdog that stands still for it watches nothing."""
_READY = b"+"


class Twin:
    """What goes on in our place, once we are killed; a process that is forked from this one.

    Parameters
    ----------
    begin
        What it does first: `watchdog.settle`.
    lives
        How many more there may be.
    """

    def __init__(self, host: Host, begin: Callable[[], None] = settle, lives: int = LIVES) -> None:
        self._host = host
        self._begin = begin
        self._lives = lives
        self._pid = 0
        self.ends: list[int] = []
        """A descriptor that can be read once it has ended; none, where there is none."""

    def live(self) -> None:
        """Make sure that there is one which waits, as far as one can be had."""
        if self.ends and not os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        self._forget()
        while self._lives > 0 and not self.ends:
            self._lives -= 1
            try:
                self._fork()
            except OSError:  # no process to be had: the watchdog itself is what counts
                return

    def end(self) -> None:
        """There is nothing to go on with."""
        self._lives = 0
        self._forget()

    def _forget(self) -> None:
        """Have none any more, whether it has ended or not."""
        while self.ends:
            os.close(self.ends.pop())
            os.kill(self._pid, signal.SIGKILL)  # which a zombie does not mind
            os.waitpid(self._pid, 0)

    def _fork(self) -> None:
        reading, writing = os.pipe()
        try:
            self._pid = os.fork()
            if self._pid == 0:
                self._wait_and_go_on(writing)
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        in_time = bool(select.select([reading], [], [], PATIENCE)[0])
        if in_time and os.read(reading, 1) == _READY:
            self.ends = [reading]
            return
        os.close(reading)
        os.kill(self._pid, signal.SIGKILL)
        another_waits = os.waitpid(self._pid, 0)[1] == 0
        if another_waits or not in_time:
            self._lives = 0

    def _wait_and_go_on(self, writing: int) -> None:
        """The twin's own life. Whatever its watchdog has locked would stay so, had it the same descriptors."""
        status = 1
        try:
            for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers, no paths
                if descriptor > 2 and descriptor != writing:
                    with contextlib.suppress(OSError):  # the listing's own
                        os.close(descriptor)
            self._begin()
            with lock.opened(self._host, ALONE) as alone:
                with lock.opened(self._host, WAITS) as waits:
                    if not lock.try_lock(waits):
                        os._exit(0)
                    os.write(writing, _READY)
                    fcntl.flock(alone, fcntl.LOCK_EX)
                os.close(writing)
                go_on(self._host, Twin(self._host, self._begin, self._lives))
            status = 0
        except Exception:  # noqa: BLE001 - nobody but the log would hear of it
            with contextlib.suppress(OSError):
                os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
