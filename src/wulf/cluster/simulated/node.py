"""What a simulated wulf-node says of itself and answers: the probes of the real one, with seeded values and no work."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

Answer = dict[str, Any]


def _param(name: str, kind: str, default: Any, choices: str = "", unit: str = "") -> Answer:
    found = {"name": name, "type": kind, "unit": unit, "default": default, "help": "simulated"}
    if choices:
        found["choices"] = choices.split("|")
    elif kind in ("int", "float"):
        found["min"] = 0
    return found


def _int(name: str, default: Any, unit: str = "") -> Answer:
    return _param(name, "int", default, unit=unit)


def _choice(name: str, choices: str) -> Answer:
    return _param(name, "str", choices.split("|", maxsplit=1)[0], choices)


_PAGES, _BYTES, _THREADS = _choice("pages", "default|small|huge"), _int("bytes", 32768, "B"), _int("threads", 1)
_LATENCY, _EXCESS, _THROUGHPUT = ("latency", "s"), ("excess", "s"), ("throughput", "B/s")
_PLACED = _choice("placement", "same|spread")

_PROBES: dict[str, tuple[str, list[Answer], tuple[tuple[str, str], ...]]] = {
    "arithmetic": ("cpu", [_choice("type", "int|int64|float|double"), _choice("op", "bit|add|mul|div|mod|bogo")],
                   (_LATENCY, ("throughput", "Hz"), ("interval", "s"))),
    "cpu-rate": ("cpu", [_BYTES, _int("runs", 100)], (("rate", "Hz"), ("time", "s"), ("deviation", "s"))),
    "fma": ("cpu", [_choice("type", "float|double"), _choice("isa", "auto|sse2|avx2|avx512|neon"), _THREADS],
            (("rate", "flop/s"),)),
    "sha1": ("cpu", [_BYTES], (_THROUGHPUT,)),
    "fft": ("cpu", [_int("points", 65536)], (("rate", "flop/s"),)),
    "random-access": ("cpu", [_BYTES, _THREADS], (("rate", "Hz"),)),
    "chase": ("memory", [_BYTES, _PAGES, _int("stride", 0), _int("chains", 1)], (_LATENCY,)),
    "bandwidth": ("memory", [_BYTES, _choice("kernel", "read|write|copy|scale|add|triad|memcpy"),
                             _choice("stores", "normal|nontemporal"), _THREADS, _PAGES],
                  (_THROUGHPUT, ("traffic", "B/s"))),
    "loaded-latency": ("memory", [_BYTES, _THREADS, _int("delay", 0)], (_LATENCY, ("load", "B/s"))),
    "tlb": ("memory", [_int("entries", 64), _PAGES], (_LATENCY,)),
    "line-size": ("memory", [], (("line", "B"),)),
    "numa": ("memory", [_int("memory_node", 0), _BYTES], (_LATENCY, _THROUGHPUT)),
    "core-to-core": ("memory", [_int("other", None)], (_LATENCY,)),
    "page-fault": ("memory", [_choice("kind", "anonymous|file|pages|protection")], (_LATENCY, _EXCESS)),
    "mmap": ("memory", [_BYTES], (_LATENCY,)),
    "syscall": ("os", [_choice("call", "null|read|write|stat|open")], (_LATENCY,)),
    "select": ("os", [_choice("via", "select|poll|epoll"), _int("descriptors", 100), _choice("kind", "tcp|file")],
               (_LATENCY,)),
    "signal": ("os", [_choice("action", "install|handle")], (_LATENCY, _EXCESS)),
    "process": ("os", [_choice("how", "fork|exec|sh|spawn|thread")], (_LATENCY,)),
    "context-switch": ("os", [_int("processes", 2), _int("bytes", 0, "B"), _PLACED], (_LATENCY,)),
    "futex": ("os", [_PLACED], (_LATENCY,)),
    "io-uring": ("os", [], (_LATENCY,)),
    "file": ("os", [_choice("action", "create|delete"), _int("bytes", 0, "B")], (_LATENCY,)),
    "reread": ("os", [_choice("how", "read|mmap|mapped"), _BYTES], (_THROUGHPUT,)),
    "detour": ("noise", [_param("threshold", "float", 0.0)], (("lost", "1"), ("worst", "s"), ("detours", "Hz"))),
    "ftq": ("noise", [_param("quantum", "float", None, unit="s")], (("lost", "1"), ("worst", "s"))),
    "kernel-noise": ("noise", [], (("lost", "1"),)),
    "power": ("power", [], (("package", "W"), ("memory", "W"))),
}  # fmt: skip
"""Probe → group, its own parameters, its metrics, the first one first."""

_COMMON = [_int("cpu", None), _param("seconds", "float", 0.02, unit="s")]
_USUAL = {"s": 1e-6, "Hz": 1e9, "B/s": 1e10, "flop/s": 1e11, "1": 0.001, "B": 64.0, "W": 90.0}
_HIGHER = frozenset({"B/s", "Hz", "flop/s"})

WULF_NODE: Answer = {
    "program": "wulf-node", "version": "0.1.0", "protocol": 1, "ops": ["clock", "counters", "describe", "ping", "run"],
    "probes": [
        {"name": name, "group": group, "help": "simulated", "params": [*params, *_COMMON],
         "metrics": [{"name": metric, "unit": unit, "help": "",
                      "better": "higher" if unit in _HIGHER and group != "noise" else "lower"}
                     for metric, unit in metrics]}
        for name, (group, params, metrics) in _PROBES.items()
    ],
}  # fmt: skip
"""What the simulated wulf-node's `--describe` would print."""


def usual_value(probe: str, unit: str, params: Mapping[str, Any]) -> float:
    """A plausible figure: times grow with the working set, everything else is what it is."""
    value = _USUAL[unit]
    if probe in ("chase", "cpu-rate") and unit == "s":
        return value * 1e-3 * log2(max(2, params.get("bytes") or 2))
    return value
