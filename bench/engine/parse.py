"""Figures from what the peers print. Each function takes the whole output, and gives SI units; BenchError says what is
missing from it."""

from __future__ import annotations

import json
import re

from bench.engine.errors import BenchError

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"


def _find(pattern: str, output: str, what: str) -> re.Match[str]:
    found = re.search(pattern, output, re.MULTILINE)
    if not found:
        raise BenchError(f"no {what} in: …{output.strip()[-300:]}")
    return found


def sockperf_median(output: str) -> float:
    """Median round trip in seconds, from `sockperf ping-pong --full-rtt`, which says so (else it halves it)."""
    _find(r"Summary: Round trip is", output, "round trip of sockperf")
    return float(_find(rf"percentile 50\.000 =\s*{_NUMBER}", output, "median of sockperf")[1]) * 1e-6


def netpipe_least_mean(output: str) -> float:
    """Round trip in seconds, from NetPIPE's line of a size, of which another rank's words may stand in the middle.

    NetPIPE prints half of it: the lowest of the means of its trials (netpipe.c, "reports the lowest of the TRIALS").
    """
    return 2e-6 * float(_find(rf"-->(?s:.*?)\s[0-9.]+ Mbps in\s+{_NUMBER} usec", output, "line of NetPIPE")[1])


_QPERF_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1.0}


def qperf_mean(output: str) -> float:
    """Mean round trip in seconds, from qperf's latency: the time over the number of messages of both directions."""
    found = _find(rf"latency\s*=\s*{_NUMBER} (ns|us|ms|sec)", output, "latency of qperf")
    return 2 * float(found[1]) * _QPERF_UNITS[found[2]]


def perf_pipe(output: str) -> float:
    """Mean round trip in seconds, from `perf bench sched pipe`: one operation is a byte there and one back."""
    return float(_find(rf"{_NUMBER} usecs/op", output, "time an operation of perf")[1]) * 1e-6


def perf_syscall(output: str) -> float:
    """Mean time of a getppid(2) in seconds, from `perf bench syscall basic`."""
    return float(_find(rf"{_NUMBER} usecs/op", output, "time an operation of perf")[1]) * 1e-6


def likwid_rate(output: str) -> float:
    """Bytes a second, as STREAM counts them, from likwid-bench."""
    return float(_find(rf"^MByte/s:\s+{_NUMBER}", output, "rate of likwid-bench")[1]) * 1e6


def stress_ng_memrate(output: str, way: str) -> float:
    """Bytes a second of stress-ng's memrate, by that width of its loads ("read") or stores ("write") that is fastest.

    Its MB are 2^20 bytes (stress-memrate.c).
    """
    what = rf"{_NUMBER} {way}\d+ MB per sec"
    _find(what, output, f"rate of memrate's {way}")
    return max(float(each) for each in re.findall(what, output)) * (1 << 20)


def lmbench_last(output: str, unit: float) -> float:
    """The last number that a program of lmbench prints, on standard error or output; in units of `unit` seconds."""
    found = re.findall(_NUMBER, output)
    if not found:
        raise BenchError(f"no figure of lmbench in: …{output.strip()[-300:]}")
    return float(found[-1]) * unit


def ucx_round_trip(output: str) -> float:
    """Mean round trip in seconds, from ucx_perftest's tag_lat, whose last line gives half of it: overall average."""
    return 2e-6 * float(_find(rf"^Final:\s+\d+\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}", output, "last line of UCX")[3])


def osu_sizes(output: str) -> dict[int, float]:
    """The first figure of each size [B], in the unit of its column, of an OSU micro-benchmark."""
    sizes = {int(found[1]): float(found[2]) for found in re.finditer(rf"(?m)^(\d+)\s+{_NUMBER}", output)}
    if not sizes:
        raise BenchError(f"no size of OSU in: …{output.strip()[-300:]}")
    return sizes


def imb_sizes(output: str) -> dict[int, float]:
    """The figure after size [B] and repetitions of each line of IMB-MPI1, in the unit of its column."""
    sizes = {int(found[1]): float(found[2]) for found in re.finditer(rf"(?m)^\s+(\d+)\s+\d+\s+{_NUMBER}", output)}
    if not sizes:
        raise BenchError(f"no size of IMB in: …{output.strip()[-300:]}")
    return sizes


