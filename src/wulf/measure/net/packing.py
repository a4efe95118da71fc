"""What polls told, as numbers: replicates of thousands of pairs as dicts would take over ten times the memory. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from typing import Any

Group = Mapping[str, Any]
"""One place in the lists of an agent's answer (`cluster.answers.TrafficColumns`)."""

_COUNTS = ("sockets", "acked", "segments", "again", "dups", "delivered", "window")
_TIMES = ("busy", "rwnd", "sndbuf")
_GAUGES = ("rtt", "least", "rate")
_PACKED = (*_COUNTS, *_TIMES, *_GAUGES)
"""Of a group, what its figures are made of; gauges may be None."""

Kept = tuple[int, str, float, "array[float] | dict[str, dict[str, Any]]"]
"""Of a replicate its poll, when, seconds, and groups as `packed`, or a host's figures."""


def packed(groups: Iterable[Group]) -> array[float]:
    """Groups as numbers, eight bytes each."""
    return array("d", [nan if group[name] is None else group[name] for group in groups for name in _PACKED])


def unpacked(numbers: array[float]) -> list[Group]:
    """The groups again."""
    width = len(_PACKED)
    return [_group(numbers[at : at + width]) for at in range(0, len(numbers), width)]


def _group(numbers: Sequence[float]) -> Group:
    counts, times, gauges = len(_COUNTS), len(_COUNTS) + len(_TIMES), numbers[-len(_GAUGES) :]
    found: dict[str, Any] = dict(zip(_COUNTS, map(int, numbers[:counts]), strict=True))
    found |= zip(_TIMES, numbers[counts:times], strict=True)
    return found | dict(zip(_GAUGES, (None if isnan(value) else value for value in gauges), strict=True))
