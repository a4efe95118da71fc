"""What the tools whose loops wulf repeats print, for given figures; and that the parsers of the real tools read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from bench.engine import parse

from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.measure import tools
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.tool import Loop, Measurement
from wulf.measure.tools import netpipe, sockperf
from wulf.measure.tools.iperf3 import adaptive
from wulf.measure.tools.qperf import scaled

RTT = (Metric("rtt", "s"),)
METRICS = {
    "pingpong": (RTT, "pingpong"), "sweep": (RTT, "pingpong"),
    "stream": ((Metric("throughput", "B/s", "higher"),), "stream"), "connect": ((Metric("connect", "s"),), "connect"),
}  # fmt: skip
AT = "2026-01-02T03:04:05.000Z"


def cell_of(loop: Loop, number: int = 0, **more: Any) -> Cell:
    metrics, pattern = METRICS[loop.pattern]
    params = {**loop.options, **loop.timing(loop.seconds, 1.0).params, **more}
    return Cell(number, "n1", "n2", loop.transport, pattern, params, metrics, loop.tool)


def trip(mean: float, cell: int = 0, **more: Any) -> dict[str, Any]:
    """A replicate of round trips [s] with this mean."""
    quantiles = {"0.25": 16e-6, "0.5": 17e-6, "0.75": 18e-6, "0.9": 20e-6, "0.99": 24e-6, "0.999": 50e-6}
    rtt = {
        "value": 17e-6, "n": 30803, "mean": mean, "deviation": 2e-6, "min": 15e-6, "max": 70e-6,
        "quantiles": quantiles,
    }  # fmt: skip
    metrics = {"rtt": rtt, "lost": {"value": 0}}
    told = {"cell": cell, "ok": True, "at": AT, "metrics": metrics, "seconds": 0.55, "info": {}, "counters": None}
    return told | more


def flow(rate: float, streams: int = 1, **more: Any) -> dict[str, Any]:
    """A replicate of a stream [B/s]; the sender was a hundredth faster, and the second of two streams twice as fast."""
    rates = [rate] if streams == 1 else [rate / 3, 2 * rate / 3]
    loss = {"value": 0.25, "sent": 400, "received": 300}
    metrics = {"throughput": {"value": rate}, "sent": {"value": 1.01 * rate}, "retransmits": {"value": 3}, "loss": loss}
    info = {
        "streams": rates, "cwnd": 744_448, "sndbuf": 16384, "rcvbuf": 87380, "mss": 1448,
        "nodelay": False, "server": {"sndbuf": 16385, "rcvbuf": 87381, "mss": 1448, "nodelay": False},
    }  # fmt: skip
    used = {"client": {"cpu": {"all": {"user": 0.25, "system": 1.0, "softirq": 0.5}}}, "server": {}}
    return {"cell": 0, "ok": True, "at": AT, "metrics": metrics, "seconds": 5.0, "info": info, "counters": used} | more


def text(tool: str, pattern: str, transport: str, replicates: Sequence[Mapping[str, Any]], **params: Any) -> str:
    loop = tools.find(tool, pattern, transport)
    measured = Measurement.of([cell_of(loop, **params)], replicates)
    assert loop.command(measured)
    return loop.text(measured)


SOCKPERF = """\
sockperf: [Valid Duration] RunTime=0.550 sec; SentMessages=30803; ReceivedMessages=30803
sockperf: ====> avg-latency=9.000 (std-dev=1.000)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 9.000 usec
sockperf: Total 30803 observations; each percentile contains 308.03 observations
sockperf: ---> <MAX> observation =   35.000
sockperf: ---> percentile 99.999 =   35.000
sockperf: ---> percentile 99.990 =   35.000
sockperf: ---> percentile 99.900 =   25.000
sockperf: ---> percentile 99.000 =   12.000
sockperf: ---> percentile 90.000 =   10.000
sockperf: ---> percentile 75.000 =    9.000
sockperf: ---> percentile 50.000 =    8.500
sockperf: ---> percentile 25.000 =    8.000
sockperf: ---> <MIN> observation =    7.500"""


def test_sockperf_tells_of_the_loop_in_the_middle() -> None:
    printed = text("sockperf", "pingpong", "tcp", [trip(m) for m in (30e-6, 18e-6, 10e-6)])
    assert printed == SOCKPERF
    assert parse.sockperf_average(printed) == 9e-6
    whole = printed.replace("Latency is", "Round trip is")  # its reader takes --full-rtt alone
    assert 2 * parse.sockperf_median(whole) == pytest.approx(17e-6)


def test_sockperf_does_not_claim_to_know_which_datagrams_came_twice() -> None:
    lossy = trip(18e-6, info={"late": 2})
    lossy["metrics"]["lost"]["value"] = 5
    printed = text("sockperf", "pingpong", "udp", [lossy])
    assert "dropped messages = 5; # duplicated messages = unknown; # out-of-order messages = 2" in printed
    assert "SentMessages=30808; ReceivedMessages=30803" in printed


def test_sockperf_drops_the_ends_of_its_time() -> None:
    assert sockperf._timing(1.0, 1.0).params == pytest.approx({"warmup_seconds": 0.4, "seconds": 0.55})
    assert sockperf._timing(1.0, 0.1).params == pytest.approx({"warmup_seconds": 0.04, "seconds": 0.055})
    with pytest.raises(UsageError, match="nothing is left"):
        sockperf._timing(0.45, 1.0)


def test_qperf() -> None:
    latency = text("qperf", "pingpong", "tcp", [trip(18.6e-6)])
    assert latency == "tcp_lat:\n    latency  =  9.3 us"
    assert parse.qperf_mean(latency) == pytest.approx(18.6e-6)
    band = text("qperf", "stream", "tcp", [flow(r) for r in (1e9, 1.96e9, 3e9)])
    assert band == "tcp_bw:\n    bw  =  1.96 GB/sec"
    assert parse.qperf_bandwidth(band) == 1.96e9
    both = text("qperf", "stream", "udp", [flow(487e6)])
    assert both == "udp_bw:\n    send_bw  =  492 MB/sec\n    recv_bw  =  487 MB/sec"
    assert parse.qperf_bandwidth(both) == 487e6


@pytest.mark.parametrize(
    ("figure", "shown"),
    [(8.88707, "8.89"), (9.30, "9.3"), (10.0, "10"), (99.96, "100"), (496.2, "496"), (1000, "1"), (5e15, "5000")],
)
def test_three_digits_as_qperf_writes_them(figure: float, shown: str) -> None:
    assert scaled(figure, ("a", "b", "c", "d", "e"))[0] == shown


IPERF3 = """\
Connecting to host n2
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.85 GBytes  15.9 Gbits/sec    3    727 KBytes       
[  5]   1.00-2.00   sec   942 MBytes  7.90 Gbits/sec    3    727 KBytes       
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  2.77 GBytes  11.9 Gbits/sec    6             sender
[  5]   0.00-2.00   sec  2.74 GBytes  11.8 Gbits/sec                  receiver

