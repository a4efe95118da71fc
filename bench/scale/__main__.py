"""`python -m bench.scale`: large clusters, simulated: what they cost, held to limits.

`wulf survey` and `wulf audit` over 1,000 nodes (`bench.scale.survey`, `bench.scale.audit`), planning and analysing a
survey of 10,000, and a round of `wulf sentry` over as many (`bench.scale.sentry`).
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.engine.child import own_peak
from bench.scale import audit, sentry, survey
from bench.scale.nodes import fingerprint
from wulf.core.findings import Finding
from wulf.core.params import ParamSpec
from wulf.core.records import Record
from wulf.findings.net.coverage import coverage_finding
from wulf.findings.run import find
from wulf.measure.engine.collect import records_of
from wulf.measure.engine.plan import Cell, Pair, Plan, order_pass
from wulf.measure.engine.probes import Metric, Pattern, Probe
from wulf.measure.net.pairing import SAMPLED_ROUNDS, coverage, matchings
from wulf.report.run.html import write_report
from wulf.report.run.terminal import print_report
from wulf.store.run import RunWriter, read_run
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import QUICK_LOOKS
from wulf.workflow.net.pairs import pair_cells

NODES = 10_000
LIMITS = {"planning": 5.0, "analysis": 30.0, "memory": 4.0 * 2**30}
"""Seconds, seconds, bytes; for 10,000 nodes."""

SLOWER = 5.0


@dataclass
class Scale:
    """What a simulated survey cost, and what it found.

    Attributes
    ----------
    seconds, cpu
        Per step: by the clock, and of this process's CPU time, which a busy machine does not stretch.
    memory
        The greatest resident set of this process so far, in bytes.
    planted, found
        The slow node and the slow link (client>server), and the subjects that the findings name.
    """

    nodes: int
    pairs: int = 0
    records: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    planted: tuple[str, str] = ("", "")
    found: list[str] = field(default_factory=list)
    lines: int = 0
    page: int = 0

    @property
    def planning(self) -> float:
        """Choosing pairs, laying out cells, ordering a pass, writing the plan."""
        return sum(self.seconds[step] for step in ("pairs", "cells", "order", "plan.json"))

    @property
    def analysis(self) -> float:
        """From records to findings and both reports."""
        return sum(self.seconds[step] for step in ("findings", "terminal", "report.html"))

    @property
    def right(self) -> bool:
        """Whether the slow node and the slow link were named, and nobody else."""
        return sorted(self.found) == sorted(self.planted)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Note the seconds that a step takes, and those of them that this process had a CPU."""
        began, used = time.monotonic(), time.process_time()
        yield
        self.seconds[step] = time.monotonic() - began
        self.cpu[step] = time.process_time() - used


def _params(*names: str) -> tuple[ParamSpec, ...]:
    return tuple(ParamSpec(name, "int" if name == "bytes" else "float", "", "") for name in names)


PROBE = Probe(
    "wulf-net",
    "simulated",
    {"tcp": 1 << 24},
    {
        "pingpong": Pattern(
            "pingpong", "", ("tcp",), _params("bytes", "seconds"), (Metric("rtt", "s"), Metric("lost", "1"))
        ),
        "stream": Pattern(
            "stream",
            "",
            ("tcp",),
            _params("seconds", "warmup_seconds", "cooldown_seconds"),
            (Metric("throughput", "B/s", "higher"), Metric("sent", "B/s", "higher"), Metric("retransmits", "1")),
        ),
    },
)


def replicates_of(
    cell: Cell, slow: tuple[str, Pair], random: np.random.Generator, count: int = QUICK_LOOKS[0]
) -> list[dict[str, Any]]:
    """What the probe would have answered: 2 % noise, five times worse on the slow node and over the slow link."""
    node, link = slow
    worse = SLOWER if node in (cell.client, cell.server) or {cell.client, cell.server} == set(link) else 1.0
    noise = random.lognormal(0.0, 0.02, count)
    typical = 2e-5 * worse if cell.pattern == "pingpong" else 1.2e9 / worse
    counters = {"client": {"nic": {"eth0": {"rx_bytes": 1, "tx_bytes": 1}}}, "server": {"ctxt": 1}}
    main, *rest = cell.metrics
    return [
        {"cell": cell.id, "block": block, "at": "2026-01-01T00:00:00Z", "ok": True, "seconds": 0.1,
         "metrics": {main.name: {"unit": main.unit, "value": float(typical * factor)},
                     **{metric.name: {"unit": metric.unit, "value": 0.0} for metric in rest}},
         "counters": counters, "info": {"mss": 1448}}
        for block, factor in enumerate(noise)
    ]  # fmt: skip


