"""Runs in memory for the tests of reports: made-up figures in the shape of a survey's, from a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.store.run import Facts, Run

GBIT = 1e9 / 8
SIZES = [2**exponent for exponent in range(0, 23, 2)]
AT = "2026-11-20T18:44:53.120Z"


def record(subject: str, metric: str, value: float | None, **fields: Any) -> Record:
    """One record with an interval of ±2 % around its value."""
    unit = {"rtt": "s", "throughput": "B/s"}.get(metric, "1")
    interval = {} if value is None else {"low": value * 0.98, "high": value * 1.02, "confidence": 0.95}
    content: dict[str, Any] = {
        "run": "test", "subject": subject, "probe": "net", "metric": metric, "unit": unit, "value": value,
        "replicates": 0 if value is None else 10, "statistic": None if value is None else "median",
        "verdict": Verdict.OK, "at": AT, "params": {"transport": "tcp", "pattern": "pingpong", "bytes": 1},
    }  # fmt: skip
    return Record(**{**content, **interval, **fields})


def failed(subject: str, metric: str, reason: str, **fields: Any) -> Record:
    """A record without a value."""
    return record(subject, metric, None, verdict=Verdict.FAILED, reason=reason, **fields)


def params(transport: str, pattern: str, size: int) -> dict[str, Any]:
    """A cell's parameters."""
    return {"transport": transport, "pattern": pattern, "bytes": size, "seconds": 0.1}


def pair_records(nodes: Sequence[str], slow: str | None = None, seed: int = 1) -> list[Record]:
    """All pairs: TCP round trip, TCP stream both ways, UDP round trip; every link of `slow` at 0.19 Gbit/s."""
    rng = random.Random(seed)
    records = []
    for a, b in combinations(nodes, 2):
        shaped = slow in (a, b)
        for transport, base in (("tcp", 18.5e-6), ("udp", 16.8e-6)):
            rtt = base * rng.uniform(0.97, 1.04) * (1.09 if shaped else 1.0)
            quantiles = {"0.5": rtt, "0.9": rtt * 1.1, "0.99": rtt * 1.6, "0.999": rtt * 4.1}
            common = {"phase": "pairs", "params": params(transport, "pingpong", 1)}
            records.append(record(f"{a}>{b}", "rtt", rtt, quantiles=quantiles, **common))
            if transport == "udp":
                records.append(record(f"{a}>{b}", "lost", 0.0, **common))
        for subject in (f"{a}>{b}", f"{b}>{a}"):
            rate = (0.19 if shaped else 21.2) * GBIT * rng.uniform(0.96, 1.03)
            common = {"phase": "pairs", "params": params("tcp", "stream", 131072)}
            counters = {"client": {"netstat.TcpExt.TCPLostRetransmit": rng.randint(0, 9), "cpu.softirq": 3.2}}
            records.append(record(subject, "throughput", rate, counters=counters, **common))
    return records


def sweep_records(pair: str, seed: int = 2) -> list[Record]:
    """A TCP ping-pong over sizes: a fixed cost and a cost a byte."""
    rng = random.Random(seed)
    return [
        record(
            pair, "rtt", rtt, phase="sweep", params=params("tcp", "pingpong", size),
            quantiles={"0.5": rtt, "0.99": rtt * 1.5},
        )
        for size in SIZES
        for rtt in [(18.1e-6 + 2 * size / (6.1 * 1e9)) * rng.uniform(0.97, 1.03)]
    ]  # fmt: skip


def facts(node: str, kernel: str = "6.1.0-28-amd64") -> Facts:
    """A few facts of a node; one is not known."""
    reported = {
        "kernel.release": kernel, "cpu.model": "AMD EPYC 7543 32-Core Processor", "cpu.cores": 32,
        "cpu.mitigations.retbleed": "Mitigation: untrained return thunk; SMT enabled with STIBP protection",
        "thp.enabled": "madvise", "clock.source": "tsc", "nic.eth0.driver": "veth", "nic.eth0.offload.gro": True,
        "nic.eth0.address": f"02:00:00:00:00:0{node[-1]}", "virtualisation.kind": "kvm",
    }  # fmt: skip
    content: Facts = {name: {"value": value, "provenance": "reported"} for name, value in reported.items()}
    content["memory.total"] = {"value": 2**36, "unit": "B", "provenance": "reported"}
    content["nic.eth0.mtu"] = {"value": 1500, "unit": "B", "provenance": "reported"}
    content["cpu.governor"] = {"value": None, "reason": "no cpufreq in this virtual machine"}
    return content


