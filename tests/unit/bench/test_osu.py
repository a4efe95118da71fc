"""wulf-mpi beside OSU's programs: as many repetitions of every size, one launch a side; what runs is injected."""

import pytest
from bench import osu


def test_a_launch_of_each_side_goes_through_all_sizes(monkeypatch):
    monkeypatch.setenv(osu.FOLDER, "/osu")
    launched, asked = [], []

    def run(words):
        launched.append(words)
        return "\n".join(f"{size} {size}.50" for size in osu.SIZES)

    def session(work):
        return work(
            lambda probe, **params: asked.append((probe, params)) or {"rtt": 4e-6, "rate": 2.0, "latency": 1e-6}
        )

    contests = {contest.name: contest for contest in osu.contests("TCP", run, session)}
    latency = contests["MPI half round trip, 4 B, TCP"]
    assert (latency.ours(), latency.peer()) == (2e-6, pytest.approx(4.5e-6))
    assert contests["MPI half round trip, 16 B, TCP"].peer() == pytest.approx(16.5e-6)
    assert launched == [["/osu/pt2pt/standard/osu_latency", "-m", "1:4194304"]]
    assert asked[1] == ("pingpong", {"bytes": 4, "seconds": 0.0, "iterations": 10_000, "warmup": 100})

    bandwidth = contests["MPI bandwidth, window 64, 1024 B, TCP"]
    assert (bandwidth.ours(), bandwidth.peer()) == (2048.0, pytest.approx(1024.5e6))
    assert contests["MPI put, flush, 1 B, TCP"].ours() == 1e-6
    assert contests["MPI put, flush, 1 B, TCP"].peer() == pytest.approx(1.5e-6)
    assert launched[-1][-2:] == ["-s", "flush"]