iperf Done."""  # noqa: W291 - iperf3's own blanks

IPERF3_TWO = """\
Connecting to host n2
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   286 MBytes  2.40 Gbits/sec    -           -       
[  7]   0.00-1.00   sec   572 MBytes  4.80 Gbits/sec    -           -       
[SUM]   0.00-1.00   sec   867 MBytes  7.27 Gbits/sec    3             
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec   286 MBytes  2.40 Gbits/sec                  receiver
[  7]   0.00-1.00   sec   572 MBytes  4.80 Gbits/sec                  receiver
[SUM]   0.00-1.00   sec   867 MBytes  7.27 Gbits/sec    3             sender
[SUM]   0.00-1.00   sec   858 MBytes  7.20 Gbits/sec                  receiver

iperf Done."""  # noqa: W291


def test_iperf3_has_a_line_an_interval_and_sums() -> None:
    assert text("iperf3", "stream", "tcp", [flow(1.967e9), flow(0.9775e9)]) == IPERF3
    assert text("iperf3", "stream", "tcp", [flow(0.9e9, 2)], streams=2) == IPERF3_TWO
    assert parse.iperf3_text_received(IPERF3) == pytest.approx(11.8e9 / 8)
    assert parse.iperf3_text_received(IPERF3_TWO) == pytest.approx(7.2e9 / 8)


def test_iperf3_over_udp_counts_datagrams() -> None:
    printed = text("iperf3", "stream", "udp", [flow(131072), flow(131072)])
    assert "[  5]   0.00-1.00   sec   129 KBytes  1.06 Mbits/sec  91  " in printed
    assert "[  5]   0.00-2.00   sec   256 KBytes  1.05 Mbits/sec      - ms  200/800 (25%)  receiver" in printed
    assert parse.iperf3_text_received(printed) == pytest.approx(1.05e6 / 8)


def test_iperf3_cuts_its_time_into_intervals_that_suffice_for_one_of_confidence() -> None:
    timing = tools.find("iperf3", "stream", None).timing
    assert (timing(10.0, 1.0).params["seconds"], timing(10.0, 1.0).replicates) == (1.0, 10)
    assert (timing(3.0, 1.0).params["seconds"], timing(3.0, 1.0).replicates) == (0.5, 6)
    assert (timing(10.0, 0.1).params["seconds"], timing(10.0, 0.1).replicates) == (0.1, 10)


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (9.994, "9.99 B"),
        (9.995, "10.0 B"),
        (99.95, " 100 B"),
        (1023, "1023 B"),
        (1024, "1.00 KB"),
        (3e18, "2728484 TB"),
    ],
)
def test_four_characters_as_iperf3_writes_them(figure: float, shown: str) -> None:
    assert adaptive(figure, 1024, "B") == shown


HPCBENCH = """\
 (1) : 800.000000 Mbps
 (2) : 1600.000000 Mbps
 (3) : 2400.000000 Mbps
 (4) : 8000.000000 Mbps