def slow_node_finding(node: str, links: Sequence[str]) -> Finding:
    """A node whose links are slow, with a figure a link."""
    return Finding(
        kind="node", severity=Severity.BAD, subject=node,
        text=f"{node} stands out: its links carry 0.19 Gbit/s (0.186–0.194), 111 times less than the other nodes'.",
        next_step=f"look at {node}'s port, cable, and `tc qdisc show` there",
        evidence=[
            Evidence(subject=link, metric="throughput", unit="B/s", value=0.19 * GBIT, low=0.186 * GBIT,
                     high=0.194 * GBIT, expected=21.2 * GBIT)
            for link in links
        ],
    )  # fmt: skip


def fact_finding(name: str, node: str, value: str, others: str) -> Finding:
    """A fact of one node that deviates from the others'."""
    return Finding(
        kind="fact", severity=Severity.WARN, subject=node, expected_of="the others",
        text=f"{name} differs: {node} has {value}; the other nodes have {others}.",
        evidence=[Evidence(subject=node, metric=name, value=value, expected=others)],
    )  # fmt: skip


def make_run(
    nodes: Sequence[str] = ("n1", "n2", "n3", "n4"),
    records: Sequence[Record] = (),
    findings: Sequence[Finding] = (),
    fingerprint: dict[str, Facts] | None = None,
    **meta: Any,
) -> Run:
    """A run with a survey's plan; `meta` goes into run.json."""
    plan = {
        "seed": 4711, "width": 0.05, "confidence": 0.95, "budget": 60.0, "looks": [6, 10, 16, 24, 40],
        "hosts": dict.fromkeys(nodes, "here"), "phases": ["pairs", "sweep"], "cells": [],
        "order": "every pass measures each open cell once; a pass is rounds of disjoint pairs, nodes, rounds and cells "
        "in random order from the seed",
    }  # fmt: skip
    content = {
        "id": "20261120T184453-survey-3fa2", "command": "survey", "version": "0.1.0", "state": "complete",
        "started": "2026-11-20T18:44:12.020Z", "ended": AT, "nodes": list(nodes),
        "argv": ["wulf", "survey", "--lab", "4"],
    }  # fmt: skip
    return Run(
        path=Path("run"), meta={**content, **meta}, plan=plan, records=list(records), findings=list(findings),
        fingerprint=fingerprint if fingerprint is not None else {node: facts(node) for node in nodes},
    )  # fmt: skip


def survey(nodes: Sequence[str] = ("n1", "n2", "n3", "n4"), slow: str | None = "n3", **meta: Any) -> Run:
    """A whole survey: all pairs, a sweep, a slow node, a deviating kernel."""
    records = pair_records(nodes, slow) + (sweep_records(f"{nodes[0]}>{nodes[1]}") if len(nodes) > 1 else [])
    findings = []
    fingerprint = {node: facts(node) for node in nodes}
    if slow is not None:
        others = [node for node in nodes if node != slow]
        findings.append(slow_node_finding(slow, [f"{slow}>{other}" for other in others]))
    if len(nodes) > 2:
        fingerprint[nodes[-1]] = facts(nodes[-1], kernel="5.15.0-91-generic")
        findings.append(fact_finding("kernel.release", nodes[-1], "5.15.0-91-generic", "6.1.0-28-amd64"))
    return make_run(nodes, records, findings, fingerprint, **meta)


