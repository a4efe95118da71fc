"""The probe `dgemm`: how fast this node's BLAS libraries multiply matrices (HPCC's DGEMM)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from wulf.agent.blas import find as blas
from wulf.agent.blas.gemm import Shape
from wulf.agent.processes import children
from wulf.agent.processes.signals import name_of
from wulf.agent.session import Refused

_LARGEST = 30_000
"""Rows: three matrices of it take 21.6 GB."""
_LONGEST = 60.0
_REAL = (int, float)
_PATIENCE = 120.0
"""Seconds beside those asked for: loading, one product to warm up, and three at least."""

_ONE_AT_A_TIME = threading.Lock()
"""Requests run concurrently; two of these would measure each other."""

PROBE: dict[str, Any] = {
    "name": "dgemm",
    "group": "cpu",
    "help": "Products of matrices by each BLAS library found; the fastest one's rate",
    "params": [
        {
            "name": "n", "type": "int", "unit": "1", "default": 1024, "min": 1, "max": _LARGEST,
            "help": "columns of the product; rows, too, unless m is given",
        },
        {
            "name": "m", "type": "int", "unit": "1", "default": None, "min": 1, "max": _LARGEST,
            "help": "rows of the product [n]",
        },
        {
            "name": "k", "type": "int", "unit": "1", "default": None, "min": 1, "max": _LARGEST,
            "help": "columns of the first factor, rows of the second [n]",
        },
        {
            "name": "update", "type": "bool", "unit": "1", "default": False,
            "help": "subtract the product from what was there, as LU does, rather than store it",
        },
        {
            "name": "library", "type": "str", "unit": "1", "default": None,
            "help": "path of one library [all that are found]",
        },
        {
            "name": "processes", "type": "int", "unit": "1", "default": 1, "min": 0,
            "help": "processes that measure at once, among which the CPUs are dealt out; 0: one a CPU",
        },
        {
            "name": "threads", "type": "int", "unit": "1", "default": 1, "min": 0,
            "help": "CPUs used in all; 0: all allowed ones",
        },
        {
            "name": "seconds", "type": "float", "unit": "s", "default": 0.2, "min": 0.0, "max": _LONGEST,
            "help": "how long to measure each library, about",
        },
    ],
    "metrics": [{"name": "rate", "unit": "flop/s", "better": "higher", "help": "2 m n k operations a product"}],
}  # fmt: skip
"""As a program's --describe has it."""

_NUMBERS_OF_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def dgemm(**given: Any) -> dict[str, Any]:
    """flop/s of products, for each BLAS library found or the one that is named; `seconds` of each.

    Parameters are those of PROBE. `metrics.rate` is the fastest library's, over all processes, and `info.libraries`
    tells of all; without any it is null, with the reason.
    """
    asked = {param["name"]: param["default"] for param in PROBE["params"]} | given
    n = asked["n"]
    asked |= {name: n for name in ("m", "k") if asked[name] is None}
    cpus = sorted(os.sched_getaffinity(0))
    for param in PROBE["params"]:
        if param["type"] in ("int", "float"):
            most = len(cpus) if param["name"] in ("threads", "processes") else param["max"]
            _check(param["name"], asked[param["name"]], param["min"], most, int if param["type"] == "int" else _REAL)
    shape = Shape(asked["m"], n, asked["k"], bool(asked["update"]))
    parts = dealt(cpus[-asked["threads"] :], asked["processes"])
    _check_memory(shape, len(parts))
    paths = blas.find() if asked["library"] is None else [str(asked["library"])]
    with _ONE_AT_A_TIME:
        return answer([(path, measured(path, shape, parts, asked["seconds"])) for path in paths], shape)


def dealt(cpus: list[int], processes: int) -> list[list[int]]:
    """The CPUs of each process, as evenly as can be; 0 processes: one for each CPU."""
    count = min(processes or len(cpus), len(cpus))
    return [cpus[len(cpus) * part // count : len(cpus) * (part + 1) // count] for part in range(count)]


def _check(name: str, value: Any, least: float, most: float, kind: Any) -> None:
    if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
        raise Refused("bad-parameter", f"{name} must be a number from {least} to {most}, not {value!r}", name)


def _check_memory(shape: Shape, processes: int) -> None:
    m, n, k, _ = shape
    need = 8 * (m * k + k * n + m * n) * processes
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > free:
        whose = f" in each of {processes} processes" if processes > 1 else ""
        size = f"m = {m}, n = {n}, k = {k}{whose}"
        raise Refused("limit", f"three matrices of {size} take {need} B; {free} B of memory are free here", "n")


def measured(path: str, shape: Shape, parts: list[list[int]], seconds: float) -> dict[str, Any]:
    """What wulf.agent.blas.gemm says of a library, in processes bound to `parts`; or a null rate, and the reason."""
    cpus = ":".join(",".join(map(str, part)) for part in parts)
    size = ",".join(str(int(part)) for part in shape)
    command = [sys.executable, "-m", "wulf.agent.blas.gemm", path, size, cpus, str(seconds)]
    threads = dict.fromkeys(_NUMBERS_OF_THREADS, str(len(parts[0])))
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
        return f"the process that called it was ended by {name_of(-done.returncode)}"
    last = done.stderr.strip().splitlines()[-1:]
    return f"the process that called it ended with status {done.returncode}: {' '.join(last)}"


def _without(reason: str) -> dict[str, Any]:
    return {"rate": {"unit": "flop/s", "value": None, "reason": reason}, "seconds": 0.0}


def answer(found: list[tuple[str, dict[str, Any]]], shape: Shape) -> dict[str, Any]:
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
        "info": {"m": shape.m, "n": shape.n, "k": shape.k, "library": used, "libraries": libraries},
    }
