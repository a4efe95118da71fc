"""wulf-mpi beside OSU's and Intel's programs: as many repetitions of a size, a launch a side; what runs is injected."""

import pytest
from bench.mpi import imb, osu
from bench.mpi.sized import SIZES


def test_a_launch_of_each_side_goes_through_all_sizes(monkeypatch):
    monkeypatch.setenv(osu.TOOL.folder, "/osu")
    launched, asked = [], []

    def run(words):
        launched.append(words)
        return "\n".join(f"{size} {size}.50" for size in SIZES)

    def session(work):
        return work(
            lambda probe, **params: asked.append((probe, params)) or {"rtt": 4e-6, "rate": 2.0, "latency": 1e-6}
        )

    contests = {contest.name: contest for contest in osu.TOOL.contests("TCP", run, session)}
    latency = contests["MPI half round trip, 4 B, TCP"]
    assert (latency.ours(), latency.peer()) == (2e-6, pytest.approx(4.5e-6))
    assert contests["MPI half round trip, 16 B, TCP"].peer() == pytest.approx(16.5e-6)
    assert launched == [["/osu/pt2pt/standard/osu_latency", "-m", "1:1048576"]]
    assert asked[1] == ("pingpong", {"bytes": 4, "seconds": 0.0, "iterations": 10_000, "warmup": 100})

    bandwidth = contests["MPI bandwidth, window 64, 1024 B, TCP"]
    assert (bandwidth.ours(), bandwidth.peer()) == (2048.0, pytest.approx(1024.5e6))
    both = contests["MPI bandwidth both ways, window 64, 1024 B, TCP"]
    assert both.ours() == 2048.0
    assert asked[-1][0] == "stream" and asked[-1][1]["both"] is True
    assert contests["MPI put, flush, 1 B, TCP"].ours() == 1e-6
    both = contests["MPI bandwidth both ways, window 64, 1024 B, TCP"]
    assert both.ours() == 2048.0
    assert asked[-1][0] == "stream" and asked[-1][1]["both"] is True
    assert contests["MPI put, flush, 1 B, TCP"].peer() == pytest.approx(1.5e-6)
    assert launched[-1][-2:] == ["-s", "flush"]


def test_imb_is_asked_for_the_same_sizes_and_its_third_column_is_read(monkeypatch):
    monkeypatch.setenv(imb.TOOL.folder, "/imb")
    asked = []

    def run(words):
        assert words == ["/imb/IMB-MPI1", "PingPing", "-msglog", "0:20"]
        return "# Benchmarking PingPing\n" + "\n".join(f"{size:12d}   1000   {size}.25    9.00" for size in SIZES)

    def session(work):
        return work(lambda probe, **params: asked.append((probe, params)) or {"rtt": 4e-6, "rate": 2.0, "time": 3e-6})

    contests = {contest.name: contest for contest in imb.TOOL.contests("TCP", run, session)}
    crossing = contests["MPI two messages that cross, 4 B, TCP"]
    assert (crossing.ours(), crossing.peer()) == (3e-6, pytest.approx(4.25e-6))
    assert asked[1] == ("pingping", {"bytes": 4, "seconds": 0.0, "iterations": 1000, "warmup": 100})
    assert contests["MPI bandwidth both ways, window 256, 1024 B, TCP"].ours() == 2048.0
    assert asked[-1][1]["both"] is True
