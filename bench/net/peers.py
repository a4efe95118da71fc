"""The peers, each with the work that wulf-net does beside it: same bytes, same duration, same statistic, same CPUs."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from bench.engine import parse
from bench.engine.blocks import Contest
from bench.engine.pair import Pair, Placement

BYTES = 14
"""Message of every round trip: the least that sockperf takes."""

TRIALS = 3
"""NetPIPE's, as Debian builds it; a build with FINAL defined (netpipe.h) does seven."""

SOCKPERF_S, SOCKPERF_WARMUP_S = 0.55, 0.4
"""Of `-t 1`, sockperf drops the first 400 ms and the last 50 ms."""

Work = Callable[[], float]


@dataclass(frozen=True)
class Peer:
    """A tool beside which wulf-net runs.

    Parameters
    ----------
    name, command
        As people and the shell call it.
    transports
        What it is asked for.
    statistic
        The one that it reports, and that ours is compared by.
    works
        Makes ours and the peer's replicate: (pair, transport, placement) to (ours, peer).
    """

    name: str
    command: str
    transports: tuple[str, ...]
    statistic: str
    works: Callable[[Pair, str, Placement], tuple[Work, Work]]

    @property
    def installed(self) -> bool:
        return shutil.which(self.command) is not None

    def row_name(self, transport: str, placement: Placement) -> str:
        """The name of the row; the peer's own stands in another column."""
        return f"{round_trip(transport, placement)}, {self.statistic}"

    def contest(self, pair: Pair, transport: str, placement: Placement) -> Contest:
        """Ours and the peer's round trip."""
        ours, peer = self.works(pair, transport, placement)
        return Contest(self.row_name(transport, placement), self.name, "s", "lower", ours, peer)


def round_trip(transport: str, placement: Placement) -> str:
    """How the names of a round trip's rows begin."""
    return f"{transport.upper()} {BYTES} B round trip, {placement.name}"


def _sockperf(pair: Pair, transport: str, placement: Placement) -> tuple[Work, Work]:
    tcp = ["--tcp"] if transport == "tcp" else []

    def ours() -> float:
        timing = {"seconds": SOCKPERF_S, "warmup_seconds": SOCKPERF_WARMUP_S}
        answer = pair.wulf(placement, "pingpong", transport, bytes=BYTES, **timing)
        return float(answer["metrics"]["rtt"]["quantiles"]["0.5"])

    def peer() -> float:
        server = ["sockperf", "server", "-i", pair.address, *tcp]
        client = ["sockperf", "ping-pong", "-i", pair.address, *tcp, "-m", str(BYTES), "-t", "1", "--full-rtt"]
        return parse.sockperf_median(pair.exchange(placement, server, client, (transport, 11111)))

    return ours, peer


def _qperf(pair: Pair, transport: str, placement: Placement) -> tuple[Work, Work]:
    def ours() -> float:
        answer = pair.wulf(placement, "pingpong", transport, bytes=BYTES, seconds=1.0, warmup_seconds=0.0)
        return float(answer["metrics"]["rtt"]["mean"])

    def peer() -> float:
        client = ["qperf", pair.address, "-t", "1", "-m", str(BYTES), "-e", "6", f"{transport}_lat"]
        return parse.qperf_mean(pair.exchange(placement, ["qperf"], client, ("tcp", 19765)))

    return ours, peer


def _netpipe(pair: Pair, transport: str, placement: Placement) -> tuple[Work, Work]:
    def mean(**bounds: float) -> float:
        answer = pair.wulf(placement, "pingpong", transport, bytes=BYTES, **bounds)
        return float(answer["metrics"]["rtt"]["mean"])

    @functools.cache
    def count() -> int:
        """Round trips of a trial, so that all of them take a second."""
        return max(100, round(1 / TRIALS / mean(seconds=0.3)))

    def ours() -> float:
        return min(mean(count=count(), seconds=10.0, warmup_seconds=0.0) for _ in range(TRIALS))

    def peer() -> float:
        common = ["NPtcp", "-l", str(BYTES), "-u", str(BYTES), "-p", "0", "-n", str(count()), "-o", "/dev/null"]
        output = pair.exchange(placement, common, [*common, "-h", pair.address], ("tcp", 5002))
        return parse.netpipe_least_mean(output)

    return ours, peer


ROUND_TRIP_PEERS = (
    Peer("sockperf", "sockperf", ("tcp", "udp"), "median", _sockperf),
    Peer("NetPIPE", "NPtcp", ("tcp",), "least mean", _netpipe),
    Peer("qperf", "qperf", ("tcp", "udp"), "mean", _qperf),
)


OPEN_LOOP_RATE = 50_000
"""Messages a second."""


def open_loop_contest(pair: Pair, placement: Placement) -> Contest:
    """Echoes a second that come back of so many sent, ours and sockperf's under load; both senders spin."""

    def ours() -> float:
        timing = {"seconds": SOCKPERF_S, "warmup_seconds": SOCKPERF_WARMUP_S}
        params = {"bytes": BYTES, "rate": OPEN_LOOP_RATE, "pacing": "spin", "timeout": 10.0}
        answer = pair.wulf(placement, "openloop", "tcp", **timing, **params)
        return float(answer["metrics"]["delivered"]["value"])

    def peer() -> float:
        server = ["sockperf", "server", "-i", pair.address, "--tcp"]
        client = [
            "sockperf", "under-load", "-i", pair.address, "--tcp", "-m", str(BYTES), "-t", "1", "--full-rtt",
            "--mps", str(OPEN_LOOP_RATE), "--reply-every", "1",
        ]  # fmt: skip
        return parse.sockperf_delivered(pair.exchange(placement, server, client, ("tcp", 11111)))

    name = f"TCP open loop at {OPEN_LOOP_RATE:,} messages/s, {placement.name}, delivered"
    return Contest(name, "sockperf", "Hz", "higher", ours, peer)


def stream_name(streams: int, placement: Placement) -> str:
    """The name of a stream's row."""
    plural = "s" if streams > 1 else ""
    return f"TCP, {streams} stream{plural}, {placement.name}, at the receiver"


def stream_contest(pair: Pair, streams: int, placement: Placement) -> Contest:
    """Ours and iperf3's throughput in a second from the first byte, in writes of 128 KiB, as the receiver sees it."""

    def ours() -> float:
        params = {"streams": streams, "bytes": 128 << 10, "seconds": 1.0, "warmup_seconds": 0.0}
        return float(pair.wulf(placement, "stream", "tcp", **params)["metrics"]["throughput"]["value"])

    def peer() -> float:
        server = ["iperf3", "-s", "-1", "-B", pair.address]
        client = ["iperf3", "-c", pair.address, "-t", "1", "-P", str(streams), "-l", "128K", "--json"]
        return parse.iperf3_received(pair.exchange(placement, server, client, ("tcp", 5201)))

    return Contest(stream_name(streams, placement), "iperf3", "B/s", "higher", ours, peer)
