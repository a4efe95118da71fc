"""Runs of the node survey in memory, for the tests of reports: made-up machines whose caches and clocks are known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.unit.report.make_run import EVIL, facts, make_run, record
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Param, Record, Verdict
from wulf.measure.node.rows import Row, table
from wulf.store.run import Facts, Run

CACHES = {"L1": (48 << 10, 1.6e-9), "L2": (1280 << 10, 4.9e-9), "L3": (32 << 20, 22e-9)}
"""Where each ends, and the latency of a load within it."""

MEMORY = 96e-9
CLOCK = 3.1e9
SIZES = [round(4096 * 2 ** (i / 3)) // 64 * 64 for i in range(46)]
TYPICAL = {"s": 1.4e-6, "B/s": 11.3e9, "Hz": 1.2e9, "flop/s": 38e9, "W": 61.0, "1": 0.004, "B": 64.0}
FIGURES = {
    "cpu.int.add": 3.2e-10, "cpu.int.div": 5.8e-9, "cpu.double.add": 1.29e-9, "cpu.double.mul": 1.3e-9,
    "cpu.double.div": 4.2e-9, "cpu.fma.double": 44e9, "cpu.fma.double.all": 312e9, "mem.l1.latency": 1.6e-9,
    "mem.l2.latency": 4.9e-9, "mem.l3.latency": 22e-9, "mem.random.latency": 96e-9, "mem.triad": 12.7e9,
    "mem.triad.all": 88e9, "os.syscall.null": 71e-9, "os.process.fork": 92e-6, "os.context.2p.0k": 1.7e-6,
    "noise.detour.lost": 2.1e-4, "noise.detour.worst": 4.2e-5, "noise.detour.rate": 260.0, "noise.ftq.lost": 3e-4,
    "cpu.clock": CLOCK,
}  # fmt: skip
NOT_HERE = {
    "os.io_uring": "io_uring is switched off here (kernel.io_uring_disabled = 2)",
    "power.package": "no RAPL: /sys/class/powercap is empty in this virtual machine",
    "power.memory": "no RAPL: /sys/class/powercap is empty in this virtual machine",
    "mem.random.latency.huge": "no huge page is free (vm.nr_hugepages = 0), and THP is off",
}


def clocked(clock: float = CLOCK, **more: Any) -> dict[str, Any]:
    """What a replicate's info says of the clock."""
    return {"clock_rate": {"unit": "Hz", "before": clock * 0.999, "after": clock * 1.001}, "cpu": 3, **more}


def measured(node: str, metric: str, value: float | None, params: dict[str, Param], **fields: Any) -> Record:
    """One record of wulf-node."""
    content = {"probe": "node", "params": params, "info": clocked(), "replicates": 8 if value is not None else 0}
    if value is None:
        content |= {"verdict": Verdict.UNRESOLVED, "supported": False}
    return record(node, metric, value, **{**content, **fields})


def row_record(row: Row, node: str, factor: float, clock: float = CLOCK) -> Record:
    """A row's record of a node that is by that factor worse than others."""
    reason = NOT_HERE.get(row.name)
    unit = "Hz" if row.probe == "arithmetic" and row.metric == "throughput" else row.unit
    value = None if reason else FIGURES.get(row.name, TYPICAL.get(unit, 1.0)) * factor ** (row.worse or 1)
    params = {"pattern": row.probe, **{k: v for k, v in row.params.items() if k != "bytes"}}
    subject = node if row.program == "node" else f"{node}>{node}"
    more = {"probe": row.program, "unit": unit, "row": row.name, "phase": "row", "info": clocked(clock)}
    if row.transport:
        params["transport"] = row.transport
    return measured(subject, row.metric, value, params, **more, **({"reason": reason} if reason else {}))


def latency(size: float, pages: str) -> float:
    """Of a random chase: each cache answers for its share of the working set, small pages miss the TLB beyond 6 MiB."""
    spent, inside = 0.0, 0.0
    for end, cost in (*CACHES.values(), (float("inf"), MEMORY)):
        share = min(1.0, end / size) - inside
        spent, inside = spent + share * cost, inside + share
    return spent + (9e-9 * max(0.0, 1 - (6 << 20) / size) if pages == "small" else 0.0)