Test done!
# TCP communication test -- 2026-01-02T03:04:05.000Z
# Hosts: n1 (client) <----> n2 (server)
# TCP test mode: stream(unidirectional) throughput test
# Socket Recv-buffer (Bytes) -- client: 87380  server: 87381
# Socket Send-buffer (Bytes) -- client: 16384  server: 16385
# Socket blocking option -- client: ON  server: ON
# TCP_NODELAY option -- client: OFF  server: OFF
# TCP_CORK option -- client: OFF  server: OFF
# TCP Maximum-segment-size(MSS) (Bytes) -- client: 1448  server: 1448
# IP TOS type -- client: Default server: Default
# Data size of each read/write (Bytes): 8192
# Total data size sent of each test (Bytes): 1000000000
# Message size (Bytes): 65536
# Iteration: 15259
# Test Repetition: 4

#        Network      Client     C-process   C-process      Server     S-process   S-process
#      Throughput  Elapsed-time  User-mode  System-mode  Elapsed-time  User-mode  System-mode
#         (Mbps)    (Seconds)    (Seconds)   (Seconds)    (Seconds)    (Seconds)   (Seconds)
1        800.000        5.00         0.25        1.50         5.00         0.00        0.00
2       1600.000        5.00         0.25        1.50         5.00         0.00        0.00
3       2400.000        5.00         0.25        1.50         5.00         0.00        0.00
4       8000.000        5.00         0.25        1.50         5.00         0.00        0.00

# Throughput statistics : Average 2000.0000   Minimum 800.0000   Maximum 8000.0000"""


def test_hpcbench_leaves_the_least_and_the_greatest_out_of_its_average() -> None:
    printed = text("hpcbench", "stream", "tcp", [flow(rate) for rate in (1e8, 2e8, 3e8, 10e8)])
    assert printed == HPCBENCH
    assert parse.hpcbench_throughput(printed) == 1e8


