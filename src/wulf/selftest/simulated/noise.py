"""The noise that every area is tried on, and steps over kinds of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

import numpy as np

from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.series.streams import SYNTHETIC, Stream, recorded, shuffled

CV = 0.01
"""Coefficient of variation of a single run in the campaigns."""


class Simulate(Protocol):
    """Campaigns over one kind of noise."""

    def __call__(self, random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
        """Simulate so many."""


def recording() -> list[list[float]]:
    """The recorded ping-pongs that come with wulf: medians of successive replicates, in seconds."""
    content = json.loads((files("wulf.selftest.simulated") / "recorded_pingpong.json").read_text(encoding="utf-8"))
    return list(content["series"].values())


@cache
def everything() -> tuple[Stream, ...]:
    """Synthetic noise, and the recorded one."""
    return (*SYNTHETIC, recorded(recording()))


@cache
def steady() -> tuple[Stream, ...]:
    """Noise of which one median is true."""
    return tuple(s for s in (*SYNTHETIC, shuffled(recorded(recording()))) if s.median is not None)


def over(words: str, simulate: Simulate, streams: Sequence[Stream]) -> list[tuple[str, ClaimStep]]:
    """One step for each kind of noise, with the words for its progress line."""
    return [(f"{words}, {stream.name}", partial(simulate, stream=stream)) for stream in streams]
