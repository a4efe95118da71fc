"""Part `net`: wulf-net beside sockperf, NetPIPE, qperf and iperf3 over one pair of a lab."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

from bench.engine.blocks import run_blocks
from bench.engine.context import Context
from bench.engine.pair import Placement, placements
from bench.engine.rows import BEST, Row, best_of, without_peer
from bench.net.peers import ROUND_TRIP_PEERS, Peer, open_loop_contest, round_trip, stream_contest, stream_name

TRANSPORTS = ("tcp", "udp")
STREAMS = (1, 2, 8)


def measure(context: Context) -> list[Row]:
    """All rows of the part."""
    places = placements()[-1:] if context.quick else placements()
    streams = STREAMS[:1] if context.quick else STREAMS
    with_iperf3 = shutil.which("iperf3") is not None
    contests = [
        peer.contest(context.pair, transport, place)
        for transport, place, peer in _round_trips(places)
        if peer.installed
    ]
    if with_iperf3:
        contests += [stream_contest(context.pair, count, places[-1]) for count in streams]
    loop = open_loop_contest(context.pair, places[-1])
    if shutil.which("sockperf"):
        contests.append(loop)
    run_blocks(contests, context.effort, context.rng, context.say)
    rows = {(contest.name, contest.peer_name.split(" (")[0]): contest.row() for contest in contests}
    missing = without_peer(loop.name, "sockperf (not installed)", "Hz", "higher")
    open_loop = rows.get((loop.name, "sockperf"), missing)
    return [*_round_trip_rows(places, rows), *_stream_rows(streams, places[-1], rows), open_loop]


def _round_trips(places: Sequence[Placement]) -> Iterator[tuple[str, Placement, Peer]]:
    for transport in TRANSPORTS:
        for place in places:
            for peer in ROUND_TRIP_PEERS:
                if transport in peer.transports:
                    yield transport, place, peer


def _round_trip_rows(places: Sequence[Placement], rows: dict[tuple[str, str], Row]) -> Iterator[Row]:
    """One row a peer, then one beside the best of them, for each transport and placement."""
    for transport in TRANSPORTS:
        for place in places:
            group = []
            for _, _, peer in (each for each in _round_trips([place]) if each[0] == transport):
                name = peer.row_name(transport, place)
                missing = without_peer(name, f"{peer.name} (not installed)", "s", "lower")
                group.append(rows.get((name, peer.name), missing))
            yield from group
            name = f"{round_trip(transport, place)}, {BEST}"
            yield best_of(name, group) or without_peer(name, "none of them (not installed)", "s", "lower")


def _stream_rows(streams: Sequence[int], place: Placement, rows: dict[tuple[str, str], Row]) -> Iterator[Row]:
    for count in streams:
        name = stream_name(count, place)
        missing = without_peer(name, "iperf3 (not installed)", "B/s", "higher")
        yield rows.get((name, "iperf3"), missing)