def test_hpcbench_udp() -> None:
    printed = text("hpcbench", "stream", "udp", [flow(1e8)])
    assert " (1) Throughput: 800.000000  Loss-rate: 0.250000" in printed
    assert "1       800.0000    808.0000        400      584000        300      438000       100     0.250" in printed
    assert "# Network Average: 800.000000  Minimum: 800.000000  Maximum: 800.000000" in printed
    assert parse.hpcbench_throughput(printed) == 1e8


def test_hpcbench_round_trip() -> None:
    printed = text("hpcbench", "pingpong", "tcp", [trip(17e-6), trip(19e-6)])
    assert printed == (
        "TCP Round Trip Time (1) : 17.000 usec\nTCP Round Trip Time (2) : 19.000 usec\n"
        "2 trials with message size 64 Bytes.\nTCP RTT (64-byte) min/avg/max = 17.000/18.000/19.000 usec"
    )
    assert parse.hpcbench_round_trip(printed) == pytest.approx(17e-6)
    assert "TCP RTT (64-byte) min/avg/max =  2.000/ 2.000/ 2.000 msec" in text(
        "hpcbench", "pingpong", "tcp", [trip(2e-3)]
    )


NETPERF = """\
MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET
Recv   Send    Send                          
Socket Socket  Message  Elapsed              
Size   Size    Size     Time     Throughput  
bytes  bytes   bytes    secs.    10^6bits/sec  

 87381  16384  16384    5.00     1600.00   """  # noqa: W291 - netperf's own blanks

NETPERF_RR = """\
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate         
bytes  Bytes  bytes    bytes   secs.    per sec   

16384  87380  1        1       0.55     50000.00   
16385  87381 """  # noqa: W291


def test_netperf_streams() -> None:
    assert text("netperf", "stream", "tcp", [flow(rate) for rate in (1e8, 2e8, 3e8)]) == NETPERF
    assert parse.netperf_throughput(NETPERF) == 2e8
    assert parse.netperf_throughput(text("netperf", "stream", "udp", [flow(1e8)])) == 1e8
    *_, sent, received = text("netperf", "stream", "udp", [flow(1e8)]).splitlines()
    assert sent.split() == ["16384", "65507", "5.00", "400", "-", "808.00"]
    assert received.split() == ["87381", "5.00", "300", "800.00"]


def test_netperf_counts_transactions_a_second() -> None:
    sockets = flow(1.0)["info"]
    assert text("netperf", "pingpong", "tcp", [trip(20e-6, info=sockets)]) == NETPERF_RR
    assert parse.netperf_rate(NETPERF_RR) == 50_000
    unknown = text("netperf", "pingpong", "udp", [trip(20e-6)]).splitlines()[-1]
    assert unknown.split() == ["-", "-"], "what a probe does not tell is no figure"
    loop = tools.find("netperf", "connect", "tcp")
    cell = Cell(
        0, "n1", "n2", "tcp", "connect", {**loop.options, "seconds": 10.0}, (Metric("connect", "s"),), "netperf"
    )
    metrics = {"connect": {"value": 3e-5}, "connections": {"value": 12_345.6}}
    told = loop.text(Measurement.of([cell], [trip(1.0, metrics=metrics)]))
    assert told.splitlines()[-2].split() == ["-", "-", "16", "16", "0.55", "12345.60"]


def sizes(most: int) -> list[int]:
    return [step.bytes for step in netpipe.steps(most)]


def test_netpipe_goes_through_the_sizes_of_the_original() -> None:
    assert sizes(64) == [1, 2, 3, 4, 6, 8, 12, 13, 16, 19, 21, 24, 27, 29, 32, 35, 45, 48, 51, 61, 64, 67]
    assert sizes(netpipe.MOST)[-3:] == [8388605, 8388608, 8388611]


def record(one_way: float, **params: Any) -> Record:
    return Record(
        run="r", subject="n1>n2", probe="net", metric="rtt", unit="s", params=params, value=None, reason="few",
        verdict=Verdict.UNRESOLVED, samples=[2 * one_way, 3 * one_way], at=AT,
    )  # fmt: skip


