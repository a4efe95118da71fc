"""What a design is to be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wulf.model.design.timing import Timing

Timings = dict[tuple[str, str], Timing]
"""Names of node and network → time over nodes."""


@dataclass(frozen=True)
class Asked:
    """What a design is to be made of.

    Attributes
    ----------
    path
        Of the candidates.
    sources
        `--for`: a table, a JSON of `wulf model speedup`, a run, or traces; empty: the candidates' own [work].
    metric, params
        Which of a run's times.
    draws
        Of a network's figures, where a trace is replayed.
    """

    path: Path
    sources: Sequence[str] = ()
    directory: Path | None = None
    metric: str | None = None
    params: Mapping[str, str] | None = None
    draws: int = 39
    seed: int = 0