def sweep_records(node: str, rng: random.Random, factor: float = 1.0) -> list[Record]:
    """The chase on both kinds of pages, and cpu-rate with its deviation."""
    found = []
    for size in SIZES:
        for pages in ("small", "huge"):
            params: dict[str, Param] = {"pattern": "chase", "bytes": size, "pages": pages, "stride": 0, "chains": 1}
            value = latency(size, pages) * factor * rng.uniform(0.985, 1.02)
            noisy = {"verdict": Verdict.NOISY, "reason": "the clock moved"} if rng.random() < 0.04 else {}
            found.append(measured(node, "latency", value, params, unit="s", phase="curve", **noisy))
    for size in SIZES[2::2]:
        params = {"pattern": "cpu-rate", "bytes": size, "runs": 100}
        time = 3.3e-10 + 2.2e-10 / (1 + (1280 << 10) / size)
        spread = time * (0.004 + 0.05 * math.exp(-((math.log2(size / (1280 << 10))) ** 2)))
        common = {"phase": "curve"}
        found.append(measured(node, "rate", rng.uniform(0.99, 1.01) / time, params, unit="Hz", **common))
        found.append(measured(node, "deviation", spread * rng.uniform(0.8, 1.2), params, unit="s", **common))
    return found


def bandwidth_records(node: str, rng: random.Random) -> list[Record]:
    """Each kernel at four sizes, on one CPU and all, with and without non-temporal stores."""
    found = []
    kernels = ("read", "write", "copy", "scale", "add", "triad", "memcpy")
    for threads in (1, 0):
        for number, kernel in enumerate(kernels):
            for stores in ("normal", "nontemporal"):
                sizes = (12 << 10, 320 << 10, 8 << 20, 128 << 20)
                if stores == "nontemporal":
                    sizes = sizes[2:] if kernel not in ("read", "memcpy") else ()
                for size, rate in zip(sizes, (180e9, 88e9, 31e9, 12e9)[-len(sizes) :] if sizes else (), strict=True):
                    value = rate * (1 - 0.06 * number) * (1 if threads else 5.5) * rng.uniform(0.97, 1.03)
                    value *= 1.3 if stores == "nontemporal" else 1
                    params: dict[str, Param] = {"pattern": "bandwidth", "bytes": size, "kernel": kernel,
                                                "threads": threads, "stores": stores}  # fmt: skip
                    found.append(measured(node, "throughput", value, params, phase="curve"))
    return found


def edge_records(node: str) -> list[Record]:
    """Where the caches end: two found, one not resolved; and an edge that is no cache's."""
    found = []
    for name, (size, _) in {**CACHES, None: (6 << 20, 0.0)}.items():
        params: dict[str, Param] = {"pattern": "edge", "level": name and name.lower(), "pages": "huge"}
        extra: dict[str, Any] = {"unit": "B", "reported": size if name else None, "agrees": True if name else None}
        if name:
            extra |= {"row": f"mem.{name.lower()}.size", "phase": "row"}
        if name == "L3":
            extra |= {"reason": "the plateaus of L3 and memory are not told apart", "supported": True}
            found.append(measured(node, "edge", None, params, **extra))
        else:
            half = {"value": size * 1.3, "low": size * 1.2, "high": size * 1.4}
            extra |= {"low": size * 0.85, "high": size * 1.12, "half_rise": half, "sigma_peak": None}
            found.append(measured(node, "edge", size * 0.96, params, **extra))
    return found


def core_records(node: str, cpus: int, rng: random.Random) -> list[Record]:
    """Every pair of CPUs: twins share a core, halves a socket; one could not be measured."""
    found = []
    for a in range(cpus):
        for b in range(a + 1, cpus):
            near = 14e-9 if a // 2 == b // 2 else 52e-9 if (a < cpus / 2) == (b < cpus / 2) else 118e-9
            params: dict[str, Param] = {"pattern": "core-to-core", "cpu": a, "other": b}
            why = {"reason": "CPU 3 is not in this process's cpuset"} if (a, b) == (0, 3) else {}
            value = None if why else near * rng.uniform(0.97, 1.03)
            found.append(measured(node, "latency", value, params, unit="s", phase="matrix", **why))
    return found


def numa_records(node: str, nodes: int = 2) -> list[Record]:
    """From a CPU of each memory node to each memory node."""
    return [
        measured(node, metric, near if a == b else far, {"pattern": "numa", "cpu": a * 4, "memory_node": b},
                 unit=unit, phase="matrix")
        for a in range(nodes)
        for b in range(nodes)
        for metric, unit, near, far in (("latency", "s", 88e-9, 141e-9), ("throughput", "B/s", 14e9, 8.7e9))
    ]  # fmt: skip


