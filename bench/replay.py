"""Part `replay`: wulf-replay's engine A: operations a second, many networks at once, and schedules beside LogGOPSim.

Both sides are whole processes that get one schedule and tell its time. LogGOPSim reads its schedule from a file that
its own generator made beforehand; wulf-replay makes it in memory.
"""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.blocks import Contest, run_blocks
from bench.context import Context
from bench.errors import BenchError
from bench.rows import Row, limited, without_peer
from bench.session import Session
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

MOST_TIMES = 8.0
"""So many times of one network that 64 of them may take."""

LEAST_SPEEDUP = 20.0
"""How much faster than LogGOPSim the whole process promises to be."""

MANY = 64

NETWORK: dict[str, Any] = {
    "name": "bench",
    "inter": {
        "latency_ps": 2_500_000, "send_ps": 1_500_000, "receive_ps": 1_500_000, "gap_ps": 1_000_000,
        "byte_fp": 6000 << 20, "eager_bytes": 65535,
    },
}  # fmt: skip
"""LogGOPSim's own defaults."""


def measure(context: Context) -> list[Row]:
    """All rows of the part."""
    rows = [row for name in SCHEDULES for row in _speed(context, name)]
    folder = os.environ.get(LOGGOPSIM)
    if not folder:
        return [*rows, *_missing()]
    scratch = Path(context.stack.enter_context(tempfile.TemporaryDirectory()))
    contests = [_contest(Path(folder), scratch, name, context) for name in SCHEDULES]
    run_blocks(contests, context.effort, context.rng, context.say)
    return [*rows, *(contest.row() for contest in contests)]


def _load(session: Session, name: str) -> dict[str, Any]:
    return session.request("load", schedule={"kind": name, "ranks": SCHEDULES[name][1], "bytes": 1})


def _replay(session: Session, program: int, networks: int) -> float:
    """Seconds of one replay by one thread."""
    began = time.perf_counter()
    session.request("replay", program=program, networks=[NETWORK] * networks, parts=False, threads=1)
    return time.perf_counter() - began


def _speed(context: Context, name: str) -> Iterator[Row]:
    """Time an operation on one network, and of many networks in times of one; each pair one after the other."""
    with Session([str(find_program("wulf-replay").path)]) as session:
        loaded = _load(session, name)
        pairs = []
        for _ in range(context.effort.blocks):
            one = _replay(session, loaded["program"], 1)
            pairs.append((one, _replay(session, loaded["program"], MANY)))
    what = f"replay {name}, {SCHEDULES[name][1]} ranks"
    yield limited(f"{what}: time an operation, 1 core", "s", [one / loaded["ops"] for one, _ in pairs], 1 / LEAST_RATE)
    yield limited(f"{what}: {MANY} networks, in times of one", "1", [many / one for one, many in pairs], MOST_TIMES)


def _contest(folder: Path, scratch: Path, name: str, context: Context) -> Contest:
    context.say(f"making LogGOPSim's schedule {name}")
    schedule = _generated(folder, scratch, name)
    return Contest(
        f"replay {name}, {SCHEDULES[name][1]} ranks, whole process", "LogGOPSim", "s", "lower",
        functools.partial(_ours, name), functools.partial(_theirs, folder, schedule), 1 / LEAST_SPEEDUP,
    )  # fmt: skip


def _generated(folder: Path, scratch: Path, name: str) -> Path:
    """LogGOPSim's binary schedule."""
    pattern, ranks = SCHEDULES[name]
    text, binary = scratch / f"{name}.goal", scratch / f"{name}.bin"
    _run([str(folder / "Schedgen" / "schedgen"), "-p", pattern, "-s", str(ranks), "-o", str(text)])
    _run([str(folder / "LogGOPSim" / "txt2bin"), "-i", str(text), "-o", str(binary)])
    text.unlink()
    return binary


def _ours(name: str) -> float:
    """Seconds from the start of a session to its end."""
    began = time.perf_counter()
    with Session([str(find_program("wulf-replay").path)]) as session:
        _replay(session, _load(session, name)["program"], 1)
    return time.perf_counter() - began


def _theirs(folder: Path, schedule: Path) -> float:
    began = time.perf_counter()
    _run([str(folder / "LogGOPSim" / "LogGOPSim"), "-b", "-f", str(schedule)])
    return time.perf_counter() - began


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except OSError as error:
        raise BenchError(f"{command[0]}: {error.strerror}: {LOGGOPSIM} names no built LogGOPSim") from error
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}")


def _missing() -> Iterator[Row]:
    for name, (_, ranks) in SCHEDULES.items():
        yield without_peer(f"replay {name}, {ranks} ranks, whole process", f"LogGOPSim (no {LOGGOPSIM})", "s", "lower")
