"""What the tools over MPI that wulf repeats print for given figures, and how often they repeat what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.measure import tools
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.tool import Loop, Measurement
from wulf.measure.tools import imb, netpipe, osu

METRICS = {"pingpong": Metric("rtt", "s"), "pingping": Metric("time", "s")}
RATE = Metric("rate", "Hz", "higher")


def cells_of(loop: Loop, *sizes: int, **more: Any) -> list[Cell]:
    """A cell a size, with the parameters of the first."""
    params = {**loop.options, **loop.timing(loop.seconds, 1.0).params, **more}
    metrics = (METRICS.get(loop.pattern, RATE),)
    return [
        Cell(number, "n1", "n2", "", loop.pattern, {**params, "bytes": size}, metrics, loop.tool, program="mpi")
        for number, size in enumerate(sizes)
    ]


def answer(cell: int, metric: str, mean: float, pairs: int = 1) -> dict[str, Any]:
    return {
        "cell": cell, "ok": True, "metrics": {metric: {"value": mean, "mean": mean}}, "seconds": 0.1,
        "info": {"pairs": [[i, i + pairs] for i in range(pairs)]},
    }  # fmt: skip


def text(loop: Loop, cells: Sequence[Cell], replicates: Sequence[Mapping[str, Any]]) -> str:
    measured = Measurement.of(cells, replicates)
    assert loop.command(measured)
    return loop.text(measured)


def record_of(*samples: float) -> Record:
    return Record.model_validate(
        {
            "run": "r", "subject": "n1>n2", "probe": "mpi", "metric": "rtt", "unit": "s", "params": {},
            "value": samples[0] if samples else None, "verdict": Verdict.UNRESOLVED, "reason": "few",
            "samples": list(samples), "at": "2026-01-02T03:04:05.000Z",
        }
    )  # fmt: skip


IMB_PINGPONG = """\
#---------------------------------------------------
# Benchmarking PingPong 
# #processes = 2 
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.25         0.00
        65536         1000         8.00      8192.00"""  # noqa: W291  (as the tool prints it)

IMB_UNIBAND = """\
#---------------------------------------------------
# Benchmarking Uniband 
# #processes = 2 
#---------------------------------------------------
       #bytes #repetitions   Mbytes/sec      Msg/sec
            0         1000         0.00      1000000
         1024         1000      1024.00      1000000"""  # noqa: W291


def test_imb_halves_the_mean_of_the_middle_loop() -> None:
    loop = tools.find_mpi("imb", "pingpong")
    replicates = [answer(0, "rtt", mean) for mean in (0.4e-6, 0.5e-6, 9e-6)] + [answer(1, "rtt", 16e-6)]
    assert text(loop, cells_of(loop, 0, 65536), replicates) == IMB_PINGPONG


def test_imb_does_not_halve_what_crosses() -> None:
    loop = tools.find_mpi("imb", "pingping")
    shown = text(loop, cells_of(loop, 1), [answer(0, "time", 0.5e-6)])
    assert shown.splitlines()[-1].split() == ["1", "1000", "0.50", "2.00"]


def test_imb_windows() -> None:
    loop = tools.find_mpi("imb", "stream")
    shown = text(loop, cells_of(loop, 0, 1024), [answer(0, "rate", 1e6), answer(1, "rate", 1e6)])
    assert shown == IMB_UNIBAND
    both = tools.find_mpi("imb", "stream", both=True)
    assert "# Benchmarking Biband " in text(both, cells_of(both, 0), [answer(0, "rate", 1e6)])
    assert (loop.options["window"], both.options["both"]) == (256, True)


@pytest.mark.parametrize(
    ("size", "iterations", "warmup"),
    [(0, 1000, 100), (32768, 1000, 100), (65536, 640, 64), (4 << 20, 10, 10)],
)
def test_imb_repeats_until_a_volume(size: int, iterations: int, warmup: int) -> None:
    assert imb.repeats(size) == {"iterations": iterations, "warmup": warmup}


OSU7_LATENCY = """\
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       0.25
4194304               512.00"""

OSU5_LATENCY = """\
# OSU MPI Latency Test v5.9
# Size          Latency (us)
0                       0.25"""

OSU7_BW = """\
# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       4.50
1024                 4608.00"""

OSU7_MBW_MR = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# Datatype: MPI_CHAR.
# [ pairs: 2 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
8                      32.00        4000000.00"""


