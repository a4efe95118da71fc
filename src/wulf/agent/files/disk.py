"""A disk that may never answer, as a file system does whose server or controller is gone: who waits for it goes on."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that a disk may take over a few lines, under load: beyond them it is as one that is gone."""


_CLONE_FILES = 0x400  # linux/sched.h


class Disk:
    """Work on files of one file system, each piece in a thread of its own: what waits in the kernel can't be ended.

    Not even by a SIGKILL of this process, which then is not gone: what a thread has open stays open, and locked. So it
    has a table of descriptors of its own, with nothing in it but the standard streams. Work opens what it needs.

    Parameters
    ----------
    patience
        Seconds that a piece of work may take.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._given_up: threading.Thread | None = None

    def do(self, work: Callable[[], T]) -> T:
        """What the work returns, or raises. Nothing more is begun while a piece that was given up still waits.

        Raises
        ------
        OSError
            ETIMEDOUT: it has not ended in time; see `go_on`. EAGAIN: there is no memory for a thread.
        """
        if self._given_up is not None and self._given_up.is_alive():
            raise self._silent()
        done: Future[T] = Future()
        worker = threading.Thread(target=_into, args=(done, work), name="wulf-disk", daemon=True)
        try:
            worker.start()
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
        if not wait([done], self._patience).done:
            self._given_up = worker
            raise self._silent()
        return done.result()

    def go_on(self) -> None:
        """Between two steps of the work: ends it, where nobody waits for it any more. Raises OSError."""
        if threading.current_thread() is self._given_up:
            raise self._silent()

    def _silent(self) -> OSError:
        return OSError(errno.ETIMEDOUT, f"{os.strerror(errno.ETIMEDOUT)}: the disk is silent for {self._patience:g} s")


def _into(done: Future[T], work: Callable[[], T]) -> None:
    try:
        _let_go()
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        done.set_exception(error)


def _let_go() -> None:
    """Have this thread hold none of the descriptors of its process: unshare(2)."""
    if ctypes.CDLL(None).unshare(_CLONE_FILES) != 0:  # forbidden here: it shares them as ever
        return
    with contextlib.suppress(OSError):
        for descriptor in map(int, os.listdir("/proc/thread-self/fd")):  # noqa: PTH208 - numbers, no paths
            if descriptor > 2:
                with contextlib.suppress(OSError):  # the listing's own
                    os.close(descriptor)
