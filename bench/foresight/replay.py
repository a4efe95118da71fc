"""Part `replay`: wulf-replay's engines: operations and events a second, many networks at once, a million ranks, and
schedules beside LogGOPSim.

There, both sides are whole processes that get one schedule and tell its time. LogGOPSim reads it from a binary file
that its own generator made beforehand; wulf-replay makes it in memory, by the name of its pattern, and in further rows
reads the same file.
"""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.engine.blocks import Contest, run_blocks
from bench.engine.child import children_cpu
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.rows import Row, limited, without_peer
from bench.engine.session import Session
from wulf.cluster.programs import find_program

LOGGOPSIM = "WULF_LOGGOPSIM"
"""Names LogGOPSim's folder `src`, built: LogGOPSim/LogGOPSim, LogGOPSim/txt2bin, Schedgen/schedgen. No distribution
packages it."""

SCHEDULES = {
    "dissemination": ("dissemination", 16384),
    "binary-tree": ("binarytreebcast", 262144),
    "linear-alltoall": ("linear_alltoall", 256),
}
"""Ours, the name of LogGOPSim's generator, and the ranks: those of its authors' paper (HPDC 2010)."""

LEAST_RATE = 30e6
"""Operations a second and core that engine A promises on one network."""

LEAST_EVENTS = 5e6
"""Events a second and core that engine B promises, contention or not."""

MOST_TIMES = 8.0
"""So many times of one network that 64 of them may take."""

LEAST_SPEEDUP, AS_FAST = 20.0, 1.0
"""How much faster than LogGOPSim the whole process promises to be: making its schedule, and reading that file."""

MANY = 64

NETWORK: dict[str, Any] = {
    "name": "bench",
    "inter": {
        "latency_ps": 2_500_000, "send_ps": 1_500_000, "receive_ps": 1_500_000, "gap_ps": 1_000_000,
        "byte_fp": 6000 << 20, "eager_bytes": 65535,
    },
}  # fmt: skip
"""LogGOPSim's own defaults."""

FAT_TREE: dict[str, Any] = {"kind": "fat-tree", "ports": 64, "levels": 3, "oversubscription": 2,
                            "bytes_per_second": 12.5e9}  # fmt: skip
"""88,064 hosts, which share the links between switches."""

FLOWS = {
    "dissemination": {"kind": "dissemination", "ranks": 16384, "bytes": 65536},
    "ring": {"kind": "ring", "ranks": 4096, "bytes": 65536, "rounds": 50},
}
"""Schedules whose every message flows over the fat tree's links: all at the same time, and one after the other."""

WHOLE, BOTH_READ = "whole process, CPU time", "whole process, both reading a file, CPU time"
"""Both compute on one core; what else the machine does stretches the time on the wall, not the work."""

MILLION = {"dissemination": 1 << 20, "binary-tree": 1 << 20}
"""Ranks of the largest schedules."""


class Timed(NamedTuple):
    """Seconds of a replay, and its answer for each network."""

    seconds: float
    runs: list[dict[str, Any]]


def measure(context: Context) -> list[Row]:
    """All rows of the part."""
    rows = [row for name in SCHEDULES for row in _speed(context, name)]
    rows += [_events(context, name, schedule_of(name), "NICs alone", NETWORK) for name in SCHEDULES]
    shared = {**NETWORK, "topology": FAT_TREE}
    rows += [
        _events(context, name, schedule, "64 KiB flow over a fat tree", shared) for name, schedule in FLOWS.items()
    ]
    rows += [_million(context, name, ranks) for name, ranks in MILLION.items()]
    folder = os.environ.get(LOGGOPSIM)
    if not folder:
        return [*rows, *_missing()]
    scratch = Path(context.stack.enter_context(tempfile.TemporaryDirectory()))
    contests = [contest for name in SCHEDULES for contest in _contests(Path(folder), scratch, name, context)]
    run_blocks(contests, context.effort, context.rng, context.say)
    return [*rows, *(contest.row() for contest in contests)]


def schedule_of(name: str) -> dict[str, Any]:
    """As a session loads it."""
    return {"kind": name, "ranks": SCHEDULES[name][1], "bytes": 1}


def _load(session: Session, schedule: dict[str, Any]) -> dict[str, Any]:
    return session.request("load", schedule=schedule)


def _replay(session: Session, program: int, networks: Sequence[dict[str, Any]], engine: str = "a") -> Timed:
    """One replay by one thread."""
    began = time.perf_counter()
    found = session.request("replay", program=program, networks=networks, engine=engine, parts=False, threads=1)
    return Timed(time.perf_counter() - began, found["runs"])


