"""`python -m bench.net.like [SECONDS [TOOL …]]`: what `--as TOOL` measures beside the tool itself, interleaved.

One pair, both ends on one CPU. A ratio of 1 says that wulf repeats the tool's loop well enough to be checked against
it. Hpcbench takes part where its tcptest and tcpserver are in PATH, netperf where it is with its netserver.
"""

from __future__ import annotations

import argparse
import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.engine import parse
from bench.engine.blocks import Contest, Effort, run_blocks
from bench.engine.context import say
from bench.engine.pair import Pair, Placement, placements
from wulf.core.records import Param
from wulf.core.units import show
from wulf.measure import tools
from wulf.measure.tool import Loop, throughput
from wulf.measure.tools.netperf import connections

LOOKS, WIDTH, SECONDS = (12, 18, 27, 40), 0.02, 420.0
TIMED = 1.0
"""Test time of each tool [s]."""

NETPIPE_COUNT, NETPIPE_TRIALS = 10_000, 3
"""Debian's build has three trials."""


@dataclass(frozen=True)
class Original:
    """A tool's own run that one of the loops repeats.

    Parameters
    ----------
    server, client
        Command lines; `{}` is the server's address.
    port
        Protocol and port by which the server is known to be ready.
    read
        The figure in what the client prints, as the loop has it.
    """

    server: str
    client: str
    port: tuple[str, int]
    read: Callable[[str], float]


ORIGINALS = {
    ("sockperf", "pingpong", "tcp"): Original(
        "sockperf server -i {} --tcp", "sockperf ping-pong -i {} --tcp -t 1", ("tcp", 11111), parse.sockperf_average
    ),
    ("sockperf", "pingpong", "udp"): Original(
        "sockperf server -i {}", "sockperf ping-pong -i {} -t 1", ("udp", 11111), parse.sockperf_average
    ),
    **{
        ("qperf", "pingpong", transport): Original(
            "qperf", f"qperf {{}} -t 1 -e 6 {transport}_lat", ("tcp", 19765), lambda text: parse.qperf_mean(text) / 2
        )
        for transport in ("tcp", "udp")
    },
    **{
        ("qperf", "stream", transport): Original(
            "qperf", f"qperf {{}} -t 1 -e 6 {transport}_bw", ("tcp", 19765), parse.qperf_bandwidth
        )
        for transport in ("tcp", "udp")
    },
    ("netpipe", "sweep", "tcp"): Original(
        "NPtcp -l 64 -u 64 -p 0 -n {count} -o /dev/null", "NPtcp -h {} -l 64 -u 64 -p 0 -n {count} -o /dev/null",
        ("tcp", 5002), lambda text: parse.netpipe_least_mean(text) / 2,
    ),
    ("iperf3", "stream", "tcp"): Original(
        "iperf3 -s -1 -B {}", "iperf3 -c {} -t 1 --json", ("tcp", 5201), parse.iperf3_received
    ),
    ("hpcbench", "stream", "tcp"): Original(
        "tcpserver", "tcptest -h {} -t 1 -r 1", ("tcp", 5677), parse.hpcbench_throughput
    ),
    ("hpcbench", "pingpong", "tcp"): Original(
        "tcpserver", "tcptest -h {} -a -r 1", ("tcp", 5677), parse.hpcbench_round_trip
    ),
    **{
        ("netperf", pattern, transport): Original(
            "netserver -D -4", f"netperf -H {{}} -l 1 -t {test}", ("tcp", 12865), read
        )
        for pattern, transport, test, read in (
            ("stream", "tcp", "TCP_STREAM", parse.netperf_throughput),
            ("stream", "udp", "UDP_STREAM", parse.netperf_throughput),
            ("pingpong", "tcp", "TCP_RR", lambda text: 1 / parse.netperf_rate(text)),
            ("pingpong", "udp", "UDP_RR", lambda text: 1 / parse.netperf_rate(text)),
            ("connect", "tcp", "TCP_CRR", parse.netperf_rate),
        )
    },
}  # fmt: skip


FIGURES = {"stream": throughput, "connect": connections}
"""Of a pattern whose loops have no figure of their own."""

UNITS = {"stream": ("B/s", "higher"), "connect": ("Hz", "higher")}
"""Pattern → unit, and which is better, where the figure is no time."""


def _ours(pair: Pair, place: Placement, loop: Loop) -> Callable[[], float]:
    """One run of the loop by wulf-net: the figure that the tool would print."""
    times = {"pingpong": 0.1} if loop.tool == "hpcbench" else {}
    params: dict[str, Param] = {**loop.options, **loop.timing(times.get(loop.pattern, TIMED), 1.0).params}
    pattern = "pingpong" if loop.pattern == "sweep" else loop.pattern
    if loop.tool == "iperf3":
        params["seconds"] = TIMED
    if loop.tool == "netpipe":
        params |= {"bytes": 64, "count": NETPIPE_COUNT}

    def run() -> float:
        figure = loop.figure or FIGURES[pattern]
        trials = NETPIPE_TRIALS if loop.tool == "netpipe" else 1
        return min(figure(pair.wulf(place, pattern, loop.transport, **params)) for _ in range(trials))

    return run


def _peer(pair: Pair, place: Placement, original: Original) -> Callable[[], float]:
    def words(command: str) -> list[str]:
        return command.replace("{}", pair.address).replace("{count}", str(NETPIPE_COUNT)).split()

    return lambda: original.read(pair.exchange(place, words(original.server), words(original.client), original.port))


def contests(pair: Pair, place: Placement) -> Iterator[Contest]:
    """Every loop whose original is installed."""
    for (tool, pattern, transport), original in ORIGINALS.items():
        loop = tools.find(tool, pattern, transport)
        unit, better = UNITS.get(pattern, ("s", "lower"))
        if shutil.which(original.client.split()[0]):
            name = f"{tool} {pattern} {transport}, {place.name}"
            yield Contest(name, tool, unit, better, _ours(pair, place, loop), _peer(pair, place, original))


def main() -> None:
    """Print a line a loop: both figures, and their ratio with its interval."""
    parser = argparse.ArgumentParser(prog="python -m bench.net.like", description="What `--as TOOL` measures.")
    parser.add_argument("seconds", nargs="?", type=float, default=SECONDS, help="in all [%(default)g]")
    parser.add_argument("tools", nargs="*", metavar="TOOL", help="beside which [all that are installed]")
    given = parser.parse_args()
    with Pair() as pair:
        known = contests(pair, placements()[0])
        found = [contest for contest in known if contest.peer_name in (given.tools or [contest.peer_name])]
        effort = Effort(LOOKS, WIDTH, time.monotonic() + given.seconds)
        run_blocks(found, effort, random.Random(), say)
        for row in (contest.row() for contest in found):
            interval = f"{row.low:.3f}–{row.high:.3f}" if row.low and row.high else row.peer_name
            ratio = f"{row.ratio:.3f}" if row.ratio else "–"
            print(f"{row.name:34} {show(row.ours, row.unit):>12} {show(row.peer, row.unit):>12} {ratio:>7}  {interval}")


if __name__ == "__main__":
    main()