def plan_of(scale: Scale, nodes: Sequence[str], folder: Path) -> tuple[Plan, list[list[Pair]]]:
    """Plan a sampled survey, and write it down."""
    facts = fingerprint(nodes)
    connected = Connected(dict.fromkeys(nodes), {}, PROBE, facts)  # type: ignore[arg-type] # nobody is asked
    random = np.random.default_rng(1)
    with scale.timed("pairs"):
        rounds = matchings(nodes, SAMPLED_ROUNDS, random)
        covered = coverage(nodes, rounds)
    with scale.timed("cells"):
        plan = Plan(
            pair_cells(connected, PROBE, rounds), 1, 0.1, looks=QUICK_LOOKS, hosts=connected.hosts, synchronised=True
        )
    with scale.timed("order"):
        waves = order_pass(plan.cells, plan.hosts, random, alike=True)
    with scale.timed("plan.json"):
        (folder / "plan.json").write_text(json.dumps(plan.to_json()))
    scale.pairs = covered.pairs
    if sum(map(len, waves)) != len(plan.cells) or len(waves) != 3 * SAMPLED_ROUNDS:
        raise AssertionError(f"{len(waves)} waves: each round is to be three waves of all its pairs")
    return plan, rounds


def measured(scale: Scale, plan: Plan, slow: tuple[str, Pair]) -> list[Record]:
    """Every cell's replicates, simulated, and turned into records one cell after the other, as the runner does."""
    random = np.random.default_rng(2)
    records: list[Record] = []
    with scale.timed("simulated replicates to records"):
        for cell in plan.cells:
            records += records_of(cell, replicates_of(cell, slow, random), plan, "scale", at="2026-01-01T00:00:00Z")
    scale.records = len(records)
    return records


def analyse(
    scale: Scale, folder: Path, nodes: Sequence[str], records: Sequence[Record], notes: Sequence[Finding]
) -> None:
    """Findings, both reports, and what they name."""
    from rich.console import Console

    facts: Mapping[str, Any] = fingerprint(nodes)
    with RunWriter(folder / "run", "net-pairs", {"seed": 1, "nodes": list(nodes)}) as writer:
        with scale.timed("findings"):
            findings = [*notes, *find(records, facts, {})]
        with scale.timed("written"):
            writer.write_json("fingerprint.json", facts)
            for record in records:
                writer.append(record)
            writer.write_findings(findings)
            writer.finish("complete", exit_code=1)
    scale.found = sorted({finding.subject for finding in findings if finding.kind in ("node", "link")})
    with scale.timed("read back"):
        run = read_run(folder / "run")
    text = io.StringIO()
    with scale.timed("terminal"):
        print_report(run, Console(file=text, width=80))
    with scale.timed("report.html"):
        write_report(run, folder / "report.html")
    scale.lines = text.getvalue().count("\n")
    scale.page = (folder / "report.html").stat().st_size


def simulate(count: int) -> Scale:
    """A sampled survey of so many nodes, one of them slow, and one link between two others."""
    scale = Scale(count)
    nodes = [f"n{i}" for i in range(1, count + 1)]
    with tempfile.TemporaryDirectory(prefix="wulf-scale-") as name:
        folder = Path(name)
        plan, rounds = plan_of(scale, nodes, folder)
        node = nodes[count // 3]
        link = next(pair for pair in rounds[0] if node not in pair)
        scale.planted = (node, ">".join(link))
        records = measured(scale, plan, (node, link))
        del plan
        gc.collect()
        analyse(scale, folder, nodes, records, [coverage_finding(coverage(nodes, rounds))])
    scale.found = sorted({">".join(sorted(subject.split(">"), key=nodes.index)) for subject in scale.found})
    scale.memory = own_peak()
    return scale


def told(scale: Scale, say: Callable[[str], None] = print) -> bool:
    """Print the figures beside their limits; True where all are kept."""
    say(f"{scale.nodes:,} nodes, {scale.pairs:,} pairs, {scale.records:,} records")
    for step, seconds in scale.seconds.items():
        say(f"  {step:<32} {seconds:7.2f} s, {scale.cpu.get(step, 0.0):7.2f} s of CPU")
    figures = [("planning", scale.planning, "s"), ("analysis", scale.analysis, "s"), ("memory", scale.memory, "B")]
    kept = True
    for name, value, unit in figures:
        limit = LIMITS[name]
        shown = f"{value:.2f} s of {limit:g} s" if unit == "s" else f"{value / 2**30:.2f} GiB of {limit / 2**30:g} GiB"
        say(f"{name:<10} {shown:<24} {'kept' if value <= limit else 'EXCEEDED'}")
        kept = kept and value <= limit
    say(f"planted {', '.join(scale.planted)}; named {', '.join(scale.found)}: {'right' if scale.right else 'WRONG'}")
    say(f"terminal {scale.lines} lines, report.html {scale.page / 1e6:.1f} MB")
    return kept and scale.right


def main() -> int:
    """Exit code 1 where a limit is exceeded or the findings are wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--only", choices=["plan", "survey", "audit", "sentry"], help="one of the parts")
    given = parser.parse_args()
    # the surveys first: each is a process of its own, and is not to share memory with what is simulated here
    parts: dict[str, Callable[[], bool]] = {
        "survey": lambda: survey.told([survey.measured(n) for n in survey.SIZES]),
        "audit": lambda: audit.told(audit.measured()),
        "sentry": lambda: sentry.told(sentry.measured(given.nodes)),
        "plan": lambda: told(simulate(given.nodes)),
    }
    kept = [part() for name, part in parts.items() if given.only in (None, name)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
