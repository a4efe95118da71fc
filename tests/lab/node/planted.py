"""A culprit for `wulf node --noise --why` to find: `python planted.py KIND CPU`, until its input is closed.

It says a line when it has begun, and when its input ends what it has done: a JSON object. Nothing outlives it.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NAME = "planted"
"""What the kernel calls the process; of those that sit on another CPU, nobody."""

BUSY, PERIOD = 0.002, 0.02
"""Of the periodic task [s]: a tenth of the CPU, but for what it waits for it."""

INTERVAL = 0.0005
"""Of the timer [s]."""

DATAGRAMS = 50
"""A millisecond."""

_LIBC = ctypes.CDLL(None, use_errno=True)


def named(name: str) -> None:
    """Give this thread a name: prctl(PR_SET_NAME)."""
    _LIBC.prctl(15, name.encode())


def beats(seconds: float) -> Iterator[None]:
    """Comes back every so many seconds, until the input is closed."""
    following = time.monotonic()
    while True:
        following = max(following + seconds, time.monotonic())
        left = following - time.monotonic()
        if select.select([sys.stdin], [], [], max(left, 0.0))[0]:
            return
        yield


def task(_cpu: int) -> dict[str, float]:
    """Takes `BUSY` of each `PERIOD`, and knows from the kernel's own account how much it had."""
    start, had = time.monotonic(), time.thread_time()
    for _ in beats(PERIOD):
        end = time.thread_time() + BUSY
        while time.thread_time() < end:
            pass
    return {"share": (time.thread_time() - had) / (time.monotonic() - start)}


def timer(_cpu: int) -> dict[str, float]:
    """Has an interval timer run, whose function is the kernel's it_real_fn."""
    came = 0

    def on_alarm(_signal: int, _frame: Any) -> None:
        nonlocal came
        came += 1

    start = time.monotonic()
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    for _ in beats(0.1):
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {"rate": came / (time.monotonic() - start)}


def interrupts(cpu: int) -> dict[str, float]:
    """From another CPU, reads a counter of this one: each time it is interrupted, to say what it shows."""
    asked = struct.pack("<IIQ", 1, 112, 0) + bytes(96)  # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK
    counter = _LIBC.syscall(298, asked, -1, cpu, -1, 8)  # perf_event_open on x86-64, close on exec
    if counter < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
    start, reads = time.monotonic(), 0
    for _ in beats(0.001):
        for _each in range(20):
            os.read(counter, 8)
            reads += 1
    return {"rate": reads / (time.monotonic() - start)}


def network(_cpu: int) -> dict[str, float]:
    """Sends datagrams to itself over loopback: the softirq NET_RX delivers them where they were sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        own, start, sent = end.getsockname(), time.monotonic(), 0
        for _ in beats(0.001):
            for _each in range(DATAGRAMS):
                end.sendto(b"x" * 64, own)
                end.recv(64)
                sent += 1
        return {"rate": sent / (time.monotonic() - start)}


KINDS: dict[str, Callable[[int], dict[str, float]]] = {
    "task": task, "timer": timer, "interrupts": interrupts, "network": network,
}  # fmt: skip


@contextmanager
def planting(kind: str, cpu: int) -> Iterator[dict[str, float]]:
    """Such a culprit on a CPU meanwhile; afterwards what it says it did."""
    said: dict[str, float] = {}
    command = [sys.executable, __file__, kind, str(cpu)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as culprit:
        assert culprit.stdout is not None
        assert culprit.stdin is not None
        assert culprit.stdout.readline() == "begun\n"
        try:
            yield said
        finally:
            culprit.stdin.close()
            said.update(json.loads(culprit.stdout.readline()))
    assert culprit.returncode == 0


def main() -> None:
    """Be that culprit."""
    kind, cpu = sys.argv[1], int(sys.argv[2])
    away = os.sched_getaffinity(0) - {cpu}
    os.sched_setaffinity(0, away if kind == "interrupts" else {cpu})
    named(NAME)
    print("begun", flush=True)
    print(json.dumps(KINDS[kind](cpu)), flush=True)


if __name__ == "__main__":
    main()
