"""Roofs of a node, from its rates."""

from __future__ import annotations

from collections.abc import Mapping

from wulf.core.errors import UsageError
from wulf.model.roofline import Ceiling, Roof
from wulf.rates import Rate
from wulf.stats.estimates import Interval

PEAKS = {
    ("double", "one CPU"): "cpu.fma.double",
    ("double", "all CPUs"): "cpu.fma.double.all",
    ("float", "one CPU"): "cpu.fma.float",
    ("float", "all CPUs"): "cpu.fma.float.all",
}
"""Precision and CPUs → the rate of fused multiply-adds."""

MEMORIES = {
    "one CPU": {
        "L1": "mem.l1.read",
        "L2": "mem.l2.read",
        "L3": "mem.l3.read",
        "memory, read": "mem.read",
        "memory, triad": "mem.triad.traffic",
    },
    "all CPUs": {"memory, triad": "mem.triad.all.traffic"},
}
"""The bandwidths: of the triad all traffic, stores' reads included, as it crosses the memory's bus."""


def roofs_of(rates: Mapping[str, Rate], precision: str = "double") -> tuple[list[Roof], list[str]]:
    """One CPU's roof and that of all, and which rates there are not, and why.

    Raises
    ------
    UsageError
        There is no peak with any memory.
    """
    roofs, lacking = [], []
    for scope, memories in MEMORIES.items():
        peak, why = _interval(rates, PEAKS[precision, scope])
        found = {name: _interval(rates, rate) for name, rate in memories.items()}
        lacking += [reason for _, reason in [(peak, why), *found.values()] if reason]
        ceilings = [Ceiling(name, interval) for name, (interval, _) in found.items() if interval is not None]
        if peak is not None and ceilings:
            roofs.append(Roof(scope, peak, ceilings))
    if not roofs:
        raise UsageError(
            f"no roof can be drawn: {'; '.join(lacking)}",
            "`wulf rates publish --only cpu,memory` measures this machine, `wulf node` a cluster's nodes",
        )
    return roofs, lacking


def _interval(rates: Mapping[str, Rate], name: str) -> tuple[Interval | None, str]:
    """The rate with its interval, or why there is none."""
    rate = rates.get(name)
    if rate is None:
        return None, f"{name} was not measured"
    if rate.value is None or rate.low is None or rate.high is None or rate.verdict not in ("ok", "noisy"):
        return None, f"{name}: {rate.reason or 'no interval'}"
    return Interval(rate.value, rate.low, rate.high), ""
