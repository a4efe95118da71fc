"""Intel MPI Benchmarks (IMB-MPI1) beside the loops of `wulf mpi … --as imb`."""

from __future__ import annotations

from bench import parse
from bench.sized import SIZES, Test, Tool
from wulf.core.records import Param
from wulf.measure.tools import imb

_THROUGH = ("-msglog", f"0:{SIZES[-1].bit_length() - 1}")


def _band(benchmark: str, what: str, *, both: bool) -> Test:
    def params(size: int) -> dict[str, Param]:
        return {"window": imb.WINDOW, "both": both, **imb.repeats(size)}

    return Test(
        f"{what}, window 256", ("IMB-MPI1", benchmark, *_THROUGH), "B/s", "higher", 1e6, "stream", params,
        lambda values, size: values["rate"] * size,
    )  # fmt: skip


TESTS = (
    Test(
        "half round trip", ("IMB-MPI1", "PingPong", *_THROUGH), "s", "lower", 1e-6, "pingpong", imb.repeats,
        lambda values, _: values["rtt"] / 2,
    ),
    Test(
        "two messages that cross", ("IMB-MPI1", "PingPing", *_THROUGH), "s", "lower", 1e-6, "pingping", imb.repeats,
        lambda values, _: values["time"],
    ),
    _band("Uniband", "bandwidth", both=False),
    _band("Biband", "bandwidth both ways", both=True),
)  # fmt: skip

TOOL = Tool("IMB", "WULF_IMB", TESTS, parse.imb_sizes)
"""WULF_IMB names the folder of IMB-MPI1."""
