"""Intel MPI Benchmarks (IMB-MPI1) beside the loops of `wulf mpi … --as imb`."""

from __future__ import annotations

from bench.engine import parse
from bench.mpi.sized import SIZES, Test, Tool
from wulf.core.records import Param
from wulf.measure.tools import imb

SHORT = SIZES[:7]
"""To 4 KiB, of windows: of longer messages IMB sends ten gigabytes a size."""


def _through(sizes: tuple[int, ...]) -> tuple[str, str]:
    return "-msglog", f"0:{sizes[-1].bit_length() - 1}"


def _band(benchmark: str, what: str, *, both: bool) -> Test:
    def params(size: int) -> dict[str, Param]:
        return {"window": imb.WINDOW, "both": both, **imb.repeats(size)}

    return Test(
        f"{what}, window 256", ("IMB-MPI1", benchmark, *_through(SHORT)), "B/s", "higher", 1e6, "stream", params,
        lambda values, size: values["rate"] * size, SHORT,
    )  # fmt: skip


TESTS = (
    Test(
        "half round trip", ("IMB-MPI1", "PingPong", *_through(SIZES)), "s", "lower", 1e-6, "pingpong", imb.repeats,
        lambda values, _: values["rtt"] / 2,
    ),
    Test(
        "two messages that cross", ("IMB-MPI1", "PingPing", *_through(SIZES)), "s", "lower", 1e-6, "pingping",
        imb.repeats, lambda values, _: values["time"],
    ),
    _band("Uniband", "bandwidth", both=False),
    _band("Biband", "bandwidth both ways", both=True),
)  # fmt: skip

TOOL = Tool("IMB", "WULF_IMB", TESTS, parse.imb_sizes)
"""WULF_IMB names the folder of IMB-MPI1."""
