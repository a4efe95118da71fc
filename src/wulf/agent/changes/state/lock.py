"""Who may change this node: one process at a time (the guard), and one campaign until it ends (the lock)."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wulf.agent.changes.state import deadlines
from wulf.agent.files.durable import make_folder, read_object, remove, replace
from wulf.agent.processes.process import started
from wulf.agent.session import Refused

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host
    from wulf.agent.changes.state.journal import Journal

GUARD, LOCK = "guard", "lock"
PATIENCE = 20.0
"""Seconds that a request waits for another that is changing this node."""


class Busy(Exception):  # noqa: N818 - it says what is the matter
    """Another process holds the guard; `holder` is its number, and `since` when (`Host.now`), where that is known.

    `started` is when it was started, as the kernel counts: another process that has got its number has another.
    """

    def __init__(self, holder: int | None = None, since: float = math.inf, started: str = "") -> None:
        super().__init__(f"process {holder or '?'} is changing this node at this moment")
        self.holder, self.since, self.started = holder, since, started


@contextlib.contextmanager
def guard(host: Host, patience: float | None = None, descriptor: int | None = None) -> Iterator[None]:
    """Only one process at a time reads the journal to act on it. It ends with the process, however that ends.

    Parameters
    ----------
    patience
        Seconds; None: PATIENCE.
    descriptor
        The guard's, of `opened`; None: it is opened now.

    Raises
    ------
    Busy
        Another one has held it for `patience` seconds.
    OSError
        The folder can't be made, or the guard opened.
    """
    with opened(host, GUARD) if descriptor is None else contextlib.nullcontext(descriptor) as held:
        if not _locked(held, PATIENCE if patience is None else patience):
            raise _busy(held)
        try:
            _note(held, f"{os.getpid():<10} {host.now():<20.3f} {started(os.getpid()):<20}\n")
            yield
        finally:
            _note(held, f"{'':<53}\n")
            fcntl.flock(held, fcntl.LOCK_UN)


@contextlib.contextmanager
def opened(host: Host, name: str) -> Iterator[int]:
    """The descriptor of a file to lock: no child has it, and it ends with the process, however that ends."""
    make_folder(host.run)
    descriptor = os.open(host.run / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _note(descriptor: int, text: str) -> None:
    """Who holds the guard. A full memory must not keep anybody from taking a change back."""
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, text.encode(), 0)


def _locked(descriptor: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def try_lock(descriptor: int) -> bool:
    """Lock an open file, unless another has it locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _busy(descriptor: int) -> Busy:
    """Who has it, as he noted himself; nobody, where that process is gone, or another has got its number."""
    try:
        number, since, began = os.pread(descriptor, 100, 0).split()
        found = Busy(int(number), float(since), began.decode())
    except (OSError, ValueError):
        return Busy()
    return found if found.holder and started(found.holder) == found.started else Busy()


def holder(host: Host) -> dict[str, Any] | None:
    """The campaign that holds the node: {campaign, by, since, boot}; None where none does."""
    try:
        return read_object(host.run / LOCK)
    except ValueError as error:
        raise Refused(
            "state", f"the lock can't be read: {error}; take back what is open here with wulf-agent --revert, remove it"
        ) from error


def may_take(host: Host, journal: Journal, campaign: str) -> bool:
    """Whether the lock has to be written for a campaign; False: it has it. A dead one's is taken over.

    Raises
    ------
    Refused
        'locked': another campaign is alive, or has left changes behind.
    """
    found = holder(host)
    if found is not None and found["campaign"] == campaign:
        return False
    others = [entry for entry in journal.open_entries() if entry.campaign != campaign and not entry.kept]
    who = f"campaign {found['campaign']} of {found['by']}, since {_time(found['since'])}," if found else "a campaign"
    if others:
        raise Refused(
            "locked",
            f"{who} has {len(others)} changes open on this node, {others[0].name} the first; take them back first: "
            f"wulf tune revert {others[0].campaign}",
            "campaign",
        )
    if found is not None and found["boot"] == host.boot and deadlines.alive(host):
        raise Refused("locked", f"{who} is tuning this node; wait until it ends", "campaign")
    return True


def take(host: Host, campaign: str, by: str) -> None:
    """Write the lock. Raises OSError."""
    host.step("lock")
    told = {"campaign": campaign, "by": by, "since": host.wall(), "boot": host.boot}
    replace(host.run / LOCK, json.dumps(told).encode())


def release(host: Host) -> None:
    """Give the node free."""
    host.step("unlock")
    deadlines.clear(host)
    remove(host.run / LOCK)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
