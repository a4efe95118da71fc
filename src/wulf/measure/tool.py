"""What it takes to repeat another tool's loop with wulf's probes, and to tell the outcome as that tool does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wulf.core.records import Param, Record
    from wulf.measure.engine.collect import Replicate
    from wulf.measure.engine.plan import Cell

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
class Measurement:
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
    def of(cells: Sequence[Cell], replicates: Sequence[Replicate]) -> Measurement:
        """The cells that have a good replicate, with all of those.

        Raises
        ------
        UsageError
            A probe told something else than the tools read of it: which field.
        """
        from wulf.measure.told import check  # the choices of --as need none of it

        good = {cell.id: [r for r in replicates if r["cell"] == cell.id and _has_value(cell, r)] for cell in cells}
        for cell in cells:
            for replicate in good[cell.id]:
                check(cell, replicate)
        return Measurement([cell for cell in cells if good[cell.id]], good)

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
        The command under which it is found: 'pingpong', 'stream', 'connect' or 'sweep'; of MPI's loops the probe.
    transport
        What carries it. The first loop of a tool and pattern has the tool's own default. Empty for MPI.
    command
        The tool's command line that does the same, for the reader to check against.
    seconds
        The tool's own test time [s]: what `--seconds` replaces. `WHOLE` of a tool that counts instead.
    timing
        From test time and scale (1, or `QUICK`) to the probe's parameters. UsageError: shorter than the tool can.
    options
        The probe's other parameters.
    text
        The tool's summary.
    differs
        What is not as in the original: half a sentence.
    metric
        The probe's metric that is measured; empty: all that it has, of which the first is told.
    figure
        The tool's own figure of one replicate, where no metric of the probe is it; in seconds.
    follow
        From the largest size, test time, scale and the records so far of what is told to the parameters of the next
        cell, for tools that go through sizes; None: that was the last.
    files
        Files that the tool leaves, by name.
    """

    tool: str
    pattern: str
    transport: str
    command: Callable[[Measurement], str]
    seconds: float
    timing: Callable[[float, float], Timing]
    text: Callable[[Measurement], str]
    differs: str
    options: Mapping[str, Param] = field(default_factory=dict)
    metric: str = ""
    figure: Callable[[Replicate], float] | None = None
    follow: Callable[[int, float, Sequence[Record]], Mapping[str, Param] | None] | None = None
    files: Callable[[Measurement], Mapping[str, str]] | None = None


MIDDLE = f"shown is the middle one of {LOOPS} such loops"


def steady(seconds: float, scale: float) -> Timing:
    """All of the test time is measured, none of it warms up."""
    return Timing({"seconds": seconds * scale, "warmup_seconds": 0.0})


def nodelay(transport: str, *, on: bool) -> dict[str, Param]:
    """TCP_NODELAY as the tool sets it or leaves it, whatever the probe's own default; only TCP's sockets have it."""
    return {"nodelay": on} if transport == "tcp" else {}


WHOLE = 1.0
"""The test time of a tool that counts its repetitions: the share of them that is done."""


def counted(first: Mapping[str, Param]) -> Callable[[float, float], Timing]:
    """A tool that counts: `first` is what it does of its first size (iterations, warmup). No time is set."""
    return lambda seconds, scale: Timing({"seconds": 0.0, **shortened(first, seconds * scale)})


def shortened(params: Mapping[str, Param], share: float) -> dict[str, Param]:
    """The same with so many of its iterations, at least one."""
    return {**params, "iterations": max(int(float(params["iterations"] or 1) * share), 1)}


def through(
    sizes: Sequence[int], repeats: Callable[[int], Mapping[str, Param]]
) -> Callable[[int, float, Sequence[Record]], Mapping[str, Param] | None]:
    """A tool's way through its sizes [B]: `Loop.follow`.

    Parameters
    ----------
    sizes
        All of them; the first is the loop's own.
    repeats
        From a size to iterations and warmup.
    """

    def follow(most: int, share: float, records: Sequence[Record]) -> Mapping[str, Param] | None:
        wanted = [size for size in sizes if size <= (most or sizes[-1])]
        if len(records) >= len(wanted) or not records[-1].samples:
            return None
        size = wanted[len(records)]
        return {"bytes": size, **shortened(repeats(size), share)}

    return follow


def half_mean(replicate: Replicate) -> float:
    """Half of the mean round trip of one replicate [s]."""
    return mean(replicate) / 2


def mean(replicate: Replicate) -> float:
    """The mean round trip of one replicate [s]."""
    return mean_of(replicate, "rtt")


def mean_of(replicate: Replicate, metric: str) -> float:
    """A metric's mean in one replicate."""
    return float(replicate["metrics"][metric]["mean"])


def middle_of(measured: Measurement, cell: Cell, figure: Callable[[Replicate], float]) -> float:
    """The figure of a cell's middle replicate (of an even number the lower)."""
    ordered = sorted(map(figure, measured.replicates[cell.id]))
    return ordered[(len(ordered) - 1) // 2]


def throughput(replicate: Replicate) -> float:
    """The receiver's rate in one replicate [B/s]."""
    return float(replicate["metrics"]["throughput"]["value"])


def message_rate(replicate: Replicate) -> float:
    """Messages a second, on the whole of a replicate."""
    return mean_of(replicate, "rate")


def value(replicate: Replicate, metric: str) -> Any:
    """A metric's value in one replicate; None where it has none."""
    return replicate["metrics"].get(metric, {}).get("value")
