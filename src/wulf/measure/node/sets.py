"""Which probes of wulf-node can work in one set of memory, one after another."""

from __future__ import annotations

from collections.abc import Mapping

from wulf.core.records import Param
from wulf.measure.engine.plan import SharedSet

LEAST_BYTES = 4 << 20
"""Smaller sets are laid on pages within a millisecond, and their frames matter more."""

ARRAYS = {"read": 1, "write": 1, "copy": 2, "scale": 2, "memcpy": 2, "add": 3, "triad": 3}
"""Kernel → how many arrays it works on."""

SPOILS = {"chase": True, "random-access": True, "bandwidth": False}
"""Probe → whether it leaves there what is no number: arithmetic on a pointer is of a denormal one, and slow."""

SKEW = 8192
"""Bytes at most between two arrays, and their rounding up to pages."""


def needed(pattern: str, params: Mapping[str, Param]) -> int:
    """Bytes of memory that a probe works in; 0 where it has no parameter for them."""
    size = params.get("bytes")
    bytes_ = int(size) if isinstance(size, int | float) else 0
    return ARRAYS[str(params["kernel"])] * (bytes_ + SKEW) if pattern == "bandwidth" else bytes_


def set_of(pattern: str, params: Mapping[str, Param]) -> SharedSet | None:
    """The set that a probe may share, with as many bytes as it needs itself; None where it must have its own.

    A team's threads lay their parts on pages themselves.
    """
    if pattern not in SPOILS or params.get("threads", 1) != 1 or needed(pattern, params) < LEAST_BYTES:
        return None
    return SharedSet(f"{params.get('pages', 'default')} pages", needed(pattern, params), SPOILS[pattern])
