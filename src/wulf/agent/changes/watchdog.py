"""The process on the node that takes changes back when nobody confirms them, or their controller falls silent.

It outlives agent, ssh and controller, sleeps until the next deadline (it is never a disturbance to a measurement), and
goes the same way back as everybody. A socket in the state folder wakes it: who connects makes it read the deadlines
anew, and is told which it knows.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wulf.agent.changes import deadlines, lock
from wulf.agent.changes.journal import WATCHDOG, Journal
from wulf.agent.changes.revert import revert
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from wulf.agent.changes.deadlines import Deadlines
    from wulf.agent.changes.entry import Entry
    from wulf.agent.changes.host import Host

SOCKET, ALONE = "watchdog.socket", "watchdog"
OVERDUE = 15.0
"""Seconds after which an agent that hangs in a write is ended, once a deadline is over: the way back can't wait."""
TRIES = 5
"""Times that a way back is tried which could not be confirmed: an interface may be coming up."""
PAUSE = 1.0
"""Seconds between them."""
_MCL_CURRENT = 1  # sys/mman.h


def watch(host: Host) -> int:
    """Wait, and take back what is due, until nothing is waited for. Returns the exit status.

    Raises Damaged and OSError where the journal can't be read: the deadlines stay, and a status says so.
    """
    with _alone(host) as only:
        if not only:
            return 0
        with _listening(host) as listener:
            host.step("watching")
            failed = 0
            while (known := _deadlines(host)) is not None:
                wait = known.next - host.now()
                if wait > 0:
                    _sleep(host, listener, wait)
                    continue
                try:
                    at_work = not _act(host)
                except OSError:
                    failed += 1
                    if failed == TRIES:
                        raise
                    _say(traceback.format_exc())
                    at_work = True
                if at_work:
                    _sleep(host, listener, PAUSE / 10)
    return 0


def settle() -> None:
    """Be a process that lives when others do not: no terminal, nothing to load from a disk that may be gone."""
    os.chdir("/")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("-900")
    with contextlib.suppress(ImportError):  # a node without pyroute2
        import wulf.agent.netlink  # noqa: F401 - loaded now: a cut network may take the disk along
    with contextlib.suppress(OSError):
        ctypes.CDLL(None).mlockall(_MCL_CURRENT)


@contextlib.contextmanager
def _alone(host: Host) -> Iterator[bool]:
    """Whether no other watchdog watches here."""
    descriptor = os.open(host.folder / ALONE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield lock.try_lock(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _listening(host: Host) -> Iterator[socket.socket]:
    path = host.folder / SOCKET
    path.unlink(missing_ok=True)  # of one that was killed: we are alone
    with within(host) as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(f"{folder}/{SOCKET}")
        listener.listen()
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def within(host: Host) -> Iterator[str]:
    """A short name of the state folder: a socket's may have 107 bytes (unix(7))."""
    descriptor = os.open(host.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _deadlines(host: Host) -> Deadlines | None:
    """What is waited for. What can't be understood is over: a confirmation that is lost was never given."""
    try:
        known = deadlines.load(host)
    except ValueError:
        return deadlines.Deadlines(_campaign(host), host.boot, 0.0, 0.0)
    return known if known is not None and known.boot == host.boot else None


def _campaign(host: Host) -> str:
    """Who holds the node, as the lock or else the journal's last change has it."""
    with contextlib.suppress(Refused):
        found = lock.holder(host)
        if found is not None:
            return str(found["campaign"])
    return str(next(reversed(Journal(host).changes.values()), {"campaign": ""})["campaign"])


def _sleep(host: Host, listener: socket.socket, seconds: float) -> None:
    """Until then, or until somebody connects: who is told what we know, since we read it anew now."""
    if not select.select([listener], [], [], min(seconds, 3600.0))[0]:
        return
    with contextlib.suppress(OSError), listener.accept()[0] as asker:
        known = _deadlines(host)
        told = {"pid": os.getpid(), "serial": known.serial if known else None, "until": known.next if known else None}
        asker.settimeout(1.0)
        asker.sendall(json.dumps(told).encode())


def _act(host: Host) -> bool:
    """Take back what is due, unless it is no longer; False: an agent is at work, and is to end first."""
    try:
        with lock.guard(host, patience=0.0):
            known = _deadlines(host)
            if known is not None and known.next <= host.now():
                host.step("take back")
                _take_back(host, known)
    except lock.Busy as busy:
        if busy.holder is not None and host.now() - busy.since > OVERDUE:
            with contextlib.suppress(ProcessLookupError):
                os.kill(busy.holder, signal.SIGKILL)
        return False
    return True


def _take_back(host: Host, known: Deadlines) -> None:
    late = known.overdue(host.now())
    silent = host.now() >= known.lease_until
    if not silent:
        try:
            _unconfirmed(host, known, late)
        except OSError:
            _say(traceback.format_exc())  # what is confirmed can't be told from what is not: everything goes back
            silent = True
    if silent:
        journal = Journal(host)
        chosen = [entry for entry in journal.open_entries(known.campaign) if not entry.kept]
        _back(host, journal, chosen, f"{WATCHDOG}nothing was heard of the controller for {known.lease:g} s")
        if any(not entry.kept for entry in journal.open_entries(known.campaign)):
            deadlines.clear(host)  # the lock stays, and a status says what could not be confirmed
        else:
            lock.release(host)


def _unconfirmed(host: Host, known: Deadlines, late: list[int]) -> None:
    """Take back the changes that nobody confirmed, and what came after them."""
    journal = Journal(host)
    chosen = [entry for entry in journal.open_entries(known.campaign) if entry.change >= late[0] and not entry.kept]
    wait = known.pending[str(late[0])]["confirm"]
    _back(host, journal, chosen, f"{WATCHDOG}change {late[0]} was not confirmed within {wait:g} s")
    known.pending = {change: each for change, each in known.pending.items() if int(change) < late[0]}
    deadlines.save(host, known)


def _say(text: str) -> None:
    """For the log, which may lie on a full disk: nothing on the way back may depend on it."""
    with contextlib.suppress(OSError):
        os.write(2, f"{text}\n".encode())


def _back(host: Host, journal: Journal, chosen: list[Entry], why: str) -> None:
    for attempt in range(TRIES):
        results = revert(host, journal, [entry for entry in chosen if entry.open], why)
        _say(f"{why}: {json.dumps(results)}")
        if all(result["outcome"] != "unconfirmed" for result in results):
            return
        if attempt + 1 < TRIES:
            time.sleep(PAUSE)