def troubled() -> Run:
    """Interrupted, with a failed, an unresolved and a noisy pair, and pairs never reached."""
    run = survey(state="interrupted", ended=AT)
    del run.records[-5:]
    for index, each in enumerate(run.records):
        if each.subject == "n1>n4" and each.metric == "rtt":
            run.records[index] = failed("n1>n4", "rtt", "n4: its session ended", phase="pairs", params=each.params)
        if each.subject == "n2>n4" and each.metric == "rtt":
            run.records[index] = record(
                "n2>n4", "rtt", 25e-6, verdict=Verdict.NOISY,
                reason="interval 12.1% wide after 40 replicates, requested 5.0%", phase="pairs", params=each.params,
            )  # fmt: skip
        if each.subject == "n4>n2" and each.metric == "throughput":
            run.records[index] = record(
                "n4>n2", "throughput", None, verdict=Verdict.UNRESOLVED, reason="3 replicates, 6 are needed",
                phase="pairs", params=each.params,
            )  # fmt: skip
    run.records = [each for each in run.records if each.subject not in ("n3>n4", "n4>n3")]
    swept = [i for i, each in enumerate(run.records) if each.phase == "sweep"]
    middle = run.records[swept[len(swept) // 2]]
    run.records[swept[len(swept) // 2]] = failed(
        middle.subject, "rtt", "no answer from n2 within 15 s", phase="sweep", params=middle.params
    )
    return run


def loopback_records() -> list[Record]:
    """What a survey of one node measures: the node against itself."""
    return [
        record("n1>n1", "rtt", 9e-6, phase="pairs", params=params("tcp", "pingpong", 1)),
        record("n1>n1", "throughput", 40 * GBIT, phase="pairs", params=params("tcp", "stream", 131072)),
        *sweep_records("n1>n1"),
    ]


def dead() -> Run:
    """A node that died before anything was measured of it; the sweep was to be its."""
    run = survey(slow=None, exit_code=3)
    reason = "n2: wulf-net ended unexpectedly: killed by SIGKILL"
    run.records = [
        failed(r.subject, r.metric, reason, params=r.params, phase=r.phase) if "n2" in r.nodes else r
        for r in run.records
    ]
    text = "n2: died while it was measured. It was not measured; the others were."
    run.findings.insert(0, Finding(kind="failed", severity=Severity.BAD, subject="n2", text=text))
    return run


EVIL = '</script><script>document.title="pwned"</script><img src=x onerror=alert(1)>'


def hostile() -> Run:
    """Markup in every place where a cluster's owner, or a node, can put text."""
    nodes = ("<b>n1</b>", "fe80::1%eth0", "n\x1b[31m3", "${n4}{{x}}")
    run = survey(nodes, slow=nodes[2])
    run.fingerprint[nodes[0]]["cpu.model"] = {"value": EVIL, "provenance": "reported"}
    run.fingerprint[nodes[1]][EVIL] = {"value": None, "reason": EVIL}
    run.records[0] = failed(run.records[0].subject, "rtt", EVIL, phase="pairs", params=run.records[0].params)
    run.findings.append(
        Finding(kind="note", severity=Severity.INFO, subject=EVIL, text=EVIL, next_step=EVIL,
                evidence=[Evidence(subject=EVIL, metric=EVIL, value=EVIL, expected=EVIL)])
    )  # fmt: skip
    run.meta["argv"] = ["wulf", EVIL]
    return run


SHAPES: dict[str, Callable[[], Run]] = {
    "survey": survey,
    "troubled": troubled,
    "hostile": hostile,
    "empty": lambda: make_run((), fingerprint={}),
    "one-node": lambda: make_run(("n1",)),
    "loopback": lambda: make_run(("n1",), loopback_records()),
    "dead": dead,
    "two-nodes": lambda: survey(("n1", "n2"), slow=None),
    "ipv6": lambda: survey(("fd00::1", "fd00::2", "fd00::10"), slow=None),
    "sixteen": lambda: survey([f"n{i}" for i in range(1, 17)], slow="n7"),
    "sixty-four": lambda: survey([f"node{i:03d}" for i in range(1, 65)], slow="node017"),
    "layers": lambda: import_module("tests.unit.report.make_layers").layered(),
    "torn": lambda: Run(path=Path("run"), meta={"id": "x", "state": "running"}, torn=1),
}
"""The shapes that a run can have; every report must cope with each."""
