"""A round of `wulf sentry` over simulated nodes, in a process of its own: seconds, memory, how many nodes were asked.

The null launcher stands in for ssh; the state, what is recovered and chosen, and whom Slurm would drain are those of
the product. A month lies behind it, in which each node was measured each day.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path

from bench.engine.child import own_peak
from wulf.cluster.inventory import Inventory
from wulf.core.durations import DAY
from wulf.sentry.draining import SlurmNode, orders
from wulf.sentry.plan import SentryPlan, read_plan
from wulf.sentry.state import SentryState
from wulf.workflow.sentry.asked import status
from wulf.workflow.sentry.children import Child, End, Job
from wulf.workflow.sentry.idle import ByLoad
from wulf.workflow.sentry.watch import Outside, Watch

LEFT = 64
"""Measurements that a killed sentry has left."""

LIMITS = {"round": 10.0, "memory": 300 * 2.0**20}
"""Seconds of CPU of recovering, choosing and asking, and bytes, for 10,000 nodes."""

ROUND = ("begin and recover", "choose and ask", "choose again")


@dataclass
class Round:
    """What a round cost: CPU seconds by step, the greatest resident set in bytes; how many nodes were asked."""

    nodes: int
    cpu: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    asked: int = 0
    started: int = 0
    recovered: int = 0

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Note the CPU time that a step takes."""
        began = time.process_time()
        yield
        self.cpu[step] = time.process_time() - began


class _Ended:
    """A command that ended without a figure."""

    def poll(self, _now: float) -> End:
        return End(2)

    def stop(self) -> None:
        """It has ended."""


class _Commands:
    """Starts nothing."""

    def start(self, _job: Job, _now: float) -> Child:
        return _Ended()


@dataclass
class _Counted:
    """Counts whom `ByLoad` asks."""

    inner: ByLoad
    asked: int = 0
    unreached: dict[str, str] = field(default_factory=dict)
    apart: set[str] = field(default_factory=set)

    def of(self, nodes: Sequence[str]) -> set[str]:
        self.asked += len(nodes)
        return self.inner.of(nodes)


def history(state: SentryState, plan: SentryPlan, names: Sequence[str], now: float) -> None:
    """A month in which each node was measured each day, and a day in which it was not."""
    holder = {"boot": "another", "pid": "1", "started": "1"}
    with state.transaction():
        state.watch(dict.fromkeys(names, "simulated"), now - 31 * DAY, 0.01)
        for day in range(30, 0, -1):
            number = state.claim("check", names, "due", now - day * DAY, holder)
            assert number is not None
            state.finish(number, "done", now - day * DAY + 60, 60.0, measured=names)
            for measure in plan.measure:
                state.write(
                    "INSERT OR REPLACE INTO measured VALUES (?, ?, ?)",
                    [(name, measure.name, now - (60.0 if measure.on == "any" else day * DAY)) for name in names],
                )
        for number, name in enumerate(names[:LEFT]):
            state.claim("node", [name], "due", now - 60.0 - number, holder)


def simulated(count: int, folder: Path) -> Round:
    """A round over so many nodes, in this process."""
    (folder / "plan.toml").write_text(files("wulf.sentry").joinpath("example.toml").read_text(encoding="utf-8"))
    plan, now, found = read_plan(folder / "plan.toml"), time.time(), Round(count)
    inventory = Inventory.from_nodeset(f"n[1-{count}]", launcher="null")
    with SentryState(folder / "sentry.db") as state:
        history(state, plan, inventory.names, now)
        idle = _Counted(ByLoad(inventory, plan.idle))
        outside = Outside(_Commands(), idle, lambda: now, {"boot": "b"}, lambda _: False, lambda _: True)
        watch = Watch(state, plan, inventory.names, folder / "runs", outside)
        with found.timed("begin and recover"):
            watch.begin()
        found.recovered = LEFT - len(state.running())
        with found.timed("choose and ask"):
            found.started = watch.start()
        found.asked = idle.asked
        with found.timed("take in"):
            watch.collect()
        with found.timed("choose again"):
            watch.start()
        with found.timed("ask all nodes"):
            idle.inner.of(inventory.names)
        with found.timed("status"):
            status(state, now)
        slurm = {name: SlurmNode(name, "idle") for name in inventory.names}
        with found.timed("whom to drain"):
            orders(state.incidents(), slurm, state.drained(), 2)
        found.memory = own_peak()
    return found


def measured(count: int) -> Round:
    """The same in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="wulf-scale-") as folder:
        words = [sys.executable, "-m", "bench.scale.sentry", str(count), folder]
        return Round(**json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout))


def told(one: Round, say: Callable[[str], None] = print) -> bool:
    """Print the figures beside their limits; True where all are kept, and what was to happen did."""
    say(f"wulf sentry, {one.nodes:,} nodes: {one.recovered} measurements recovered, {one.asked} nodes asked, "
        f"{one.started} measurements started")  # fmt: skip
    for step, seconds in one.cpu.items():
        say(f"  {step:<32} {seconds:7.2f} s of CPU")
    spent = sum(one.cpu[step] for step in ROUND)
    kept = spent <= LIMITS["round"] and one.memory <= LIMITS["memory"]
    say(f"round {spent:.2f} s of {LIMITS['round']:g} s, memory {one.memory / 2**20:.0f} MiB of "
        f"{LIMITS['memory'] / 2**20:.0f} MiB: {'kept' if kept else 'EXCEEDED'}")  # fmt: skip
    return kept and one.recovered == LEFT and one.started > 0


if __name__ == "__main__":
    print(json.dumps(asdict(simulated(int(sys.argv[1]), Path(sys.argv[2])))))
