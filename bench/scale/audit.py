"""`wulf audit` over simulated nodes, the whole command in a process of its own: seconds, memory, what it named.

The null launcher stands in for ssh; facts, settings, judgement, findings and both reports are the command's own.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engine.child import spend
from bench.scale.nodes import fingerprint
from wulf.tune.setting import Setting

NODES = 1000
CPUS, QUEUES = 64, 16
"""Of a simulated node: how many places its settings of CPUs and of queues have."""

LIMITS = {"seconds": 60.0, "memory": 2.0 * 2**30}


@dataclass(frozen=True)
class Cost:
    """What one command cost: by the clock, of CPU time, its greatest resident set in bytes; what it named."""

    nodes: int
    readings: int
    seconds: float
    cpu: float
    memory: int
    page: int
    planted: tuple[tuple[str, str], ...]
    named: tuple[tuple[str, str], ...]


def planted(nodes: int) -> tuple[tuple[str, str], ...]:
    """Nodes that differ, and in what: a value, and what a reboot would give."""
    return ("setting", f"n{nodes // 3}"), ("startup", f"n{nodes // 2}")


def places_of(setting: Setting) -> list[str]:
    """Where a simulated node has the setting."""
    if setting.scope == "cpu":
        return [f"cpu{i}" for i in range(CPUS)]
    if setting.scope in ("queue", "irq"):
        return [f"rx-{i} of eth0" for i in range(QUEUES)]
    return ["eth0"] if setting.scope == "nic" else [""]


def value_of(setting: Setting) -> Any:
    """One that the catalogue allows."""
    if setting.choices:
        return setting.choices[0]
    if setting.type == "bool":
        return False
    return setting.low or 0 if setting.type in ("int", "float") else "usual"


def settings_of(catalogue: dict[str, Setting], nodes: int, odd: str, node: str) -> dict[str, Any]:
    """The readings of a node: like all others', but for the planted ones, in the setting `odd`."""
    found = {}
    for name, setting in catalogue.items():
        value = value_of(setting)
        found[name] = {place: {"value": value, "startup": value} for place in places_of(setting)}
    (_, differs), (_, forgets) = planted(nodes)
    if node == differs:
        found[odd][""] = {"value": 4711, "startup": 4711}
    if node == forgets:
        found[odd][""]["startup"] = 4711
    return found


def command(nodes: int, out: Path, *more: str) -> int:
    """`wulf audit` in this process, over a simulated cluster with two odd nodes; its exit code."""
    from wulf.cli.main import cli
    from wulf.cluster.launchers import null
    from wulf.cluster.simulated.cluster import NETWORK, SimulatedCluster
    from wulf.tune.catalogue import catalogue

    names, known = [f"n{i}" for i in range(1, nodes + 1)], catalogue()
    odd = next(one.name for one in known.values() if one.mechanism == "sysctl" and one.uniform and not one.masked_by)
    facts = fingerprint(names)
    settings = functools.partial(settings_of, known, nodes, odd)
    cluster = SimulatedCluster(names, facts=facts.__getitem__, settings=settings)
    # a launcher is made by calling what stands there: a class, and here one with its cluster
    null.LAUNCHER = functools.partial(null.NullLauncher, cluster=cluster)  # type: ignore[assignment]
    inventory = out.with_suffix(".toml")
    inventory.write_text(f'nodes = "n[1-{nodes}]"\nlauncher = "null"\nnetwork = "{NETWORK}/8"\n')
    argv = ["audit", "--inventory", str(inventory), "--out", str(out), *more]
    return int(cli.main(argv, standalone_mode=False))


def named(out: Path) -> tuple[tuple[str, str], ...]:
    """What the findings say differs, and what a reboot would change: kind and node."""
    findings = json.loads((out / "findings.json").read_text())
    return tuple((one["kind"], one["subject"]) for one in findings if one["kind"] in ("setting", "startup", "failed"))


def measured(nodes: int = NODES) -> Cost:
    """The command in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="wulf-scale-") as name:
        out = Path(name) / "run"
        spent = spend([sys.executable, "-m", "bench.scale.audit", str(nodes), str(out)])
        if spent.status != 1:  # the odd nodes were found
            raise RuntimeError(f"the audit of {nodes} simulated nodes ended with status {spent.status}")
        asked = json.loads((out / "settings.json").read_text())["readings"]
        readings = sum(len(places) for own in asked.values() for places in own.values())
        page = (out / "report.html").stat().st_size
        found = named(out)
    return Cost(nodes, readings, spent.seconds, spent.cpu, spent.memory, page, planted(nodes), found)


def told(one: Cost, say: Callable[[str], None] = print) -> bool:
    """Print what the audit cost, and the limits beside it; True where all are kept and the odd nodes were named."""
    right = sorted(one.named) == sorted(one.planted)
    say(
        f"audit of {one.nodes:>6,} nodes {one.seconds:7.2f} s, {one.cpu:7.2f} s of CPU, {one.readings:,} readings, "
        f"{one.memory / 2**20:5.0f} MiB, page {one.page / 1e6:.1f} MB: "
        + ("right" if right else f"WRONG: named {one.named}, not {one.planted}")
    )
    rows = [
        ("seconds", f"{one.seconds:.1f} s of {LIMITS['seconds']:g} s", one.seconds),
        ("memory", f"{one.memory / 2**30:.2f} GiB of {LIMITS['memory'] / 2**30:g} GiB", float(one.memory)),
    ]
    for name, words, value in rows:
        say(f"{name:<10} {words:<56} {'kept' if value <= LIMITS[name] else 'EXCEEDED'}")
    return right and all(value <= LIMITS[name] for name, _, value in rows)


if __name__ == "__main__":
    sys.exit(command(int(sys.argv[1]), Path(sys.argv[2])))
