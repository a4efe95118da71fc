"""What the probes tell in a replicate, as the loops of other tools (`measure.tools`) read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from wulf.core.errors import UsageError
from wulf.core.records import FOREIGN, told_as

if TYPE_CHECKING:
    from wulf.measure.engine.collect import Replicate
    from wulf.measure.engine.plan import Cell

_MOST = 1e18
"""Seconds, bytes a second: no clock or link comes near, and what is made of two of them is finite."""

_Figure = Annotated[float, Field(ge=0, le=_MOST)]
_Divisor = Annotated[float, Field(gt=1 / _MOST, le=_MOST)]
_Count = Annotated[int, Field(ge=0)]


class _Value(TypedDict):
    value: _Figure


class _MaybeCount(TypedDict):
    value: _Count | None


class _Packets(TypedDict):
    value: _Figure
    sent: _Count
    received: _Count


class _Mean(TypedDict):
    mean: _Divisor


class _Times(_Mean):
    n: _Count
    deviation: _Figure
    min: _Figure
    max: _Figure
    quantiles: dict[str, _Figure]


class _End(TypedDict, total=False):
    sndbuf: _Count
    rcvbuf: _Count
    mss: _Count
    nodelay: bool


class _Ends(_End, total=False):
    """The client's; the server's within."""

    server: _End
    late: _Count


class _Streams(_Ends):
    """With each stream's rate at its receiver."""

    streams: list[_Figure]
    cwnd: NotRequired[_Figure]


class _Pairs(TypedDict):
    pairs: list[Any]


class _MaybePairs(TypedDict, total=False):
    pairs: list[Any]


class _Cpu(TypedDict, total=False):
    user: float | None
    nice: float | None
    system: float | None
    irq: float | None
    softirq: float | None


class _Host(TypedDict, total=False):
    cpu: dict[str, _Cpu]


class _Trip(TypedDict):
    rtt: _Times
    lost: NotRequired[_MaybeCount]


class _Segments(TypedDict):
    throughput: _Value
    sent: NotRequired[_Value]
    retransmits: NotRequired[_MaybeCount]


class _Datagrams(TypedDict):
    throughput: _Value
    sent: _Value
    loss: _Packets


class _Connections(TypedDict):
    connections: _Value


class _RankTrip(TypedDict):
    rtt: _Mean


class _Crossing(TypedDict):
    time: _Mean


class _Messages(TypedDict):
    rate: _Mean


class _OfHosts(TypedDict):
    seconds: _Figure
    counters: dict[str, _Host] | None


class _Trips(_OfHosts):
    metrics: _Trip
    info: _Ends


class _Flow(_OfHosts):
    metrics: _Segments
    info: _Streams


class _DatagramFlow(_OfHosts):
    metrics: _Datagrams
    info: _Streams


class _Connects(_OfHosts):
    metrics: _Connections
    info: _Ends


class _OfRanks(TypedDict):
    info: _MaybePairs | None


class _RankTrips(_OfRanks):
    metrics: _RankTrip


class _Crossings(_OfRanks):
    metrics: _Crossing


class _Windows(_OfRanks):
    metrics: _Messages


class _WindowsOfPairs(TypedDict):
    metrics: _Messages
    info: _Pairs


_SHAPES: Mapping[tuple[str, str], Any] = {
    ("pingpong", "tcp"): _Trips,
    ("pingpong", "udp"): _Trips,
    ("stream", "tcp"): _Flow,
    ("stream", "udp"): _DatagramFlow,
    ("connect", "tcp"): _Connects,
    ("pingpong", ""): _RankTrips,
    ("pingping", ""): _Crossings,
    ("stream", ""): _Windows,
    ("message-rate", ""): _WindowsOfPairs,
}
"""Probe, transport (none of MPI's) → what its replicate holds at least."""


def check(cell: Cell, replicate: Replicate) -> None:
    """Hold a replicate against what its probe tells.

    Raises
    ------
    UsageError
        It lacks a field, or one is of another kind or no possible figure.
    """
    whose = f"a replicate of {cell.subject}"
    told_as(_SHAPES[cell.pattern, cell.transport], replicate, f"{whose} has no sound ", FOREIGN)
    if "streams" in cell.params:
        got, asked = len(replicate["info"]["streams"]), int(cell.params["streams"] or 1)
        if got != asked:
            raise UsageError(f"{whose} tells of {got} streams, where {asked} were asked for", FOREIGN)
