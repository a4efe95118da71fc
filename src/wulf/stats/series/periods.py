"""Whether a distribution's modes are multiples of one period, as round trips are that wait for a timer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Mode = tuple[float, float]
"""Where a mode is, and its share of the samples."""


def joined(modes: Sequence[Mode], apart: float) -> list[Mode]:
    """Modes, lowest first, with those that lie nearer to each other than the share `apart` taken as one."""
    found: list[Mode] = []
    for at, share in modes:
        if found and at <= found[-1][0] * (1 + apart):
            before, had = found.pop()
            found.append(((before * had + at * share) / (had + share), had + share))
        else:
            found.append((at, share))
    return found


def period_of(modes: Sequence[float], *, first: float, off: float) -> float | None:
    """The period whose multiples all modes are, or None.

    Parameters
    ----------
    modes
        Where they are, lowest first.
    first
        The lowest may be at most this multiple: of two modes far from 0, any is nearly a multiple of their distance.
        Of two neighbours at least, the multiples must be neighbours, too.
    off
        How far a mode may lie from its multiple, as a share of the period.
    """
    if len(modes) < 2:
        return None
    for number in range(1, int(first) + 1):
        numbers = [round(mode * number / modes[0]) for mode in modes]
        if min(b - a for a, b in pairwise(numbers)) != 1:
            continue
        period = sum(modes) / sum(numbers)
        if all(abs(mode - n * period) <= off * period for mode, n in zip(modes, numbers, strict=True)):
            return period
    return None
