"""Runs of wulf-net over loopback: what is measured, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.running.tiers import first_of

from .session import KEY, OTHER_KEY, Pair, Session

ADDRESSES = ["127.0.0.1", "::1"]
LOCAL = ["unix", "unixgram", "pipe", "shm"]
WAYS = [(transport, address) for transport in ("tcp", "udp") for address in ADDRESSES] + [
    (transport, "127.0.0.1") for transport in LOCAL
]
DATAGRAMS = {"udp", "unixgram"}


@pytest.mark.parametrize(("transport", "address"), WAYS)
def test_pingpong(transport: str, address: str) -> None:
    with Pair(transport, address) as pair:
        answer = pair.run("pingpong", seconds=0.05)
        assert answer["ok"], answer
        rtt = answer["metrics"]["rtt"]
        assert rtt["unit"] == "s"
        assert rtt["n"] >= 1
        assert 0 < rtt["min"] <= rtt["value"] == rtt["quantiles"]["0.5"] <= rtt["quantiles"]["0.999"] <= rtt["max"]
        assert rtt["deviation"] >= 0
        far = {name for name in ("0.9999", "0.99999") if name in rtt["quantiles"]}
        assert far == {name for name in ("0.9999", "0.99999") if rtt["n"] * (1 - float(name)) >= 1}
        lost = answer["metrics"]["lost"]
        assert lost["unit"] == "1"
        assert lost["value"] == 0 or transport == "udp", "an answer that a busy machine gives too late counts as lost"
        assert answer["seconds"] >= 0.05
        assert answer["counters"]["client"]["ctxt"] > 0
        assert answer["counters"]["server"]["ctxt"] > 0
        assert answer["info"]["sndbuf"] > 0
        counts = pair.stop()  # a channel is no client
        assert (counts["accepted"], counts["wrong_key"], counts["malformed"]) == (1, 0, 0)


@pytest.mark.parametrize(("transport", "address"), WAYS)
def test_stream(transport: str, address: str) -> None:
    with Pair(transport, address) as pair:
        answer = pair.run("stream", seconds=0.5, streams=3)  # long enough that a busy machine runs the receiver
        assert answer["ok"], answer
        metrics = answer["metrics"]
        assert metrics["throughput"]["value"] > 0
        assert metrics["sent"]["value"] > 0
        assert len(answer["info"]["streams"]) == 3
        assert sum(answer["info"]["streams"]) == pytest.approx(metrics["throughput"]["value"])
        assert 0.5 <= answer["seconds"] < 5
        if transport in DATAGRAMS:
            loss = metrics["loss"]
            assert loss["value"] == pytest.approx(1 - loss["received"] / loss["sent"])
        elif transport == "tcp":
            assert metrics["retransmits"]["value"] >= 0
            assert answer["info"]["cwnd"] >= answer["info"]["mss"]


@pytest.mark.parametrize(
    ("transport", "size"),
    [("tcp", size) for size in (1, 2, 1447, 65536, 4 << 20, (4 << 20) + 1, 16 << 20)]
    + [(transport, size) for transport in ("unix", "pipe", "shm") for size in (1, 65537, 16 << 20)]
    + [("udp", size) for size in (1, 2, 7, 8, 9, 1472, 1473, 65507)]
    + [("unixgram", size) for size in (1, 7, 65536)],
)
def test_every_size_goes_round_whole(transport: str, size: int) -> None:
    with Pair(transport) as pair:
        answer = pair.run("pingpong", bytes=size, count=3, seconds=60, warmup_seconds=0)
        assert answer["ok"], answer
        rounds = answer["metrics"]["rtt"]["n"]
        assert rounds + answer["metrics"]["lost"]["value"] == 3
        assert rounds == 3 or transport == "udp"  # a busy machine may make an echo late
        if transport not in LOCAL:
            moved = answer["counters"]["client"]["nic"]["lo"]["rx_bytes"]
            assert moved >= 2 * rounds * size  # both ways, on the loopback interface


def test_count_and_time_end_a_run_whichever_comes_first() -> None:
    with Pair("tcp") as pair:
        assert pair.run("pingpong", seconds=60, count=100)["metrics"]["rtt"]["n"] == 100
        assert pair.run("pingpong", seconds=0.02, count=10**9)["seconds"] < 2
        assert pair.run("pingpong", seconds=0, warmup_seconds=0)["metrics"]["rtt"]["n"] == 1


@pytest.mark.parametrize("transport", ["tcp", "udp", "unix"])
@pytest.mark.parametrize("size", first_of([1400, 1, 60000]))
def test_a_receiver_that_does_not_gather_takes_whole_messages(transport: str, size: int) -> None:
    with Pair(transport) as pair:
        answer = pair.run("stream", seconds=0.5, bytes=size, gather=False)  # a busy machine may take .1 s away
        assert answer["ok"], answer
        assert answer["metrics"]["throughput"]["value"] > 0


def test_a_rate_is_never_exceeded() -> None:
    """That it is reached is up to the machine, and to the schedule, which has a native test of its own."""
    with Pair("udp") as pair:
        answer = pair.run("stream", rate=2e6, seconds=0.5, streams=2)
        for metric in ("sent", "throughput"):
            assert 0 < answer["metrics"][metric]["value"] < 2.1e6


def test_socket_options_reach_both_ends() -> None:
    with Pair("tcp") as pair:
        answer = pair.run("pingpong", seconds=0.01, sndbuf=40000, rcvbuf=50000, nodelay=False)
        for end in (answer["info"], answer["info"]["server"]):
            assert end["sndbuf"] == 80000  # the kernel doubles it for its own overhead, socket(7)
            assert end["rcvbuf"] == 100000
            assert end["nodelay"] is False
        assert pair.run("pingpong", seconds=0.01)["info"]["server"]["nodelay"] is True


def test_null_transport_measures_the_loop_alone() -> None:
    with Session() as session:
        served = session.ask("serve", transport="null", address="127.0.0.1", key=KEY)
        assert served["port"] == 0
        answer = session.ask("run", pattern="pingpong", transport="null", params={"seconds": 0.02})
        assert answer["ok"], answer
        assert answer["metrics"]["rtt"]["value"] < 1e-5
        assert set(answer["counters"]) == {"client"}
        assert session.ask("stop", server=served["server"])["ok"]


def test_runs_go_on_together() -> None:
    with Pair("tcp") as pair:
        numbers = [pair.start("pingpong", seconds=0.2) for _ in range(4)]
        assert pair.client.ask("ping")["ok"]  # overtakes them
        for number in numbers:
            assert pair.client.wait(number)["ok"]
        assert pair.stop()["accepted"] == 4


@pytest.mark.parametrize(
    ("transport", "params", "field", "words"),
    [
        ("tcp", {"bytes": 0}, "bytes", "at least 1"),
        ("udp", {"bytes": 0}, "bytes", "at least 1"),
        ("udp", {"bytes": 65508}, "bytes", "65507"),
        ("tcp", {"bytes": (16 << 20) + 1}, "bytes", "16777216"),
        ("tcp", {"bytes": 1.0}, "bytes", "int"),
        ("tcp", {"bytes": "1"}, "bytes", "int"),
        ("tcp", {"size": 1}, "size", "bytes"),
        ("tcp", {"nodelay": 1}, "nodelay", "bool"),
        ("tcp", {"seconds": -1}, "seconds", "at least 0"),
        ("tcp", {"cpu": 8000}, "cpu", "8000"),
        ("tcp", {"server_cpu": 8000}, "server_cpu", "8000"),
    ],
)
def test_bad_parameters_are_refused(transport: str, params: dict[str, Any], field: str, words: str) -> None:
    with Pair(transport) as pair:
        error = pair.run("pingpong", **params)["error"]
        assert (error["code"], error["field"]) == ("bad-parameter", field)
        assert words in error["message"]


@pytest.mark.parametrize("streams", [0, 129])
def test_number_of_streams_is_limited(streams: int) -> None:
    with Pair("tcp") as pair:
        assert pair.run("stream", streams=streams)["error"]["field"] == "streams"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"address": "n1"}, "address"),
        ({"port": 0}, "bad-parameter"),
        ({"port": 70000}, "bad-parameter"),
        ({"port": 1}, "connect"),
        ({"key": "short"}, "bad-parameter"),
        ({"key": OTHER_KEY}, "refused"),
        ({"pattern": "pong"}, "bad-parameter"),
        ({"transport": "null", "pattern": "stream"}, "bad-parameter"),
    ],
)
def test_bad_targets_are_refused(fields: dict[str, Any], code: str) -> None:
    with Pair("tcp") as pair:
        request = {"pattern": "pingpong", **pair.target} | fields
        assert pair.client.ask("run", **request)["error"]["code"] == code


def seen_twice(pair: Pair, pattern: str) -> dict[str, Any]:
    """What was seen during a run that both ends' watches, threads like others, had the time to look at twice."""
    for seconds in (0.12, 1, 4, 16):
        during: dict[str, Any] = pair.run(pattern, seconds=seconds)["during"]
        if min(during[end]["samples"] for end in ("client", "server")) >= 2:
            return during
    pytest.fail(f"looked at {during['client']['samples']} and {during['server']['samples']} times in 16 s")


