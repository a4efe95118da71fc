"""The process on the node that takes changes back when nobody confirms them, or their controller falls silent.

It outlives agent, ssh and controller, sleeps until the next deadline (it is never a disturbance to a measurement), and
goes the same way back as everybody. A socket wakes it: who connects makes it read the state anew, and is told which
deadlines it knows. What it has read once it needs no disk for, and what is killed is followed by another (`twin`).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from wulf.agent.changes.revert import revert
from wulf.agent.changes.state import deadlines, lock
from wulf.agent.changes.state.journal import NAME, WATCHDOG, Journal
from wulf.agent.changes.state.lines import Damaged
from wulf.agent.processes.process import started
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host
    from wulf.agent.changes.state.deadlines import Deadlines
    from wulf.agent.changes.state.entry import Entry

SOCKET, ALONE = "watchdog.socket", "watchdog"
OVERDUE = 15.0
"""Seconds after which an agent that hangs in a write is ended, once a deadline is over: the way back can't wait."""
TRIES = 5
"""Times that a way back is tried which could not be confirmed: an interface may be coming up."""
PAUSE = 1.0
"""Seconds between them."""
LONGEST_PAUSE = 60.0
"""Seconds between two attempts where the state can't be read or written: it goes on until it can be."""
_MCL_CURRENT, _MCL_FUTURE = 1, 2  # sys/mman.h
_STACK = 1 << 18
"""Bytes of the stack of a thread that waits for the disk: all of it is locked."""


class Successor(Protocol):
    """Who goes on when this process is killed: a `twin.Twin`."""

    ends: list[int]

    def live(self) -> None: ...

    def end(self) -> None: ...


def watch(host: Host, twin: Successor | None = None) -> None:
    """Wait, and take back what is due, until nothing is waited for, or another one watches here.

    Neither a disk that is full, read-only, silent or gone ends it, nor does it need one: see `_Seen`. Where neither the
    journal nor its copy nor its memory can be trusted, it waits until somebody has put that right; a status says so.

    Parameters
    ----------
    twin
        Who goes on when this process is killed; None: whoever started it sees to that.
    """
    with lock.opened(host, ALONE) as descriptor:
        if lock.try_lock(descriptor):
            go_on(host, twin)


def go_on(host: Host, twin: Successor | None) -> None:
    """As `watch`, for whoever has the lock ALONE."""
    _watch(host, twin)
    if twin is not None:
        twin.end()


def _watch(host: Host, twin: Successor | None) -> None:
    with _listening(host) as listener, lock.opened(host, lock.GUARD) as guard:
        host.step("watching")
        seen, failed, said = _Seen(host), 0, ""
        while (known := seen.deadlines()) is not None:
            if twin is not None:
                twin.live()
            wait = known.next - host.now()
            if wait > 0:
                _sleep(seen, listener, twin, min(wait, 3600.0))
                continue
            try:
                at_work = not _act(host, seen, guard)
            except (OSError, Damaged) as error:
                failed += 1
                if said != str(error):
                    _say(host, traceback.format_exc())
                said = str(error)
                _sleep(seen, listener, twin, min(PAUSE * failed, LONGEST_PAUSE))
            else:
                failed, said = 0, ""
                if at_work:
                    _sleep(seen, listener, twin, PAUSE / 10)


class _Seen:
    """What the state said when it could last be read: no change stays for want of a disk."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._place = self._now()
        self._known: Deadlines | None = None
        self._journal: Journal | None = None
        self._mark: tuple[int, ...] = ()

    def deadlines(self) -> Deadlines | None:
        """What is waited for; None: nothing."""
        with contextlib.suppress(OSError):
            self._known = _deadlines(self._host, self._journal)
        with contextlib.suppress(OSError, Damaged):  # half a line, perhaps: whoever has the guard is writing
            status = self._host.disk.do((self._host.folder / NAME).stat)
            mark = (status.st_ino, status.st_size, status.st_mtime_ns)
            if mark != self._mark:
                self._journal, self._mark = Journal(self._host), mark
        return self._known

    def journal(self) -> Journal:
        """The journal as it is, for whoever has the guard; or as it was, where it can be neither read nor trusted."""
        known = self._journal
        try:
            found = Journal(self._host)
        except OSError:
            if known is None:
                raise
            return known
        except Damaged as damaged:
            if known is None or len(known) < damaged.lines:
                raise
            known.outlive()
            return known
        if known is None or len(found) >= len(known) or self._now() == self._place:
            self._journal = known = found
        return known

    def _now(self) -> tuple[int, int] | None:
        """Which folder has the state's name: what lies beneath a disk that is gone is another."""
        try:
            status = self._host.disk.do(self._host.folder.stat)
        except OSError:
            return None
        return status.st_dev, status.st_ino


def settle() -> None:
    """Be a process that lives when others do not: no terminal, nothing to load from a disk that may be gone."""
    os.chdir("/")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))  # which systemd would else take for a service well done
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("-900")
    with contextlib.suppress(ImportError):  # a node without pyroute2
        import wulf.agent.net.netlink  # noqa: F401 - loaded now: a cut network may take the disk along
    with contextlib.suppress(OSError):
        threading.stack_size(_STACK)
        ctypes.CDLL(None).mlockall(_MCL_CURRENT | _MCL_FUTURE)


