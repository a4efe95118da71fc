"""`wulf survey` over simulated nodes, the whole command in a process of its own: seconds, memory, cost per node.

The null launcher stands in for ssh; facts, plan, runner, records, findings and both reports are the command's own.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from bench.engine.child import spend
from bench.scale.nodes import fingerprint

SIZES = (100, 300, 1000)
LIMITS = {"seconds": 120.0, "memory": 2.0 * 2**30, "growth": 1.25}
"""Of the largest: seconds by the clock, bytes; and how many times as much CPU time per node as of the smallest."""

SLOWER = 5.0


@dataclass(frozen=True)
class Survey:
    """What one command cost: by the clock, of CPU time, its greatest resident set in bytes; whom it blamed."""

    nodes: int
    seconds: float
    cpu: float
    memory: int
    files: int
    planted: str
    named: tuple[str, ...]

    @property
    def cpu_per_node(self) -> float:
        """Seconds of CPU time, the start of the interpreter included."""
        return self.cpu / self.nodes


def planted(nodes: int) -> str:
    """The slow node."""
    return f"n{nodes // 3}"


def command(nodes: int, out: Path, *more: str) -> int:
    """`wulf survey` in this process, over a simulated cluster with one slow node; its exit code."""
    from wulf.cli.main import cli
    from wulf.cluster.launchers import null
    from wulf.cluster.simulated.cluster import NETWORK, SimulatedCluster

    names, slow = [f"n{i}" for i in range(1, nodes + 1)], planted(nodes)
    facts = fingerprint(names)
    cluster = SimulatedCluster(names, value=functools.partial(_value, slow), facts=facts.__getitem__)
    # a launcher is made by calling what stands there: a class, and here one with its cluster
    null.LAUNCHER = functools.partial(null.NullLauncher, cluster=cluster)  # type: ignore[assignment]
    inventory = out.with_suffix(".toml")
    # the network is said, so that no name server of this host is asked for names that nobody has
    inventory.write_text(f'nodes = "n[1-{nodes}]"\nlauncher = "null"\nnetwork = "{NETWORK}/8"\n')
    argv = ["survey", "--inventory", str(inventory), "--quick", "--seed", "1", "--out", str(out), *more]
    return int(cli.main(argv, standalone_mode=False))


def _value(slow: str, client: str, server: str, params: Mapping[str, Any]) -> float:
    """Round trips of 20 µs and streams of 1.2 GB/s, with 2 % between pairs; worse where the slow node takes part."""
    worse = SLOWER if slow in (client, server) else 1.0
    between = 1 + 0.02 * (crc32(f"{client}>{server}".encode()) % 1000 / 1000 - 0.5)
    if params["pattern"] == "pingpong":
        return (2e-5 + 1e-9 * float(params["bytes"])) * between * worse
    return 1.2e9 * between / worse


def measured(nodes: int) -> Survey:
    """The command in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="wulf-scale-") as name:
        out = Path(name) / "run"
        spent = spend([sys.executable, "-m", "bench.scale.survey", str(nodes), str(out)])
        if spent.status not in (0, 1):  # 1: the slow node was found
            raise RuntimeError(f"the survey of {nodes} simulated nodes ended with status {spent.status}")
        findings = json.loads((out / "findings.json").read_text())
        named = sorted({found["subject"] for found in findings if found["kind"] in ("node", "link", "failed")})
        files = sum(path.stat().st_size for path in out.iterdir())
    return Survey(nodes, spent.seconds, spent.cpu, spent.memory, files, planted(nodes), tuple(named))


def told(surveys: Sequence[Survey], say: Callable[[str], None] = print) -> bool:
    """Print each survey, and the limits beside what was reached; True where all are kept."""
    for one in surveys:
        right = "right" if one.named == (one.planted,) else f"WRONG: named {', '.join(one.named)}, not {one.planted}"
        say(
            f"survey of {one.nodes:>5,} nodes {one.seconds:7.2f} s, {one.cpu:7.2f} s of CPU "
            f"({1e3 * one.cpu_per_node:.1f} ms a node), {one.memory / 2**20:5.0f} MiB, "
            f"{one.files / 1e6:.1f} MB on disk: {right}"
        )
    first, last = surveys[0], surveys[-1]
    growth = last.cpu_per_node / first.cpu_per_node
    rows = [
        ("seconds", f"{last.seconds:.1f} s of {LIMITS['seconds']:g} s", last.seconds),
        ("memory", f"{last.memory / 2**30:.2f} GiB of {LIMITS['memory'] / 2**30:g} GiB", last.memory),
        ("growth", f"{growth:.2f} times the CPU time per node of {first.nodes}, of {LIMITS['growth']:g}", growth),
    ]
    for name, words, value in rows:
        say(f"{name:<10} {words:<56} {'kept' if value <= LIMITS[name] else 'EXCEEDED'}")
    kept = all(value <= LIMITS[name] for name, _, value in rows)
    return kept and all(one.named == (one.planted,) for one in surveys)


if __name__ == "__main__":
    sys.exit(command(int(sys.argv[1]), Path(sys.argv[2])))