@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_what_was_seen_during_the_run_at_both_ends(pattern: str) -> None:
    with Pair("tcp") as pair:
        during = seen_twice(pair, pattern)
        for end in ("client", "server"):
            counts, gauges = during[end]["tcp"]["counts"], during[end]["tcp"]["gauges"]
            assert counts["segs_out"] > 0
            assert counts["rwnd_limited"] <= counts["busy_time"] < 60
            assert 0 < gauges["min_rtt"]["min"] <= gauges["rtt"]["max"]
            assert gauges["cwnd"]["min"] <= gauges["cwnd"]["median"] <= gauges["cwnd"]["max"]
            frequency = during[end]["frequency"]
            assert frequency["value"] or frequency["reason"]


def test_during_has_no_tcp_over_udp_and_cpus_in_long_windows() -> None:
    with Pair("udp") as pair:
        during = pair.run("pingpong", seconds=2)["during"]["client"]
        assert "tcp" not in during
        assert 0 <= during["busy"]["all"] <= 1


def test_the_modes_of_the_round_trips() -> None:
    with Pair("tcp") as pair:
        peaks = pair.run("pingpong", seconds=0.1)["metrics"]["rtt"]["peaks"]
        assert peaks == sorted(peaks, key=lambda peak: peak["at"])
        assert 0 < sum(peak["share"] for peak in peaks) <= 1 + 1e-9


def test_a_snapshot_has_frequency_and_softirqs() -> None:
    with Pair("tcp") as pair:
        snapshot = pair.client.ask("counters")
        assert snapshot["frequency"]["unit"] == "Hz"
        assert "NET_RX" in snapshot["counters"]["softirqs"]