def test_osu_latency() -> None:
    seven, five = tools.find_mpi("osu7", "pingpong"), tools.find_mpi("osu5", "pingpong")
    cells = cells_of(seven, 1, 4 << 20)
    assert text(seven, cells, [answer(0, "rtt", 0.5e-6), answer(1, "rtt", 1024e-6)]) == OSU7_LATENCY
    assert text(five, cells_of(five, 0), [answer(0, "rtt", 0.5e-6)]) == OSU5_LATENCY


def test_osu_bandwidth() -> None:
    loop = tools.find_mpi("osu7", "stream")
    assert text(loop, cells_of(loop, 1, 1024), [answer(0, "rate", 4.5e6), answer(1, "rate", 4.5e6)]) == OSU7_BW
    both = tools.find_mpi("osu7", "stream", both=True)
    assert "Bi-Directional Bandwidth" in text(both, cells_of(both, 1), [answer(0, "rate", 1e6)])


def test_osu_message_rate_names_its_pairs() -> None:
    loop = tools.find_mpi("osu7", "message-rate")
    shown = text(loop, cells_of(loop, 8), [answer(0, "rate", 4e6, pairs=2)])
    assert shown == OSU7_MBW_MR
    measured = Measurement.of(cells_of(loop, 8), [answer(0, "rate", 4e6, pairs=2)])
    assert loop.command(measured) == "mpirun -n 4 osu_mbw_mr -m :8"


def test_osu_repeats_long_messages_less() -> None:
    assert osu.latency_repeats(8192) == {"iterations": 10_000, "warmup": 100}
    assert osu.latency_repeats(16384) == {"iterations": 1000, "warmup": 10}
    assert osu.bandwidth_repeats(8192) == {"iterations": 100, "warmup": 10}
    assert osu.bandwidth_repeats(16384) == {"iterations": 20, "warmup": 2}


def test_tools_go_through_their_sizes_and_end() -> None:
    loop = tools.find_mpi("osu5", "pingpong")
    assert loop.follow is not None
    assert loop.options["bytes"] == 0
    assert loop.follow(0, 1.0, [record_of(1e-6)]) == {"bytes": 1, "iterations": 10_000, "warmup": 100}
    assert loop.follow(4, 1.0, [record_of(1e-6)] * 4) is None  # 0, 1, 2, 4
    assert loop.follow(0, 1.0, [record_of(1e-6)] * 24) is None
    assert loop.follow(0, 1.0, [record_of()]) is None  # a size that failed ends it


def test_quick_repeats_a_share() -> None:
    loop = tools.find_mpi("imb", "pingpong")
    assert loop.follow is not None
    assert loop.timing(loop.seconds, 0.1).params == {"seconds": 0.0, "iterations": 100, "warmup": 100}
    assert loop.follow(0, 0.1, [record_of(1e-6)] * 23) == {"bytes": 4 << 20, "iterations": 1, "warmup": 10}


def test_netpipe_counts_from_the_size_before() -> None:
    loop = tools.find_mpi("netpipe", "pingpong")
    assert loop.timing(loop.seconds, 1.0).params == {"seconds": 0.0, "iterations": netpipe.ESTIMATE}
    assert netpipe.follow_mpi(0, 0.25, [record_of(2e-6)]) == {"bytes": 1, "iterations": 250_000}
    assert netpipe.follow_mpi(1, 0.25, [record_of(2e-6)] * 2) is None
    cells = cells_of(loop, 1, 1)
    shown = text(loop, cells, [answer(0, "rtt", 4e-6), answer(1, "rtt", 2e-6)])
    assert shown == "  0:       1 bytes    100 times -->      7.63 Mbps in       1.00 usec"


def test_what_a_tool_lacks_is_refused_with_what_it_has() -> None:
    assert tools.mpi_tools() == ["imb", "netpipe", "osu5", "osu7"]
    with pytest.raises(UsageError, match="imb has no message-rate over MPI") as caught:
        tools.find_mpi("imb", "message-rate")
    assert "`wulf mpi stream … --both --as imb`" in caught.value.next_step
    with pytest.raises(UsageError, match="netpipe has no stream both ways"):
        tools.find_mpi("netpipe", "stream", both=True)


@pytest.mark.parametrize("loop", tools.mpi_loops(), ids=lambda loop: f"{loop.tool}-{loop.pattern}")
def test_every_loop_counts_rather_than_measures_time(loop: Loop) -> None:
    params = loop.timing(loop.seconds, 1.0).params
    assert params["seconds"] == 0.0
    assert params["iterations"]