def test_netpipe_repeats_a_size_as_often_as_the_time_of_the_one_before_suggests() -> None:
    """The counts that NPtcp printed, a tenth of a second a trial, after the times that it printed."""
    times = [9.066e-6, 8.86e-6, 8.87e-6, 8.86e-6, 8.88e-6, 8.91e-6, 8.92e-6, 8.87e-6, 8.91e-6, 8.90e-6]
    printed = [11030, 11285, 11274, 7524, 8449, 5613, 7009, 4697, 5181, 6321]
    seen = [record(time) for time in times]
    counts = [netpipe.follow(64, 0.1, seen[: i + 1]) for i in range(len(times))]
    assert [step["count"] for step in counts if step] == pytest.approx(printed, rel=1e-3)
    assert [step["bytes"] for step in counts if step] == sizes(64)[:10]


def test_netpipe_ends_at_the_largest_size_at_a_slow_one_and_at_a_failure() -> None:
    fast = record(1e-5)
    assert netpipe.follow(2, 0.25, [fast, fast]) is not None
    assert netpipe.follow(2, 0.25, [fast, fast, fast]) is None
    assert netpipe.follow(64, 0.25, [fast, record(1.1)]) is None
    failed = record(1e-5)
    failed.samples = []
    assert netpipe.follow(64, 0.25, [fast, failed]) is None
    assert netpipe.follow(0, 0.25, [record(1 / 8)]) == {"bytes": 1, "count": 7}, (
        "no largest size but its own; never below the number of trials"
    )


NETPIPE = """\
  0:       1 bytes  11030 times -->      0.86 Mbps in       8.86 usec
  1:       2 bytes  11285 times -->      1.72 Mbps in       8.87 usec"""


def test_netpipe_prints_the_least_of_the_trials_without_the_estimate() -> None:
    loop = tools.find("netpipe", "sweep", "tcp")
    wanted = [(1, 100), (1, 11030), (2, 11285)]
    cells = [cell_of(loop, i, bytes=size, count=count) for i, (size, count) in enumerate(wanted)]
    means = [(18e-6,), (19e-6, 17.72e-6), (17.74e-6, 30e-6)]
    measured = Measurement.of(cells, [trip(m, i) for i, trials in enumerate(means) for m in trials])
    assert loop.text(measured) == NETPIPE
    assert parse.netpipe_least_mean(NETPIPE) == pytest.approx(17.72e-6)
    assert loop.files is not None
    assert loop.files(measured)["np.out"] == "       1 0.861105   0.00000886\n       2 1.720269   0.00000887\n"


def test_what_failed_is_left_out() -> None:
    loop = tools.find("qperf", "pingpong", None)
    lost = trip(1e-5)
    lost["metrics"]["rtt"] = {"value": None, "reason": "all were lost"}
    failed = {"cell": 0, "ok": False, "error": {"code": "timeout", "message": "…"}}
    assert Measurement.of([cell_of(loop)], [failed, lost]).cells == []
    assert len(Measurement.of([cell_of(loop)], [failed, trip(1e-5)]).loops) == 1


def test_each_tool_has_its_own_transport_first() -> None:
    assert tools.find("sockperf", "pingpong", None).transport == "udp"
    assert tools.find("sockperf", "pingpong", "tcp").transport == "tcp"
    assert tools.find("iperf3", "stream", None).transport == "tcp"


@pytest.mark.parametrize("tool", tools.MPI)
def test_what_needs_mpi_says_so(tool: str) -> None:
    with pytest.raises(UsageError, match=f"`wulf mpi pingpong … --as {tool}`") as caught:
        tools.find(tool, "pingpong", None)
    assert "hpcbench, iperf3, netperf, netpipe, qperf, sockperf" in caught.value.next_step


def test_a_tool_is_found_where_it_belongs() -> None:
    with pytest.raises(UsageError) as caught:
        tools.find("netpipe", "pingpong", None)
    assert caught.value.next_step == "there is `wulf net sweep … --as netpipe`"
    with pytest.raises(UsageError, match="netpipe has no sweep over udp"):
        tools.find("netpipe", "sweep", "udp")
