"""The OSU micro-benchmarks of version 7, beside `wulf mpi pingpong --as osu7`, `stream`, `message-rate` and `put`."""

from __future__ import annotations

from bench.engine import parse
from bench.mpi.sized import SIZES, Test, Tool
from wulf.core.records import Param
from wulf.measure.tools import osu

_THROUGH = ("-m", f"{SIZES[0]}:{SIZES[-1]}")


def _windows(name: str, program: str, probe: str, **more: Param) -> Test:
    return Test(
        name, (f"pt2pt/standard/{program}", *_THROUGH), "B/s", "higher", 1e6, probe,
        lambda size: {"window": osu.WINDOW, **more, **osu.bandwidth_repeats(size)},
        lambda values, size: values["rate"] * size,
    )  # fmt: skip


def _put(sync: str) -> Test:
    return Test(
        f"put, {sync}", ("one-sided/osu_put_latency", *_THROUGH, "-s", sync), "s", "lower", 1e-6, "put",
        lambda size: {"sync": sync, "window": 1, **osu.latency_repeats(size)}, lambda values, _: values["latency"],
    )  # fmt: skip


TESTS = (
    Test(
        "half round trip", ("pt2pt/standard/osu_latency", *_THROUGH), "s", "lower", 1e-6, "pingpong",
        osu.latency_repeats, lambda values, _: values["rtt"] / 2,
    ),
    _windows("bandwidth, window 64", "osu_bw", "stream"),
    _windows("bandwidth both ways, window 64", "osu_bibw", "stream", both=True),
    _windows("message rate of one pair, window 64", "osu_mbw_mr", "message-rate"),
    _put("flush"),
    _put("lock"),
)  # fmt: skip

TOOL = Tool("OSU", "WULF_OSU", TESTS, parse.osu_sizes)
"""WULF_OSU names the folder `c/mpi` of a build."""
