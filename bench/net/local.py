"""Part `local`: transports within one node beside the peers that have them."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator

from bench.engine import parse
from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.pair import Pair, Placement, placements
from bench.engine.rows import Row, without_peer

PIPE_TRIPS = 50_000
UCX_TRIPS = 500_000
SECONDS = 0.5
BYTES = 8

PART_S, QUICK_PART_S = 120.0, 20.0
"""For the part: pipes on one CPU never get as narrow as requested, and would take whatever time there is."""

NO_PEER = {"unix": "no packaged peer", "unixgram": "no packaged peer"}


def measure(context: Context) -> list[Row]:
    """A row a transport: pipes on one CPU, where perf has both ends; shared memory on two, since both ends spin."""
    pair, places = context.pair, placements()
    all_contests = {"perf": _pipes(pair, places[0]), "ucx_perftest": _rings(pair, places[-1])}
    contests = [contest for command, contest in all_contests.items() if shutil.which(command)]
    until = context.effort.clock() + (QUICK_PART_S if context.quick else PART_S)
    run_blocks(contests, dataclasses.replace(context.effort, until=until), context.rng, context.say)
    missing = [
        without_peer(contest.name, f"{contest.peer_name} (not installed)", "s", "lower")
        for contest in all_contests.values()
        if contest not in contests
    ]
    return [*(contest.row() for contest in contests), *missing, *_without(pair, places[0])]


def _name(transport: str, placement: Placement) -> str:
    return f"{transport} round trip, {placement.name}, mean"


def _ours(pair: Pair, placement: Placement, transport: str, **params: object) -> Callable[[], float]:
    def ours() -> float:
        answer = pair.wulf_within(placement, "pingpong", transport, seconds=SECONDS, **params)
        return float(answer["metrics"]["rtt"]["mean"])

    return ours


def _pipes(pair: Pair, placement: Placement) -> Contest:
    command = ["perf", "bench", "sched", "pipe", "-l", str(PIPE_TRIPS)]
    ours = _ours(pair, placement, "pipe", bytes=4)
    name = _name("pipe", placement)
    return Contest(name, "perf bench", "s", "lower", ours, lambda: parse.perf_pipe(pair.alone(placement, command)))


def _rings(pair: Pair, placement: Placement) -> Contest:
    """UCX over the same kind of memory, POSIX shared memory; the port only brings its ends together."""
    common = ["env", "UCX_TLS=posix,self", "ucx_perftest", "-t", "tag_lat", "-s", str(BYTES), "-n", str(UCX_TRIPS)]

    def peer() -> float:
        return parse.ucx_round_trip(pair.beside(placement, common, [*common, "127.0.0.1"], 13337))

    ours = _ours(pair, placement, "shm", bytes=BYTES, waiting="busy")
    return Contest(_name("shm", placement), "UCX", "s", "lower", ours, peer)


def _without(pair: Pair, placement: Placement) -> Iterator[Row]:
    for transport, reason in NO_PEER.items():
        samples = [_ours(pair, placement, transport, bytes=BYTES)() for _ in range(7)]
        yield without_peer(_name(transport, placement), reason, "s", "lower", samples)
