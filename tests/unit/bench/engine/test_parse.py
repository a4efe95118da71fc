"""Peers' outputs, as recorded in a lab of two nodes."""

from pathlib import Path

import pytest
from bench.engine import parse
from bench.engine.errors import BenchError

RECORDED = Path(__file__).parent / "recorded"


def recorded(name):
    return (RECORDED / name).read_text()


def test_sockperf_median_is_the_full_round_trip():
    assert parse.sockperf_median(recorded("sockperf-tcp.txt")) == pytest.approx(56.465e-6)


def test_sockperf_without_full_rtt_is_refused_since_it_halves():
    with pytest.raises(BenchError, match="no round trip of sockperf"):
        parse.sockperf_median(recorded("sockperf-half.txt"))


def test_netpipe_prints_half_a_round_trip():
    assert parse.netpipe_least_mean(recorded("netpipe.txt")) == pytest.approx(2 * 87.29e-6)


def test_netpipes_line_may_have_another_ranks_words_in_its_middle():
    output = "  0:       8 bytes 965576 times --> Using no perturbations\n1: vm\n   417.59 Mbps in       0.15 usec\n"
    assert parse.netpipe_least_mean(output) == pytest.approx(2 * 0.15e-6)


def test_qperf_prints_half_a_round_trip():
    assert parse.qperf_mean(recorded("qperf-tcp.txt")) == pytest.approx(2 * 92.6441e-6)


@pytest.mark.parametrize(("unit", "factor"), [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("sec", 1.0)])
def test_qperf_chooses_its_unit(unit, factor):
    assert parse.qperf_mean(f"udp_lat:\n    latency  =  1.5 {unit}\n") == pytest.approx(3.0 * factor)


def test_iperf3_receivers_figure_over_all_streams():
    assert parse.iperf3_received(recorded("iperf3-2.json")) == pytest.approx(7575086357.781125 / 8)


def test_iperf3_says_why_it_failed_with_exit_status_0():
    with pytest.raises(BenchError, match="Connection refused"):
        parse.iperf3_received(recorded("iperf3-refused.json"))


@pytest.mark.parametrize(
    "function", [parse.sockperf_median, parse.netpipe_least_mean, parse.qperf_mean, parse.iperf3_received]
)
@pytest.mark.parametrize("output", ["", "unable to connect", "{}", "[]"])
def test_what_cannot_be_read_is_an_error_that_shows_it(function, output):
    with pytest.raises(BenchError, match="no "):
        function(output)


def test_pipes_of_perf() -> None:
    output = "# Executed 100000 pipe operations between two processes\n\n     Total time: 1.194 [sec]\n\n"
    output += "      11.944480 usecs/op\n"
    assert parse.perf_pipe(output) == pytest.approx(11.944480e-6)


def test_shared_memory_of_ucx_is_half_a_round_trip() -> None:
    output = (
        "Final:                100000      0.160     0.752     0.752       10.14      10.14     1329063     1329063\n"
    )
    assert parse.ucx_round_trip(output) == pytest.approx(2 * 0.752e-6)
    with pytest.raises(BenchError):
        parse.ucx_round_trip("UCX ERROR no such device")


def test_what_sockperf_delivers_under_load() -> None:
    output = "sockperf: [Valid Duration] RunTime=0.552 sec; SentMessages=27600; ReceivedMessages=27550\n"
    assert parse.sockperf_delivered(output) == pytest.approx(27550 / 0.552)


def test_likwid_counts_as_stream_does_in_millions():
    assert parse.likwid_rate(recorded("likwid-stream.txt")) == pytest.approx(1582.76e6)


def test_perf_gives_the_mean_of_a_call():
    assert parse.perf_syscall(recorded("perf-syscall.txt")) == pytest.approx(2.21546e-6)


def test_lmbench_prints_its_figure_last():
    assert parse.lmbench_last("Simple syscall: 0.0402 microseconds", 1e-6) == pytest.approx(0.0402e-6)
    assert parse.lmbench_last('"size=0k ovr=0.55\n2 1.23', 1e-6) == pytest.approx(1.23e-6)
    with pytest.raises(BenchError, match="no figure of lmbench"):
        parse.lmbench_last("", 1e-6)


@pytest.mark.parametrize(("way", "rate"), [("read", 3404.64), ("write", 2672.34)])
def test_memrates_figure_is_its_fastest_plain_width(way, rate):
    assert parse.stress_ng_memrate(recorded("stress-ng-memrate.txt"), way) == pytest.approx(rate * 2**20)
    with pytest.raises(BenchError, match=f"no rate of memrate's {way}"):
        parse.stress_ng_memrate("stress-ng: info: [1] skipped", way)


def test_osu_has_a_figure_a_size():
    text = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1  12.64\n4194304  9000.10\n"
    assert parse.osu_sizes(text) == {1: 12.64, 4194304: 9000.10}
    with pytest.raises(BenchError, match="no size of OSU"):
        parse.osu_sizes("mpirun was unable to launch")


def test_lat_ops_names_its_operations():
    text = "integer bit: 0.19 nanoseconds\nuint64 add: 0.27 nanoseconds\nint64 mul: 0.85 nanoseconds\n"
    assert parse.lmbench_operations(text) == pytest.approx(
        {"integer bit": 0.19e-9, "int64 add": 0.27e-9, "int64 mul": 0.85e-9}
    )
    with pytest.raises(BenchError, match="no operation of lat_ops"):
        parse.lmbench_operations("")
