"""`--as TOOL` between real nodes: every loop runs, its text is read by the parser of the tool's own, a run is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench.engine import parse

from tests.lab.commands import wulf
from wulf.lab import Lab
from wulf.store.run import read_run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("mark")]

LOOPS = [  # one tool; `make test-all` has them all
    ("sockperf", "pingpong", "udp", "latency", parse.sockperf_average),
    pytest.param(
        "qperf", "pingpong", "tcp", "latency", lambda text: parse.qperf_mean(text) / 2, marks=pytest.mark.full
    ),
    pytest.param("qperf", "stream", "tcp", "throughput", parse.qperf_bandwidth, marks=pytest.mark.full),
    pytest.param("iperf3", "stream", "tcp", "throughput", parse.iperf3_text_received, marks=pytest.mark.full),
    pytest.param("iperf3", "stream", "udp", "throughput", parse.iperf3_text_received, marks=pytest.mark.full),
    pytest.param("hpcbench", "pingpong", "tcp", "latency", parse.hpcbench_round_trip, marks=pytest.mark.full),
    pytest.param("hpcbench", "stream", "tcp", "throughput", parse.hpcbench_throughput, marks=pytest.mark.full),
    pytest.param("netperf", "stream", "udp", "throughput", parse.netperf_throughput, marks=pytest.mark.full),
    pytest.param(
        "netperf", "pingpong", "tcp", "latency", lambda text: 1 / parse.netperf_rate(text), marks=pytest.mark.full
    ),
    pytest.param("netperf", "connect", "tcp", "connections", parse.netperf_rate, marks=pytest.mark.full),
]


@pytest.mark.parametrize(("tool", "pattern", "transport", "metric", "read"), LOOPS)
def test_a_tools_summary_is_of_what_was_measured(
    tool: str, pattern: str, transport: str, metric: str, read: Callable[[str], float], tmp_path: Path, two_nodes: Lab
) -> None:
    how = ["--as", tool, "--transport", transport, "--quick", "--lab", "--out", str(tmp_path / "run")]
    done = wulf("net", pattern, "n1", "n2", *how)
    assert done.returncode in (0, 1), done.stderr
    assert "--quick: a tenth of its time" in done.stderr
    run = read_run(tmp_path / "run")
    (record,) = (r for r in run.records if r.metric == metric)
    assert min(record.samples) * 0.99 <= read(done.stdout) <= max(record.samples) * 1.01
    assert record.value is not None
    assert len(record.samples) == record.replicates >= 6


@pytest.mark.full
def test_netpipe_measures_size_after_size(tmp_path: Path, two_nodes: Lab) -> None:
    how = ["--as", "netpipe", "--most", "8", "--seconds", "0.02", "--lab", "--out", str(tmp_path / "run")]
    done = wulf("net", "sweep", "n1", "n2", *how)
    assert done.returncode in (0, 1), done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["1", "2", "3", "4", "6", "8"]
    assert parse.netpipe_least_mean(done.stdout) > 0
    figures = (tmp_path / "run" / "np.out").read_text().split()
    assert float(figures[2]) == pytest.approx(parse.netpipe_least_mean(done.stdout) / 2, abs=1e-8)
    counts = [cell["params"]["count"] for cell in read_run(tmp_path / "run").plan["cells"]]
    assert counts[0] == 100
    assert all(count >= 7 for count in counts)
