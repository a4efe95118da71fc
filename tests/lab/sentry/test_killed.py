"""A sentry killed again and again, also while it commits: nothing is lost, and no node is measured twice at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab.sentry.watching import (
    COMMON,
    SYSCALL,
    WULF,
    differences,
    is_sound,
    namespaces,
    probes_on,
    rows,
    sentry,
)
from tests.processes import wait_until
from wulf import lab as labs
from wulf.workflow.sentry.holding import MARK

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(3600)]

KILLS = int(os.environ.get("WULF_KILLS", "30"))

LONGEST = 9.0
"""Seconds that a sentry lives at most: longer than a measurement takes here, so that some end and some do not."""

PLAN = SYSCALL + COMMON.replace("at_once = 2", "at_once = 3")


class Monitor:
    """Looks at what measures on the nodes, again and again: who was measured twice at once."""

    def __init__(self, made: labs.Lab) -> None:
        self.own, self.twice, self.looks, self.most = namespaces(made), [], 0, 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look)

    @contextmanager
    def looking(self) -> Iterator[Monitor]:
        self._thread.start()
        try:
            yield self
        finally:
            self._ending.set()
            self._thread.join()

    def _look(self) -> None:
        while not self._ending.wait(0.05):
            found = probes_on(self.own)
            self.looks += 1
            self.most = max(self.most, len(found))
            self.twice += [(node, pids) for node, pids in found.items() if len(pids) > 1 and _lasts(pids)]


def _lasts(pids: list[int]) -> bool:
    """Whether two are there together, and not one that is a fork of the other, about to become something else."""
    marks = {pid: _parent(pid) for pid in pids}
    return not any(parent in pids for parent in marks.values())


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def marked(state: Path) -> list[int]:
    """Processes of measurements that are there, by their mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if f"{MARK}={state}".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def commits(state: Path) -> int:
    """The size of the write-ahead log: it grows while something is committed."""
    try:
        return state.with_name(f"{state.name}-wal").stat().st_size
    except OSError:
        return 0


def killed(words: list[str], state: Path, draw: random.Random) -> None:
    """Start a sentry, and kill it at a random moment; every other time just as it writes."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        time.sleep(draw.uniform(0.2, LONGEST))
        if draw.random() < 0.5:
            size, until = commits(state), time.monotonic() + 6
            while commits(state) == size and time.monotonic() < until:
                time.sleep(0.0002)
            time.sleep(draw.choice([0, 0.0002, 0.001, 0.005]))
        running.send_signal(signal.SIGKILL)


def test_a_sentry_killed_a_hundred_times_loses_nothing_and_measures_no_node_twice_at_once(
    three_nodes: labs.Lab, tmp_path: Path
) -> None:
    plan, state, draw = tmp_path / "plan.toml", tmp_path / "sentry.db", random.Random(20261129)
    plan.write_text(PLAN)
    words = [*WULF, "sentry", "run", str(plan), "--lab", three_nodes.name, "--state", str(state)]
    with Monitor(three_nodes).looking() as monitor:
        for number in range(KILLS):
            killed(words, state, draw)
            if state.exists() and rows(state, "SELECT 1 FROM sqlite_master"):  # else it was killed before it was one
                assert is_sound(state), f"after kill {number}"
                assert differences(state, plan, at_rest=False) == [], f"after kill {number}"
        assert wait_until(lambda: marked(state) == [], 60), "what a killed sentry had started ends with it"
        done = sentry("once", plan, "--lab", three_nodes.name, "--state", state, "--for", "0.001")
        assert done.returncode == 0, done.stderr
    assert monitor.twice == []
    assert differences(state, plan, at_rest=True) == []
    assert is_sound(state)
    assert rows(state, "SELECT * FROM claim") == []
    counts = dict(rows(state, "SELECT state, COUNT(*) FROM measurement GROUP BY state"))
    assert set(counts) <= {"done", "lost"}, counts
    assert counts["done"] >= KILLS // 20, counts
    assert counts["lost"] >= KILLS / 10, counts
    assert monitor.looks > 100
    assert monitor.most == len(three_nodes.nodes), "it sees what measures"
    assert wait_until(lambda: probes_on(monitor.own, ("wulf-node", "wulf-net")) == {}, 60)
    print(f"{KILLS} kills: {counts}, {monitor.looks} looks at the nodes, at most {monitor.most} nodes measured at once")