def node_facts(node: str, **more: Any) -> Facts:
    """A node with two memory nodes of four CPUs."""
    given = {"numa.0.cpus": "0-3", "numa.1.cpus": "4-7", "cpu.l1d_size": 48 << 10, **more}
    return {**facts(node), **{name: {"value": value, "provenance": "reported"} for name, value in given.items()}}


def deviation(node: str, ratios: dict[str, float]) -> Finding:
    """What the survey finds of a node that deviates: row → its figure by its like's."""
    evidence = [
        Evidence.model_validate({
            "subject": node, "metric": f"{name}, node / its like", "unit": "1", "value": ratio, "low": ratio * 0.98,
            "high": ratio * 1.02, "expected": 1.0, "row": name,
        })
        for name, ratio in ratios.items()
    ]  # fmt: skip
    text = f"{node} deviates from the others of its kind in {len(ratios)} figures."
    return Finding(kind="deviation", severity=Severity.BAD, subject=node, text=text, evidence=evidence)


def node_run(
    nodes: Sequence[str] = ("n1",), slow: str | None = None, cpus: int = 8, seed: int = 5, **meta: Any
) -> Run:  # fmt: skip
    """A whole node survey; `slow` has a slower memory and a worse kernel."""
    rng = random.Random(seed)
    records = []
    for node in nodes:
        for row in table().rows:
            if row.remote and len(nodes) < 2:
                continue
            odd = node == slow and row.name.startswith(("mem.random", "mem.triad", "os.syscall"))
            factor = (
                0.94
                if node == slow and row.name == "cpu.double.div"
                else rng.uniform(0.99, 1.01) * ((2.3 if "triad" in row.name else 1.31) if odd else 1.0)
            )
            records.append(row_record(row, node, factor))
        records += sweep_records(node, rng, 1.3 if node == slow else 1.0)
        records += bandwidth_records(node, rng) + edge_records(node)
        records += core_records(node, cpus, rng) + numa_records(node)
    worse = {"mem.random.latency": 1.31, "mem.triad": 1 / 2.3, "mem.triad.all": 1 / 2.3, "os.syscall.null": 1.31}
    better = {"cpu.double.div": 0.94, "mem.line": 2.0}
    findings = [deviation(slow, worse | better)] if slow else []
    content = {"command": "node", "argv": ["wulf", "node"], "id": "20261121T164512-node-51c0"}
    return make_run(
        nodes, records, findings, fingerprint={node: node_facts(node) for node in nodes}, **{**content, **meta}
    )


def hostile_node() -> Run:
    """Markup where a node's owner, or a node, can put text."""
    name = "<b>n1</b>"
    run = node_run((name, "n2"))
    for each in run.records:
        if each.value is None:
            each.reason = EVIL
    run.fingerprint[name]["cpu.model"] = {"value": EVIL, "provenance": "reported"}
    return run


def mixed() -> Run:
    """Records of wulf-node beside a network survey."""
    from tests.unit.report.make_run import survey

    run = survey()
    run.records += node_run(("n1", "n2", "n3", "n4")).records
    return run


def nothing_measured() -> Run:
    """A node on which nothing could be measured."""
    run = node_run(("n1",))
    for each in run.records:
        each.value = each.low = each.high = each.confidence = None
        each.verdict, each.reason = Verdict.FAILED, "wulf-node ended unexpectedly: killed by SIGKILL"
    return run


NODE_SHAPES: dict[str, Callable[[], Run]] = {
    "node": node_run,
    "node-five": lambda: node_run(tuple(f"n{i}" for i in range(1, 6)), slow="n3"),
    "node-forty": lambda: node_run(tuple(f"node{i:02d}" for i in range(1, 41)), slow="node33", cpus=2),
    "node-cores": lambda: node_run(cpus=16),
    "node-many-cores": lambda: node_run(cpus=64),
    "node-hostile": hostile_node,
    "node-mixed": mixed,
    "node-nothing": nothing_measured,
    "node-probe": lambda: make_run(
        ("n1",), [measured("n1", "latency", 7e-8, {"pattern": "syscall"}, unit="s", phase="single")], command="node"
    ),
}
"""The shapes that a run of the node survey can have; every report must cope with each."""