def _speed(context: Context, name: str) -> Iterator[Row]:
    """Time an operation on one network, and of many networks in times of one; each pair one after the other."""
    with Session([str(find_program("wulf-replay").path)]) as session:
        loaded = _load(session, schedule_of(name))
        pairs = []
        for _ in range(context.effort.looks[0]):
            one = _replay(session, loaded["program"], [NETWORK]).seconds
            pairs.append((one, _replay(session, loaded["program"], [NETWORK] * MANY).seconds))
    what = f"replay {name}, {SCHEDULES[name][1]} ranks"
    yield limited(f"{what}: time an operation, 1 core", "s", [one / loaded["ops"] for one, _ in pairs], 1 / LEAST_RATE)
    yield limited(f"{what}: {MANY} networks, in times of one", "1", [many / one for one, many in pairs], MOST_TIMES)


def _events(context: Context, name: str, schedule: dict[str, Any], what: str, network: dict[str, Any]) -> Row:
    """Time an event of engine B."""
    with Session([str(find_program("wulf-replay").path)]) as session:
        program = _load(session, schedule)["program"]
        found = [_replay(session, program, [network], "b") for _ in range(context.effort.looks[0])]
        taken = [one.seconds / one.runs[0]["events"] for one in found]
    title = f"replay {name}, {schedule['ranks']} ranks, engine B, {what}: time an event, 1 core"
    return limited(title, "s", taken, 1 / LEAST_EVENTS)


def _million(context: Context, name: str, ranks: int) -> Row:
    """Time an operation of a million ranks, loading apart."""
    with Session([str(find_program("wulf-replay").path)]) as session:
        loaded = _load(session, {"kind": name, "ranks": ranks, "bytes": 1})
        found = [_replay(session, loaded["program"], [NETWORK]) for _ in range(context.effort.looks[0])]
        taken = [one.seconds / loaded["ops"] for one in found]
    return limited(f"replay {name}, {ranks} ranks: time an operation, 1 core", "s", taken, 1 / LEAST_RATE)


def _contests(folder: Path, scratch: Path, name: str, context: Context) -> Iterator[Contest]:
    context.say(f"making LogGOPSim's schedule {name}")
    file = _generated(folder, scratch, name)
    theirs = functools.partial(_theirs, folder, file)
    given: dict[str, tuple[dict[str, Any], float]] = {
        WHOLE: ({"schedule": schedule_of(name)}, LEAST_SPEEDUP), BOTH_READ: ({"goal": str(file)}, AS_FAST)
    }  # fmt: skip
    for what, (source, times) in given.items():
        ours = functools.partial(_ours, source)
        yield Contest(f"replay {name}, {SCHEDULES[name][1]} ranks, {what}", "LogGOPSim", "s", "lower", ours, theirs,
                      1 / times)  # fmt: skip


def _generated(folder: Path, scratch: Path, name: str) -> Path:
    """LogGOPSim's binary schedule."""
    pattern, ranks = SCHEDULES[name]
    text, binary = scratch / f"{name}.goal", scratch / f"{name}.bin"
    _run([str(folder / "Schedgen" / "schedgen"), "-p", pattern, "-s", str(ranks), "-o", str(text)])
    _run([str(folder / "LogGOPSim" / "txt2bin"), "-i", str(text), "-o", str(binary)])
    text.unlink()
    return binary


def _ours(source: dict[str, Any]) -> float:
    """What a session takes from its start to its end [s of CPU]."""
    before = children_cpu()
    with Session([str(find_program("wulf-replay").path)]) as session:
        _replay(session, session.request("load", **source)["program"], [NETWORK])
    return children_cpu() - before


def _theirs(folder: Path, schedule: Path) -> float:
    before = children_cpu()
    _run([str(folder / "LogGOPSim" / "LogGOPSim"), "-b", "-f", str(schedule)])
    return children_cpu() - before


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except OSError as error:
        raise BenchError(f"{command[0]}: {error.strerror}: {LOGGOPSIM} names no built LogGOPSim") from error
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}")


def _missing() -> Iterator[Row]:
    for name, (_, ranks) in SCHEDULES.items():
        for what in (WHOLE, BOTH_READ):
            yield without_peer(f"replay {name}, {ranks} ranks, {what}", f"LogGOPSim (no {LOGGOPSIM})", "s", "lower")