@contextlib.contextmanager
def _listening(host: Host) -> Iterator[socket.socket]:
    path = host.run / SOCKET
    path.unlink(missing_ok=True)  # of one that was killed: we are alone
    with within(host) as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(f"{folder}/{SOCKET}")
        listener.listen()
        try:
            yield listener
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def within(host: Host) -> Iterator[str]:
    """A short name of the folder of its socket, whose own may have 107 bytes (unix(7))."""
    descriptor = os.open(host.run, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/thread-self/fd/{descriptor}"  # a thread may have descriptors of its own
    finally:
        os.close(descriptor)


def _deadlines(host: Host, journal: Journal | None) -> Deadlines | None:
    """What is waited for. What can't be understood is over: a confirmation that is lost was never given."""
    try:
        known = deadlines.load(host)
    except ValueError:
        return deadlines.Deadlines(_campaign(host, journal), host.boot, 0.0, 0.0)
    return known if known is not None and known.boot == host.boot else None


def _campaign(host: Host, journal: Journal | None) -> str | None:
    """Who holds the node, as the lock or else the journal's last change has it; None: whoever has changed anything."""
    with contextlib.suppress(Refused):
        found = lock.holder(host)
        if found is not None:
            return str(found["campaign"])
    return next((str(each["campaign"]) for each in reversed(journal.changes.values())), None) if journal else None


def _sleep(seen: _Seen, listener: socket.socket, twin: Successor | None, seconds: float) -> None:
    """Until then, or the twin's end, or until somebody connects: who is told what we know, since we read it now."""
    if listener not in select.select([listener, *(twin.ends if twin else ())], [], [], seconds)[0]:
        return
    with contextlib.suppress(OSError), listener.accept()[0] as asker:
        known = seen.deadlines()
        told = {"pid": os.getpid(), "serial": known.serial if known else None, "until": known.next if known else None}
        asker.settimeout(1.0)
        asker.sendall(json.dumps(told).encode())


def _act(host: Host, seen: _Seen, guard: int) -> bool:
    """Take back what is due, unless it is no longer; False: an agent is at work, and is to end first."""
    try:
        with lock.guard(host, patience=0.0, descriptor=guard):
            known = seen.deadlines()
            if known is not None and known.next <= host.now():
                host.step("take back")
                _take_back(host, known, seen)
    except lock.Busy as busy:
        if busy.holder is not None and host.now() - busy.since > OVERDUE:
            _end(busy.holder, busy.started)
        return False
    return True


def _end(pid: int, began: str) -> None:
    """Kill a process, unless its number is another's by now."""
    try:
        process = os.pidfd_open(pid)
    except (AttributeError, OSError):  # it has ended; or Linux before 5.3, or a Python built for one
        process = -1
    try:
        if started(pid) != began:  # looked at after the descriptor was had: that stands for this process alone
            return
        with contextlib.suppress(ProcessLookupError):
            if process < 0:
                os.kill(pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(process, signal.SIGKILL)
    finally:
        if process >= 0:
            os.close(process)


def _take_back(host: Host, known: Deadlines, seen: _Seen) -> None:
    late = known.overdue(host.now())
    silent = host.now() >= known.lease_until
    if not silent:
        try:
            _unconfirmed(host, known, late, seen)
        except OSError:
            _say(host, traceback.format_exc())  # what is confirmed can't be told from what is not: everything goes back
            silent = True
    if silent:
        journal = seen.journal()
        chosen = [entry for entry in journal.open_entries(known.campaign) if not entry.kept]
        _back(host, journal, chosen, f"{WATCHDOG}nothing was heard of the controller for {known.lease:g} s")
        if any(not entry.kept for entry in journal.open_entries(known.campaign)):
            deadlines.clear(host)  # the lock stays, and a status says what could not be confirmed
        else:
            lock.release(host)


def _unconfirmed(host: Host, known: Deadlines, late: list[int], seen: _Seen) -> None:
    """Take back the changes that nobody confirmed, and what came after them."""
    journal = seen.journal()
    chosen = [entry for entry in journal.open_entries(known.campaign) if entry.change >= late[0] and not entry.kept]
    wait = known.pending[str(late[0])]["confirm"]
    _back(host, journal, chosen, f"{WATCHDOG}change {late[0]} was not confirmed within {wait:g} s")
    known.pending = {change: each for change, each in known.pending.items() if int(change) < late[0]}
    deadlines.save(host, known)


def _say(host: Host, text: str) -> None:
    """For the log, which may lie on a disk that is full or silent: nothing on the way back may depend on it."""
    with contextlib.suppress(OSError):
        host.disk.do(lambda: os.write(2, f"{text}\n".encode()))


def _back(host: Host, journal: Journal, chosen: list[Entry], why: str) -> None:
    for attempt in range(TRIES):
        results = revert(host, journal, [entry for entry in chosen if entry.open], why)
        _say(host, f"{why}: {json.dumps(results)}")
        if all(result["outcome"] != "unconfirmed" for result in results):
            return
        if attempt + 1 < TRIES:
            time.sleep(PAUSE)
