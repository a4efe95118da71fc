"""Parts `memory`, `startup`, `survey`, `sweep` and `share`: what wulf itself costs, against fixed limits."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.engine.child import peak_resident
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.pair import CLIENT, SERVER, placements
from bench.engine.rows import Row, limited, without_peer
from wulf import lab as labs
from wulf.core.errors import WulfError
from wulf.stats.intervals import least_samples

MEMORY_B = 16 * 2.0**20
STARTUP_S = 0.25
SURVEY_S = 45.0
SWEEP_S = 30.0
SHARE = 0.7
"""Of a quick command's time, from its start to its end: what the probes measured, without warm-up and making ready."""

STARTS = 15
RUNS = least_samples()
"""Of what takes long."""

PATIENCE_S = 120.0
WULF = Path(sys.executable).parent / "wulf"

GREEDY_RUNS = (
    ("pingpong", "tcp", {"bytes": 16 << 20, "seconds": 0.2}),
    ("pingpong", "udp", {"bytes": 65507, "seconds": 0.2}),
    ("stream", "tcp", {"streams": 8, "seconds": 0.5}),
    ("stream", "tcp", {"streams": 1, "bytes": 16 << 20, "seconds": 0.5}),
)
"""The runs that need the most memory: the longest messages, and many threads at once."""


def judged(
    context: Context, name: str, unit: str, limit: float, measure: Callable[[], Sequence[float]], better: str = "lower"
) -> Row:
    """The row of what `measure` gives; when that fails, one that says so, and the bench goes on."""
    context.say(name)
    try:
        return limited(name, unit, measure(), limit, better)
    except (BenchError, WulfError) as error:
        context.say(f"{name}: {error}")
        return without_peer(name, "limit (failed)", unit, better)


def memory(context: Context) -> list[Row]:
    """Most resident memory that a wulf-net process ever had, at both ends; of new processes each time."""
    place = placements()[-1]

    @functools.cache
    def peaks() -> list[tuple[float, float]]:
        found = []
        for _ in range(1 if context.quick else RUNS):
            context.pair.renew()
            for pattern, transport, params in GREEDY_RUNS:
                context.pair.wulf(place, pattern, transport, **params)
            client, server = (CLIENT, place.client, False), (SERVER, place.server, True)
            found.append((_peak(context, *client), _peak(context, *server)))
        return found

    def row(end: str, which: int) -> Row:
        name = f"wulf-net, peak resident memory, {end}"
        return judged(context, name, "B", MEMORY_B, lambda: [pair[which] for pair in peaks()])

    return [row("client", 0), row("server", 1)]


def _peak(context: Context, node: str, cpu: int, serves: bool) -> float:
    pid = context.pair.probe(node, cpu, serves=serves).greeting["pid"]
    return peak_of_wulf_net(context.pair.ask(node, "status", pid=pid)["output"])


def peak_of_wulf_net(status: str) -> float:
    """Bytes, from /proc/PID/status, which is to be that of wulf-net."""
    name = re.search(r"^Name:\s+(\S+)$", status, re.MULTILINE)
    if not name or name[1] != "wulf-net":
        raise BenchError(f"not the status of wulf-net: {status[:100]!r}")
    return peak_resident(status)


def startup(context: Context) -> list[Row]:
    """`wulf --help`, from its start to its end."""

    def measure() -> list[float]:
        _timed(["--help"])  # the first one fills the page cache, and writes what Python caches
        return [_timed(["--help"]) for _ in range(STARTS)]

    return [judged(context, "wulf --help, median", "s", STARTUP_S, measure)]


def survey(context: Context) -> list[Row]:
    """The whole command, lab included."""

    def measure() -> list[float]:
        with tempfile.TemporaryDirectory() as directory:
            # 1: something stands out, which on a busy machine may be so
            words = ["survey", "--lab", "4", "--quick", "--out"]
            return [_timed([*words, f"{directory}/{run}"], accepted=(0, 1)) for run in range(RUNS)]

    return [judged(context, "wulf survey --lab 4 --quick, one run", "s", SURVEY_S, measure)]


def sweep(context: Context) -> list[Row]:
    """1 B to 4 MiB with intervals, on one pair of a lab that is there already; the lab's own time is not counted."""

    def measure() -> list[float]:
        with tempfile.TemporaryDirectory() as directory, labs.up(2, name="bench-sweep", keep=False):
            words = ["net", "sweep", CLIENT, SERVER, "--lab", "--quick", "--out"]
            return [_timed([*words, f"{directory}/{run}"], accepted=(0, 1), lab="bench-sweep") for run in range(RUNS)]

    return [judged(context, "wulf net sweep --quick, 1 B to 4 MiB, one run", "s", SWEEP_S, measure)]


def share(context: Context) -> list[Row]:
    """How much of a quick survey's and a quick node survey's time is measuring; the lab is there already."""

    def of(words: Sequence[str], lab: str | None = None) -> list[float]:
        with tempfile.TemporaryDirectory() as directory:
            found = []
            for run in range(RUNS):
                out = Path(directory) / str(run)
                seconds = _timed([*words, "--quick", "--out", str(out)], accepted=(0, 1), lab=lab)
                found.append(measured_seconds(out) / seconds)
            return found

    def survey_share() -> list[float]:
        with labs.up(4, name="bench-share", keep=False):
            return of(["survey", "--lab"], "bench-share")

    kinds = {"survey --lab, four nodes": survey_share, "node, this machine": lambda: of(["node"])}
    return [
        judged(context, f"wulf {what}, --quick: share of its time that is measured", "1", SHARE, shares, "higher")
        for what, shares in kinds.items()
    ]


def measured_seconds(run: Path) -> float:
    """What the probes of a run measured, on the machine that was measured longest."""
    return float(json.loads((run / "run.json").read_text())["time"]["measured"])


def _timed(arguments: Sequence[str], accepted: Sequence[int] = (0,), lab: str | None = None) -> float:
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [WULF, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
            env=os.environ | ({"WULF_LAB": lab} if lab else {}),
        )
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"wulf {' '.join(arguments)} did not end within {PATIENCE_S:g} s") from error
    seconds = time.perf_counter() - began
    if done.returncode not in accepted:
        raise BenchError(f"wulf {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-500:]}")
    return seconds
