"""How much of the CPUs' time somebody else took during a test: a hypervisor with other guests, a quota, a neighbour.

What a test plants is exact on a machine at rest alone. Where something takes CPUs away, a shaped link passes less than
its rate: bounds are to give way by what was taken, and by no more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SLEEP_S, _NEGLIGIBLE_S = 0.004, 0.0005

_AT_REST = 0.02
"""Ten times what is lost on a machine that nobody shares, under full load of its own."""

_WATCH = """
import json, os, select, sys, time
cpu, sleep, negligible = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
os.sched_setaffinity(0, {cpu})
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # what still comes first, no test of ours did
except PermissionError:
    pass
print("ready", flush=True)
began, lost = time.monotonic(), 0.0
while True:
    before = time.monotonic()
    ended = select.select([sys.stdin], [], [], sleep)[0]
    late = time.monotonic() - before - sleep
    if late > negligible:
        lost += late
    if ended:
        break
print(json.dumps([lost, time.monotonic() - began]))
"""


@dataclass
class Disturbance:
    """`lost`: share of the time in which one CPU or another was taken away; 0 until the block has ended."""

    lost: float = 0.0

    @property
    def at_rest(self) -> bool:
        """Whether what was planted is to be seen."""
        return self.lost < _AT_REST


@contextmanager
def disturbance() -> Iterator[Disturbance]:
    """Watches every CPU for the length of the block, by how late a process of real-time priority wakes up."""
    found = Disturbance()
    words = [sys.executable, "-c", _WATCH]
    watchers = [
        subprocess.Popen(
            [*words, str(cpu), str(_SLEEP_S), str(_NEGLIGIBLE_S)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for cpu in sorted(os.sched_getaffinity(0))
    ]
    try:
        for watcher in watchers:
            assert watcher.stdout.readline() == "ready\n"
        yield found
    finally:
        shares = []
        for watcher in watchers:
            lost, whole = json.loads(watcher.communicate()[0])
            shares.append(lost / whole)
        found.lost = min(1.0, sum(shares))


def best_share(measure: Callable[[], float], enough: float) -> tuple[float, float]:
    """The best of up to four shares of a rate, and the most that was lost meanwhile: a busy machine starves streams."""
    shares, lost = [], 0.0
    while len(shares) < 4 and max(shares, default=0.0) < enough:
        with disturbance() as taken:
            shares.append(measure())
        lost = max(lost, taken.lost)
    return max(shares), lost
