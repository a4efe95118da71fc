"""Starts an MPI's launcher and outlives it: when the session's input closes, the launcher ends, and all it started.

A launcher hands its standard input to rank 0, and ends when the ranks end; but a rank that is stopped, or waits for a
message that never comes, would keep all of them for ever once nobody is left to kill them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PATIENCE = 5.0
"""Seconds that the launcher has to end by itself when its input has closed."""

GRACE = 5.0
"""Seconds that it has when it was asked to by SIGTERM."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_libc = ctypes.CDLL(None, use_errno=True)


def supervise(command: list[str]) -> int:
    """Run a command with our standard streams; its exit status, 128 + signal where it was killed, 127 if there is none.

    Nobody else reads or writes the streams: what passes costs nothing.
    """
    woken = adopt()
    try:
        child = subprocess.Popen(command, start_new_session=True, preexec_fn=die_with_parent)  # noqa: PLW1509
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        return 127
    serve(child, woken, PATIENCE)
    end_orphans()
    return 128 - child.returncode if child.returncode < 0 else child.returncode


def adopt() -> int:
    """What a child leaves behind becomes ours, to be ended; a descriptor that is readable after each signal."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return woken


def die_with_parent() -> None:
    """For a child before its program runs: it is asked to end when we do."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def guarded(run: Callable[[], int], release: Iterable[int] = ()) -> int:
    """Run in a process of its own: where that one is killed, what it had started is ended by this one.

    Killed itself, this one takes it along, by SIGTERM. Its exit status, 128 + signal where it was killed.

    Parameters
    ----------
    release
        Descriptors that are the other's alone: who reads at their far end waits for their end.
    """
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own = os.getpid()
    inner = os.fork()
    if inner == 0:
        os.setpgid(0, 0)  # killing this one's group is to reach the inner one as a SIGTERM, which it acts on
        die_with_parent()
        os._exit(run() if os.getppid() == own else 128 + signal.SIGTERM)
    for descriptor in release:
        os.close(descriptor)
    status = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    if status < 0:
        end_orphans()
    return 128 - status if status < 0 else status


def serve(child: subprocess.Popen[bytes], woken: int, patience: float) -> None:
    """Sleep until the child ends; from the end of input or a signal on, it has `patience` seconds to do so by itself.

    Then it is asked by SIGTERM, and `GRACE` seconds later its group is killed.
    """
    poller = select.poll()
    poller.register(woken, select.POLLIN)
    poller.register(0, select.POLLRDHUP)  # a pipe's hang-up comes unasked, a socket's must be asked for
    steps = [signal.SIGTERM, signal.SIGKILL]
    deadline: float | None = None
    while child.poll() is None:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        ready = dict(poller.poll(wait))
        asked = woken in ready and set(os.read(woken, 4096)) & {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
        if deadline is None and (0 in ready or asked):
            poller.unregister(0)
            deadline = time.monotonic() + patience
        elif deadline is not None and time.monotonic() >= deadline:
            _signal_all(child.pid, steps.pop(0) if steps else signal.SIGKILL)
            deadline = time.monotonic() + GRACE


def _signal_all(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        if number == signal.SIGKILL:
            os.killpg(group, number)
        else:
            os.kill(group, number)  # the launcher tells its ranks itself, and waits for them


def end_orphans(patience: float = 2.0) -> None:
    """What the launcher left behind: its connections to other nodes end by themselves, the rest is killed."""
    deadline = time.monotonic() + patience
    with contextlib.suppress(ChildProcessError):
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                if time.monotonic() > deadline:
                    left = _children()
                    if left is None:
                        return
                    for pid in left:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                time.sleep(0.01)


def _children() -> list[int] | None:
    """Ours, or None where the kernel does not tell."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        return None
    return [int(word) for word in text.split()]
