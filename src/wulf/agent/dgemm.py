"""The probe `dgemm`: how fast this node's BLAS libraries multiply matrices (HPCC's DGEMM)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from wulf.agent import blas, children
from wulf.agent.session import Refused

_LARGEST = 30_000
"""Rows: three matrices of it take 21.6 GB."""
_LONGEST = 60.0
_PATIENCE = 120.0
"""Seconds beside those asked for: loading, one product to warm up, and three at least."""

_ONE_AT_A_TIME = threading.Lock()
"""Requests run concurrently; two of these would measure each other."""

PROBE: dict[str, Any] = {
    "name": "dgemm",
    "group": "cpu",
    "help": "Products of square matrices by each BLAS library found; the fastest one's rate",
    "params": [
        {
            "name": "n", "type": "int", "unit": "1", "default": 1024, "min": 1, "max": _LARGEST,
            "help": "rows and columns of a matrix",
        },
        {
            "name": "threads", "type": "int", "unit": "1", "default": 1, "min": 0,
            "help": "CPUs used; 0: all allowed ones",
        },
        {
            "name": "seconds", "type": "float", "unit": "s", "default": 0.2, "min": 0.0, "max": _LONGEST,
            "help": "how long to measure each library, about",
        },
    ],
    "metrics": [{"name": "rate", "unit": "flop/s", "better": "higher", "help": "2 n^3 operations a product"}],
}  # fmt: skip
"""As a program's --describe has it."""

_NUMBERS_OF_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def dgemm(n: Any = 1024, threads: Any = 1, seconds: Any = 0.2) -> dict[str, Any]:
    """flop/s of n x n products, for each BLAS library found; `seconds` of each.

    `threads` 0 = one for each CPU that this process may use. `metrics.rate` is the fastest library's, and
    `info.libraries` tells of all; without any it is null, with the reason.
    """
    _check("n", n, 1, _LARGEST, int)
    cpus = sorted(os.sched_getaffinity(0))
    _check("threads", threads, 0, len(cpus), int)
    _check("seconds", seconds, 0, _LONGEST, (int, float))
    _check_memory(n)
    chosen = cpus[-threads:] if threads else cpus
    with _ONE_AT_A_TIME:
        return answer([(path, measured(path, n, chosen, seconds)) for path in blas.find()], n)


def _check(name: str, value: Any, least: float, most: float, kind: Any) -> None:
    if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
        raise Refused("bad-parameter", f"{name} must be a number from {least} to {most}, not {value!r}", name)


def _check_memory(n: int) -> None:
    need = 3 * 8 * n * n
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > free:
        raise Refused("limit", f"three matrices of n = {n} take {need} B; {free} B of memory are free here", "n")


def measured(path: str, n: int, cpus: list[int], seconds: float) -> dict[str, Any]:
    """What wulf.agent.gemm says of a library, in a process bound to `cpus`; or a rate without value, and the reason."""
    command = [sys.executable, "-m", "wulf.agent.gemm", path, str(n), ",".join(map(str, cpus)), str(seconds)]
    threads = dict.fromkeys(_NUMBERS_OF_THREADS, str(len(cpus)))
    try:
        done = children.run(
            command,
            timeout=seconds + _PATIENCE,
            environment={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except subprocess.TimeoutExpired:
        return _without(f"it had not finished after {seconds + _PATIENCE:g} s")
    if done.returncode != 0:
        return _without(_how_it_ended(done))
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _how_it_ended(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"the process that called it was ended by {signal.Signals(-done.returncode).name}"
    last = done.stderr.strip().splitlines()[-1:]
    return f"the process that called it ended with status {done.returncode}: {' '.join(last)}"


def _without(reason: str) -> dict[str, Any]:
    return {"rate": {"unit": "flop/s", "value": None, "reason": reason}, "seconds": 0.0}


def answer(found: list[tuple[str, dict[str, Any]]], n: int) -> dict[str, Any]:
    """The operation's answer from what each library gave: metrics, seconds and info, as a probe's run has them."""
    libraries = [{**library, "name": library.get("name") or Path(path).name, "path": path} for path, library in found]
    good = [library for library in libraries if library["rate"]["value"] is not None]
    if good:
        best = max(good, key=lambda library: library["rate"]["value"])
        rate, used = best["rate"], best["path"]
    else:
        reasons = "; ".join(f"{library['path']}: {library['rate']['reason']}" for library in libraries)
        reason = reasons or "no BLAS library was found: install one (Debian: libopenblas0), or set LD_LIBRARY_PATH"
        rate, used = {"unit": "flop/s", "value": None, "reason": reason}, None
    return {
        "metrics": {"rate": rate},
        "seconds": sum(library["seconds"] for library in libraries),
        "counters": {},
        "info": {"n": n, "library": used, "libraries": libraries},
    }
