"""`python -m bench.edges`: cache edges and σ-peaks, on curves whose edges are known and on machines.

Rewrites the tables of docs/how-it-works/cache-edges.md: the simulations, and what `--sweep` found on each machine
(results/MACHINE/edges.json). Each repetition sweeps `chase` and `cpu-rate` of wulf-node over the working set: sizes in
random order, fresh memory a replicate.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from bench.edges import curves, sigma
from bench.engine.calm import stolen_share
from bench.engine.errors import BenchError, told
from bench.engine.places import DOCS, RESULTS
from bench.report import machine
from bench.report.docs import rewrite
from wulf.agent import facts
from wulf.agent.counting import snapshot
from wulf.agent.machine import Machine
from wulf.cluster.programs import find_program
from wulf.core.errors import FOUND, OK
from wulf.core.names import plural
from wulf.core.records import Record, Verdict
from wulf.measure.node.edges import edge_records, sigma_peaks
from wulf.report.selftest import markdown
from wulf.stats.claims import Claim, missed
from wulf.stats.curves.sigma_peak import Peak

PAGE = DOCS / "how-it-works" / "cache-edges.md"
FILE = "edges.json"
SEED = 20261121
PER_OCTAVE = 3
REPLICATES = 8
REPETITIONS = 3
LEAST = 2048
KIB = 1024


@dataclass(frozen=True)
class Effort:
    """How many campaigns over each machine, how many sweeps of scatter."""

    campaigns: int
    sweeps: int


FULL, QUICK = Effort(60, 10), Effort(10, 2)


@told
def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 every claim holds, 1 one does not, 2 there is no wulf-node."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.edges", description="The tables of docs/how-it-works/cache-edges.md."
    )
    parser.add_argument("--quick", action="store_true", help="few campaigns, and no page")
    parser.add_argument("--sweep", action="store_true", help="sweep this machine, keep it under results; no page")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="of the sweep")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where machines' sweeps lie")
    asked = parser.parse_args(arguments)
    if asked.sweep:
        print(kept(asked.results, machine.fingerprint(), measure(asked.repetitions)))
        return OK
    claims = simulated(QUICK if asked.quick else FULL)
    made = "\n".join([*simulated_words(claims), *machines_words(asked.results)])
    if asked.quick:
        print(made)
    else:
        rewrite(PAGE, made)
    return FOUND if missed(claims) else OK


def kept(results: Path, here: dict[str, Any], repetitions: Sequence[Repetition]) -> Path:
    """Write a machine's repetitions under its name; the file."""
    file = results / machine.name_of(here) / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": here, "repetitions": [repetition.model_dump(mode="json") for repetition in repetitions]}
    file.write_text(json.dumps(found, indent=1) + "\n")
    return file


def machines_words(results: Path) -> list[str]:
    """The tables of every machine swept."""
    lines = []
    for file in sorted(results.glob(f"*/{FILE}")):
        found = json.loads(file.read_text())
        repetitions = [Repetition.model_validate(repetition) for repetition in found["repetitions"]]
        lines += measured_words(repetitions, found["machine"])
    return lines


def simulated(effort: Effort) -> list[Claim]:
    """Edges at three and eight sizes an octave, then the scatter."""
    found = []
    for step, per_octave in enumerate((PER_OCTAVE, 8)):
        print(f"edges, {per_octave} sizes an octave", file=sys.stderr, flush=True)
        made = curves.claims(np.random.default_rng([SEED, step]), effort.campaigns, per_octave)
        found += [Claim(c.what, f"{per_octave} an octave: {c.stream}", c.share, c.n, c.bound, c.at_most) for c in made]
    print("scatter", file=sys.stderr, flush=True)
    return found + sigma.claims(np.random.default_rng([SEED, 2]), effort.sweeps)


def simulated_words(claims: Sequence[Claim]) -> list[str]:
    """The simulated tables."""
    return [f"### By simulation, seed {SEED}\n", markdown(claims)]


