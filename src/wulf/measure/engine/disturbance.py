"""What happened to a node while one of its own figures was measured: its clock moved, the hypervisor took time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

CLOCK_MOVED = 0.03
"""Effective clock rates before and after a sample that differ by more: turbo, throttling, or a neighbour on the core.
Rates of a chain of additions, 0.1 ms each, repeat to within 1 % on a core at rest."""

STOLEN = 0.01
"""Share of the measuring CPU's time that the hypervisor may have taken before it is worth telling."""

MOST_MOVED = 0.25
"""Of the replicates: where the clock moved in fewer, the median does not feel it."""


def clock_ends(info: Mapping[str, Any] | None) -> tuple[float | None, float | None]:
    """The effective clock rate before and after a replicate [Hz], of its info; None where it was not measured."""
    rates = (info or {}).get("clock_rate")
    before, after = (rates.get(end) if isinstance(rates, Mapping) else None for end in ("before", "after"))
    return _rate(before), _rate(after)


def _rate(said: object) -> float | None:
    return float(said) if isinstance(said, int | float) and isfinite(said) and said > 0 else None


def clock_rates(replicate: Mapping[str, Any]) -> tuple[float, float] | None:
    """Both; None where one of them was not measured."""
    before, after = clock_ends(replicate.get("info"))
    return (before, after) if before and after else None


def stolen_share(replicates: Sequence[Mapping[str, Any]]) -> float | None:
    """The share of the measuring CPUs' time that the hypervisor took, all replicates together; None if unknown.

    The kernel counts in ticks of 10 ms, so that one replicate alone says nothing.
    """
    total = stolen = 0.0
    for replicate in replicates:
        cpu = (replicate.get("info") or {}).get("cpu")
        rows = ((replicate.get("counters") or {}).get("client") or {}).get("cpu") or {}
        times = rows.get(str(cpu)) or {}
        total += sum(value for kind, value in times.items() if kind not in ("guest", "guest_nice"))
        stolen += times.get("steal", 0.0)
    return stolen / total if total > 0 else None


def disturbances(replicates: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What disturbed a cell: flag → words. Empty where nothing did, or nothing was counted."""
    found = {}
    rates = [pair for pair in map(clock_rates, replicates) if pair is not None]
    moved = [after / before - 1 for before, after in rates if abs(after / before - 1) > CLOCK_MOVED]
    if rates and len(moved) > MOST_MOVED * len(rates):
        worst = max(moved, key=abs)
        found["clock"] = f"the clock rate moved within {len(moved)} of {len(rates)} replicates, by up to {worst:+.0%}"
    stolen = stolen_share(replicates)
    if stolen is not None and stolen > STOLEN:
        found["steal"] = f"the hypervisor took {stolen:.1%} of the CPU's time meanwhile"
    return found