def lmbench_operations(output: str) -> dict[str, float]:
    """Seconds of every operation that lat_ops prints, by its name there: "integer bit", "double bogomflops" …

    Some of lmbench's versions have "uint64 add" beside "int64 mul": both are int64 here.
    """
    found = re.findall(rf"(?m)^([a-z0-9]+ [a-z]+): {_NUMBER} nanoseconds", output)
    if not found:
        raise BenchError(f"no operation of lat_ops in: …{output.strip()[-300:]}")
    return {name.removeprefix("u"): float(figure) * 1e-9 for name, figure in found}


def sockperf_delivered(output: str) -> float:
    """Echoes a second in the valid time of `sockperf under-load`."""
    found = _find(
        rf"\[Valid Duration\] RunTime={_NUMBER} sec; SentMessages=\d+; ReceivedMessages=(\d+)", output,
        "valid duration of sockperf",
    )  # fmt: skip
    return float(found[2]) / float(found[1])


def iperf3_received(output: str) -> float:
    """The receiver's throughput over all streams in B/s, from `iperf3 --json`."""
    try:
        answer = json.loads(output)
        if "error" in answer:
            raise BenchError(f"iperf3: {answer['error']}")
        return float(answer["end"]["sum_received"]["bits_per_second"]) / 8
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"no receiver's figure of iperf3 in: …{output.strip()[-300:]}") from error


def iperf3_text_received(output: str) -> float:
    """The receiver's throughput in B/s, from what `iperf3` prints for people; over all streams where there are more."""
    row = r"sec\s+[0-9.]+ \w+\s+" + _NUMBER + r" ([KMGT]?)bits/sec\s.*receiver"
    sums = re.search(rf"\[SUM\].*{row}", output)
    found = sums or _find(row, output, "receiver's line of iperf3")
    return float(found[1]) * 1000.0 ** " KMGT".index(found[2] or " ") / 8


def sockperf_average(output: str) -> float:
    """Half of the mean round trip in seconds, from `sockperf ping-pong`."""
    return float(_find(rf"Summary: Latency is {_NUMBER} usec", output, "latency of sockperf")[1]) * 1e-6


def qperf_bandwidth(output: str) -> float:
    """B/s at the receiver, from qperf's tcp_bw or udp_bw."""
    found = _find(rf"^\s+(?:recv_)?bw\s*=\s*{_NUMBER} ([KMGT]?)(?:B|bytes)/sec", output, "bandwidth of qperf")
    return float(found[1]) * 1000.0 ** " KMGT".index(found[2] or " ")


def hpcbench_throughput(output: str) -> float:
    """B/s, from the first repetition of tcptest or udptest."""
    return float(_find(rf"^ \(1\) (?:: |Throughput: ){_NUMBER}", output, "throughput of Hpcbench")[1]) * 1e6 / 8


def hpcbench_round_trip(output: str) -> float:
    """Seconds, from the first repetition of `tcptest -a`."""
    found = _find(rf"Round Trip Time \(1\) :\s+{_NUMBER} ([mu])sec", output, "round trip of Hpcbench")
    return float(found[1]) * {"m": 1e-3, "u": 1e-6}[found[2]]


def netperf_throughput(output: str) -> float:
    """B/s, from the last line of a stream test: of the receiver, where both ends have one."""
    return float(_netperf_row(output, 4)[-1]) * 1e6 / 8


def netperf_rate(output: str) -> float:
    """Transactions a second, from a request/response test: its first line has six figures, the second the server's."""
    return float(_netperf_row(output, 6)[-1])


def _netperf_row(output: str, least: int) -> list[str]:
    """The last line of so many figures at least, and of nothing else."""
    rows = [line.split() for line in output.splitlines()]
    found = [row for row in rows if len(row) >= least and all(re.fullmatch(_NUMBER, word) for word in row)]
    if not found:
        raise BenchError(f"no figures of netperf in: …{output.strip()[-300:]}")
    return found[-1]