@contextmanager
def session(program: Path) -> Iterator[subprocess.Popen[str]]:
    """One wulf-node; its greeting is read."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        yield process
        process.stdin.close()


def ask(process: subprocess.Popen[str], number: int, probe: str, params: dict[str, Any]) -> dict[str, Any]:
    """One replicate's metrics. BenchError where the program refuses."""
    assert process.stdout is not None and process.stdin is not None
    process.stdin.write(json.dumps({"id": number, "op": "run", "probe": probe, "params": params}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    if not answer["ok"]:
        raise BenchError(f"wulf-node {probe} {params}: {answer['error']['message']}")
    metrics: dict[str, Any] = answer["metrics"]
    return metrics


def sweep(program: Path, probe: str, sizes: Sequence[int], seed: int, **params: Any) -> list[Record]:
    """Records of one sweep: every metric of every size, its samples one a replicate."""
    orders = random.Random(seed)
    samples: dict[tuple[int, str], list[float]] = {}
    with session(program) as process:
        for number in range(REPLICATES):
            for size in orders.sample(sizes, len(sizes)):
                metrics = ask(process, number, probe, {"bytes": size, **params})
                for name, metric in metrics.items():
                    if metric.get("value") is not None:
                        samples.setdefault((size, name), []).append(metric["value"])
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return [
        Record(
            run="bench", subject="here", probe="node", metric=name, unit="s", verdict=Verdict.OK, at=at,
            params={"pattern": probe, "bytes": size, **params}, samples=values, value=float(np.median(values)),
        )
        for (size, name), values in samples.items()
    ]  # fmt: skip


def sizes_up_to(most: float) -> list[int]:
    """Working sets from 2 KiB on, whole lines each."""
    count = int(np.log2(most / LEAST) * PER_OCTAVE + 0.5)
    return [round(LEAST * 2 ** (k / PER_OCTAVE) / 64) * 64 for k in range(count + 1)]


class Repetition(BaseModel):
    """One repetition: the load before it, the share of all CPUs' time that the hypervisor took, edges, peaks."""

    load: float
    stolen: float
    edges: list[Record]
    peaks: tuple[Peak, ...]


def measure(times: int, chase: Path | None = None, rate: Path | None = None) -> list[Repetition]:
    """Sweeps of this machine, so many times; other programs than the installed one may be given."""
    with Machine() as here:
        known = facts.read(here, ["cpu"])
    last = (known["cpu.last_level_size"].get("value")) or 32 << 20
    found = []
    for number in range(times):
        print(f"sweep {number + 1} of {times}", file=sys.stderr, flush=True)
        load, before = os.getloadavg()[0], snapshot()
        program = find_program("wulf-node").path if chase is None or rate is None else None
        sizes = sizes_up_to(4 * last)
        records = sweep(chase or program or Path(), "chase", sizes, SEED + number, pages="huge")
        records += sweep(rate or program or Path(), "cpu-rate", sizes_up_to(2 * last), SEED + number)
        found.append(
            Repetition(
                load=load,
                stolen=stolen_share(before, snapshot()),
                edges=edge_records(records, {"here": known}, "bench"),
                peaks=sigma_peaks(records),
            )
        )
    return found


def measured_words(repetitions: Sequence[Repetition], here: dict[str, Any]) -> list[str]:
    """The tables of one machine."""
    lines = [
        f"### On {plural(here['cpus'], 'CPU')} of {here['cpu']}, Linux {here['kernel']}\n",
        "| repetition | load, stolen | level | reported, KiB | plateau left at, KiB | half-rise, KiB | "
        "ns before, after | verdict | agrees | a peak of σ there |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: | --- | --- | --- |",
    ]
    for number, repetition in enumerate(repetitions, 1):
        disturbed = f"{repetition.load:.1f}, {repetition.stolen:.1%}"
        lines += [f"| {number} | {disturbed} | {_edge_words(record)} |" for record in repetition.edges]
    lines += ["\n| repetition | peaks of σ that nine resamples of ten have, KiB (times the valley beside it) |"]
    lines += ["| ---: | --- |"]
    for number, repetition in enumerate(repetitions, 1):
        peaks = [peak for peak in repetition.peaks if peak.resolved]
        words = ", ".join(f"{peak.size.value / KIB:,.0f} (×{peak.height:.1f})" for peak in peaks)
        lines.append(f"| {number} | {words or 'none'} |")
    lines.append(
        f"\nMeasured {here['date'][:10]}{' on a virtual machine' if here['virtual'] else ''}, "
        f"{REPLICATES} replicates a size, {PER_OCTAVE} sizes an octave, huge pages for the chase.\n"
    )
    return lines


def _edge_words(record: Record) -> str:
    level = record.params["level"] or "other"
    reported = "–" if record.reported is None else f"{record.reported / KIB:,.0f}"
    if record.value is None or record.low is None or record.high is None:
        return f"{level} | {reported} | – | – | – | {record.verdict}: {record.reason} | – | –"
    half = record.half_rise or {}
    agrees = {True: "yes", False: "no", None: "–"}[record.agrees]
    halfway = _size(*(half[end] or 0.0 for end in ("value", "low", "high")))
    plateaus = f"{(record.before or 0) * 1e9:.3g}, {(record.after or 0) * 1e9:.3g}"
    return (
        f"{level} | {reported} | {_size(record.value, record.low, record.high)} | {halfway} | {plateaus} | "
        f"{record.verdict}{f': {record.reason}' if record.reason else ''} | {agrees} | "
        f"{'yes' if record.sigma_peak else 'no'}"
    )


def _size(value: float, low: float, high: float) -> str:
    return f"{value / KIB:,.0f} ({low / KIB:,.0f} … {high / KIB:,.0f})"


if __name__ == "__main__":
    sys.exit(main())
