"""What it takes to repeat another tool's loop with wulf's probes, and to tell the outcome as that tool does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wulf.core.records import Param, Record
from wulf.measure.collect import Replicate
from wulf.measure.plan import Cell

QUICK = 0.1
"""What --quick leaves of a tool's times."""

LOOPS = 7
"""How often a tool's loop is run where the tool runs it once: an interval needs six, and an odd number has a middle."""


@dataclass(frozen=True)
class Timing:
    """A tool's times as the probe's parameters, and how many replicates they make."""

    params: Mapping[str, Param]
    replicates: int = LOOPS


@dataclass(frozen=True)
class Measured:
    """What a tool's text is made of.

    Attributes
    ----------
    cells
        In the order measured.
    replicates
        Cell → what the probe answered, failures left out, in the order measured.
    """

    cells: Sequence[Cell]
    replicates: Mapping[int, Sequence[Replicate]]

    @staticmethod
    def of(cells: Sequence[Cell], replicates: Sequence[Replicate]) -> Measured:
        """The cells that have a good replicate, with all of those."""
        good = {cell.id: [r for r in replicates if r["cell"] == cell.id and _has_value(cell, r)] for cell in cells}
        return Measured([cell for cell in cells if good[cell.id]], good)

    @property
    def cell(self) -> Cell:
        """The first cell: the only one of a tool without sizes."""
        return self.cells[0]

    @property
    def loops(self) -> Sequence[Replicate]:
        """The first cell's replicates."""
        return self.replicates[self.cell.id]

    def middle(self, figure: Callable[[Replicate], float]) -> Replicate:
        """The replicate whose figure is the median (of an even number the lower): one that was measured, no blend."""
        ordered = sorted(self.loops, key=figure)
        return ordered[(len(ordered) - 1) // 2]


def _has_value(cell: Cell, replicate: Replicate) -> bool:
    return bool(replicate["ok"]) and replicate["metrics"].get(cell.metrics[0].name, {}).get("value") is not None


@dataclass(frozen=True)
class Loop:
    """One loop of a tool: what it measures, how long, and how it tells.

    Attributes
    ----------
    tool
        The name that `--as` takes.
    pattern
        The command under which it is found: 'pingpong', 'stream' or 'sweep'.
    transport
        What carries it. The first loop of a tool and pattern has the tool's own default.
    command
        The tool's command line that does the same, for the reader to check against.
    seconds
        The tool's own test time [s]: what `--seconds` replaces.
    timing
        From test time and scale (1, or `QUICK`) to the probe's parameters. UsageError: shorter than the tool can.
    options
        The probe's other parameters.
    text
        The tool's summary.
    differs
        What is not as in the original: half a sentence.
    figure
        The tool's own figure of one replicate, where no metric of the probe is it; in seconds.
    follow
        From the largest size, test time, scale and the rtt records so far to the parameters of the next cell, for
        tools that go through sizes; None: that was the last.
    files
        Files that the tool leaves, by name.
    """

    tool: str
    pattern: str
    transport: str
    command: Callable[[Measured], str]
    seconds: float
    timing: Callable[[float, float], Timing]
    text: Callable[[Measured], str]
    differs: str
    options: Mapping[str, Param] = field(default_factory=dict)
    figure: Callable[[Replicate], float] | None = None
    follow: Callable[[int, float, Sequence[Record]], Mapping[str, Param] | None] | None = None
    files: Callable[[Measured], Mapping[str, str]] | None = None


MIDDLE = f"shown is the middle one of {LOOPS} such loops"


def steady(seconds: float, scale: float) -> Timing:
    """All of the test time is measured, none of it warms up."""
    return Timing({"seconds": seconds * scale, "warmup_seconds": 0.0})


def half_mean(replicate: Replicate) -> float:
    """Half of the mean round trip of one replicate [s]."""
    return mean(replicate) / 2


def mean(replicate: Replicate) -> float:
    """The mean round trip of one replicate [s]."""
    return float(replicate["metrics"]["rtt"]["mean"])


def throughput(replicate: Replicate) -> float:
    """The receiver's rate in one replicate [B/s]."""
    return float(replicate["metrics"]["throughput"]["value"])


def value(replicate: Replicate, metric: str) -> Any:
    """A metric's value in one replicate; None where it has none."""
    return replicate["metrics"].get(metric, {}).get("value")
