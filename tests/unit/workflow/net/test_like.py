"""`--as TOOL` over a simulated pair: the tool's loop as a run with records, and its text on stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.unit.workflow.simulating import reach
from tests.wording import lacking
from wulf.cli.net import command as cli
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.simulated.cluster import WULF_NET, SimulatedCluster
from wulf.core.errors import UsageError
from wulf.core.records import Record
from wulf.measure.engine.probes import Probe
from wulf.store.run import Run, read_run


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> SimulatedCluster:
    """Two nodes in memory, whatever the command line says of where they are; round trips of 24 µs, 100 MB/s."""
    cluster = SimulatedCluster(
        ["n1", "n2"], value=lambda _, __, params: 24e-6 if params["pattern"] == "pingpong" else 1e8
    )
    reach(monkeypatch, lambda inventory: NullLauncher(inventory, cluster))
    monkeypatch.setattr(cli, "net_probe", lambda: Probe.from_describe(WULF_NET))
    monkeypatch.setattr(sys, "argv", ["wulf"])
    return cluster


@pytest.fixture
def wulf(simulated: SimulatedCluster, tmp_path: Path) -> Any:
    def run(*words: str) -> tuple[click.testing.Result, Run]:
        done = CliRunner().invoke(cli.command, [*words, "--out", str(tmp_path / "run")], standalone_mode=False)
        if done.exception:
            raise done.exception
        return done, read_run(tmp_path / "run")

    return run


def of(run: Run, metric: str) -> list[Record]:
    return [record for record in run.records if record.metric == metric]


def test_sockperf_is_a_run_with_the_tools_figure_and_an_interval(wulf: Any) -> None:
    done, run = wulf("pingpong", "n1", "n2", "--as", "sockperf")
    assert done.return_value == 0
    assert "sockperf: Summary: Latency is 12.240 usec" in done.stdout
    assert lacking(done.stderr, "`sockperf ping-pong -i n2 -m 14 -t 1`", "except: ") == []
    assert lacking(done.stderr, "median of 7", ": 12.2 µs (12.2–12.2 µs, 98.4 %), ok") == []
    (latency,) = of(run, "latency")
    assert (latency.value, latency.params["as"], latency.replicates) == (pytest.approx(12.24e-6), "sockperf", 7)
    assert latency.low == latency.high == latency.value
    (rtt,) = of(run, "rtt")
    assert (rtt.value, rtt.params["bytes"], rtt.params["transport"]) == (24e-6, 14, "udp")
    assert run.meta["like"] == "sockperf"
    assert len(run.replicates) == 7


def test_the_users_parameters_replace_the_tools(wulf: Any) -> None:
    _, run = wulf("pingpong", "n1", "n2", "--as", "sockperf", "--transport", "tcp", "--bytes", "64", "--seconds", "2")
    params = of(run, "rtt")[0].params
    assert (params["bytes"], params["seconds"], params["transport"]) == (64, pytest.approx(1.55), "tcp")


def test_quick_is_a_tenth_of_the_time_and_says_so(wulf: Any) -> None:
    done, run = wulf("stream", "n1", "n2", "--as", "hpcbench", "--quick")
    assert "--quick: a tenth of its time" in done.stderr
    assert of(run, "throughput")[0].params["seconds"] == 0.5
    assert of(run, "throughput")[0].replicates == 10
    assert " (10) : 800.000000 Mbps" in done.stdout
    assert of(run, "latency") == []


def test_json_gives_records_instead_of_the_text(wulf: Any) -> None:
    done, _ = wulf("pingpong", "n1", "n2", "--as", "qperf", "--json")
    metrics = [json.loads(line)["metric"] for line in done.stdout.splitlines()]
    assert metrics == ["rtt", "lost", "latency"]
    assert "as `qperf n2 -t 2 -m 1 tcp_lat`" in done.stderr


def test_netpipe_goes_from_size_to_size_over_one_server(wulf: Any, simulated: SimulatedCluster) -> None:
    done, run = wulf("sweep", "n1", "n2", "--as", "netpipe", "--most", "8")
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines] == ["1", "2", "3", "4", "6", "8"]
    first, fourth = lines[0].split(), lines[3].split()
    assert first == ["0:", "1", "bytes", "20833", "times", "-->", "0.62", "Mbps", "in", "12.24", "usec"]
    assert fourth == ["3:", "4", "bytes", "13888", "times", "-->", "2.49", "Mbps", "in", "12.24", "usec"]
    assert (run.path / "np.out").read_text().splitlines()[0] == "       1 0.623317   0.00001224"
    assert len(of(run, "latency")) == 7, "the estimate and six sizes"
    assert [cell["params"]["bytes"] for cell in run.plan["cells"]] == [1, 1, 2, 3, 4, 6, 8]
    assert simulated.fault("n2", "serve") is None
    assert simulated._calls["n2", "serve", None] == 2, "one served the run, one was the line above"


def test_a_lost_node_leaves_no_text_and_exit_code_3(wulf: Any, simulated: SimulatedCluster) -> None:
    object.__setattr__(simulated, "unreachable", {"n2": "no route to host"})
    done, run = wulf("pingpong", "n1", "n2", "--as", "sockperf")
    assert done.return_value == 3
    assert done.stdout == ""
    assert "no route to host" in done.stderr
    assert run.records == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["stream", "--as", "osu7"], "measures MPI"),
        (["stream", "--as", "sockperf"], "sockperf has no stream"),
        (["pingpong", "--as", "sockperf", "--seconds", "0.2"], "nothing is left"),
        (["pingpong", "--as", "sockperf", "--versus", ""], "--versus"),
        (["pingpong", "--as", "sockperf", "--watch"], "--watch"),
        (["pingpong", "--as", "qperf", "--transport", "udp", "--bytes", "70000"], "more than udp carries"),
    ],
)
def test_what_can_not_be_repeated_is_refused_before_a_run_begins(
    wulf: Any, tmp_path: Path, words: list[str], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        wulf(words[0], "n1", "n2", *words[1:])
    assert not (tmp_path / "run").exists()
