"""The patterns of wulf-net and the options of its channels, over loopback: what each answers with."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from tests.running.tiers import first_of

from .session import Pair

STREAMS = ["tcp", "unix", "pipe", "shm"]
TRANSPORTS = [*STREAMS, "udp", "unixgram"]


def answer_of(transport: str, pattern: str, **params: Any) -> dict[str, Any]:
    with Pair(transport) as pair:
        answer = pair.run(pattern, **params)
        assert answer["ok"], answer
        return answer


def values_of(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: metric["value"] for name, metric in answer["metrics"].items()}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("direction", first_of(["both", "back"]))
def test_streams_go_either_way(transport: str, direction: str) -> None:
    answer = answer_of(transport, "stream", seconds=0.3, streams=2, direction=direction)
    values = values_of(answer)
    assert values["throughput"] > 0
    assert len(answer["info"]["streams"]) == (4 if direction == "both" else 2)
    assert sum(answer["info"]["streams"]) == pytest.approx(values["throughput"])
    if direction == "both":
        assert values["out"] + values["back"] == pytest.approx(values["throughput"])
    else:
        assert "sent" not in values
    if transport in ("udp", "unixgram"):
        assert 0 <= values["loss"] < 1
        assert values["duplicates"] == 0


def test_a_local_datagram_is_never_lost_however_fast_they_come() -> None:
    values = values_of(answer_of("unixgram", "stream", seconds=0.2, direction="both"))
    assert values["loss"] == 0
    assert values["reordered"] == 0


@pytest.mark.parametrize("params", [{"batch": 8}, {"batch": 8, "sending": "gso"}, {"rate": 1e6}])
def test_datagrams_in_batches_cut_by_the_kernel_or_paced(params: dict[str, Any]) -> None:
    answer = answer_of("udp", "stream", seconds=0.3, bytes=1000, **params)
    metrics = answer["metrics"]
    assert metrics["throughput"]["value"] > 0
    assert metrics["loss"]["sent"] % params.get("batch", 1) == 0
    assert ("gap" in metrics) == ("rate" in params)
    if "gap" in metrics:
        assert metrics["gap"]["n"] > 10
        assert metrics["gap"]["value"] > 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_open_loop_charges_the_delay_from_when_a_message_was_due(transport: str) -> None:
    answer = answer_of(transport, "openloop", seconds=0.3, rate=1000)
    metrics = answer["metrics"]
    assert answer["info"]["due"] == 300
    assert answer["seconds"] == pytest.approx(0.3)
    assert metrics["delay"]["n"] + metrics["lost"]["value"] == 300
    # Each delay is its lag and its way; so are their means.
    assert metrics["delay"]["mean"] == pytest.approx(
        metrics["lag"]["mean"] + metrics["delay_uncorrected"]["mean"], rel=0.02
    )


def open_loop_held_up(end: str, after: float, seconds: float) -> dict[str, Any]:
    """An open loop of a second, a thousand messages, one of whose ends stands still for a while."""
    with Pair("tcp") as pair:
        number = pair.start("openloop", seconds=1.0, rate=1000, warmup_seconds=0, timeout=10)
        process = getattr(pair, end).process
        time.sleep(after)
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)
        answer = pair.client.wait(number)
    assert answer["ok"], answer
    return answer


def test_a_server_that_pauses_is_charged_with_all_that_it_held_up() -> None:
    answer = open_loop_held_up("server", 0.3, 0.4)
    # Of a thousand messages four hundred were due while it stood still: a closed loop would show one slow one.
    assert answer["metrics"]["delay"]["quantiles"]["0.9"] > 0.1


def test_a_sender_that_is_held_up_beyond_the_end_gives_up_and_the_rest_is_lost() -> None:
    answer = open_loop_held_up("client", 0.2, 1.2)
    metrics = answer["metrics"]
    assert metrics["lost"]["value"] > 0
    assert metrics["delay"]["n"] == metrics["delay_uncorrected"]["n"] == answer["info"]["sent"], "no echo of none"
    assert metrics["delay_uncorrected"]["mean"] < 10, "since each was sent, not since the machine was switched on"


def test_an_open_loop_faster_than_the_path_says_what_was_not_delivered() -> None:
    answer = answer_of("tcp", "openloop", seconds=0.2, rate=1e7, bytes=8, warmup_seconds=0)
    values = values_of(answer)
    assert values["delivered"] < 0.9e7
    assert values["lost"] > 0
    assert values["lag"] > 0


def on_the_way(transport: str) -> float:
    """Requests with a window of eight: how many were on the way at a time, by Little's law."""
    answer = answer_of(transport, "request", seconds=0.2, window=8, bytes=100, reply_bytes=1000)
    rtt = answer["metrics"]["rtt"]
    assert answer["metrics"]["transactions"]["value"] == pytest.approx(rtt["n"] / answer["seconds"])
    return float(rtt["mean"] * answer["metrics"]["transactions"]["value"])


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_requests_with_a_window(transport: str) -> None:
    """Those that a stall of the machine holds up until the end of the run are not counted: it may be few."""
    assert 0 < on_the_way(transport) < 9


@pytest.mark.alone
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_window_is_used_to_the_full(transport: str) -> None:
    assert on_the_way(transport) > 4


def test_a_window_that_could_block_both_ends_is_refused() -> None:
    with Pair("tcp") as pair:
        error = pair.run("request", window=100, bytes=1000)["error"]
        assert (error["code"], error["field"]) == ("bad-parameter", "window")
        assert "65536" in error["message"]


@pytest.mark.parametrize("transport", ["udp", "unixgram"])
@pytest.mark.parametrize(("bytes_", "window"), [(1, 16), (2, 20), (3000, 1)])
def test_requests_over_datagrams_of_any_length(transport: str, bytes_: int, window: int) -> None:
    answer = answer_of(transport, "request", seconds=0.2, bytes=bytes_, reply_bytes=8, window=window)
    assert answer["metrics"]["transactions"]["value"] > 0
    assert answer["metrics"]["rtt"]["n"] > answer["metrics"]["lost"]["value"]


def test_a_local_datagram_answers_every_request() -> None:
    answer = answer_of("unixgram", "request", seconds=0.2, bytes=100, reply_bytes=200, timeout=20)
    assert (answer["metrics"]["lost"]["value"], answer["info"].get("late", 0)) == (0, 0)


@pytest.mark.parametrize("pattern", ["request", "pingpong"])
def test_a_server_that_stood_still_for_a_while_has_lost_no_local_datagram(pattern: str) -> None:
    """Nothing is lost within a node: what the machine holds up comes late, and is waited for."""
    with Pair("unixgram") as pair:
        number = pair.start(pattern, seconds=0.6, timeout=20)
        time.sleep(0.3)
        pair.server.process.send_signal(signal.SIGSTOP)
        time.sleep(0.4)  # many times what the slowest took, and beyond the end of the run
        pair.server.process.send_signal(signal.SIGCONT)
        answer = pair.client.wait(number, timeout=60)
        assert answer["ok"], answer
        assert (answer["metrics"]["lost"]["value"], answer["info"].get("late", 0)) == (0, 0)


def test_more_requests_than_a_receiver_has_room_for_are_lost_and_counted() -> None:
    # Answers of 1 kB into a buffer of a few: most of a window of 4,096 can't lie in it.
    answer = answer_of("udp", "request", seconds=0.3, bytes=8, reply_bytes=1000, window=4096, rcvbuf=4096)
    assert answer["metrics"]["lost"]["value"] > 0
    assert answer["metrics"]["rtt"]["n"] > 0


@pytest.mark.parametrize("transport", ["udp", "unixgram"])
def test_a_server_that_no_longer_answers_leaves_lost_requests_not_a_client_that_waits(transport: str) -> None:
    with Pair(transport) as pair:
        number = pair.start_and_see_running("request", seconds=30, timeout=0.5)
        pair.server.process.send_signal(signal.SIGSTOP)
        try:
            # The end of the run takes the server's word; without it, it is an error within the timeout.
            answer = pair.client.wait(number, timeout=20)
        finally:
            pair.server.process.send_signal(signal.SIGCONT)
        assert not answer["ok"] or answer["metrics"]["lost"]["value"] > 0, answer
        assert pair.client.ask("ping")["ok"]


@pytest.mark.parametrize(
    ("transport", "params", "field", "words"),
    [
        ("udp", {"window": 129}, "window", "told apart"),
        ("udp", {"bytes": 65508}, "bytes", "65507"),
        ("udp", {"reply_bytes": 65508}, "reply_bytes", "65507"),
        ("unixgram", {"window": 4096, "bytes": 8, "reply_bytes": 8}, "window", "max_dgram_qlen"),
        ("unixgram", {"window": 16, "bytes": 8000}, "window", "65536"),
    ],
)
def test_requests_that_could_not_be_matched_or_would_wait_for_each_other_are_refused(
    transport: str, params: dict[str, Any], field: str, words: str
) -> None:
    with Pair(transport) as pair:
        error = pair.run("request", **params)["error"]
        assert (error["code"], error["field"]) == ("bad-parameter", field), error
        assert words in error["message"]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("direction", first_of(["both", "out", "back"]))
def test_latency_under_load(transport: str, direction: str) -> None:
    answer = answer_of(transport, "loaded", seconds=0.2, direction=direction, streams=2, timeout=5)
    metrics = answer["metrics"]
    assert metrics["load"]["value"] > 0
    assert metrics["rtt"]["value"] is None or metrics["added"]["value"] == pytest.approx(
        metrics["rtt"]["value"] - metrics["rtt_idle"]["value"]
    )
    assert metrics["rtt_idle"]["n"] > 0


@pytest.mark.parametrize("transport", STREAMS)
def test_bursts_of_answers(transport: str) -> None:
    answer = answer_of(transport, "burst", seconds=0.2, senders=5, bytes=10000)
    burst = answer["metrics"]["burst"]
    assert answer["metrics"]["throughput"]["value"] == pytest.approx(burst["n"] * 50000 / answer["seconds"])


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_connections(address: str) -> None:
    with Pair("tcp", address) as pair:
        answer = pair.run("connect", seconds=0.2)
        assert answer["ok"], answer
        metrics = answer["metrics"]
        assert 0 < metrics["connect"]["value"] < metrics["transaction"]["value"]
        assert metrics["connections"]["value"] == pytest.approx(metrics["transaction"]["n"] / answer["seconds"])
        assert pair.stop()["malformed"] == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_each_way_by_itself_where_one_clock_times_both(transport: str) -> None:
    answer = answer_of(transport, "oneway", seconds=0.1)
    values = values_of(answer)
    assert answer["info"]["clock_bound"] == "one clock"
    assert values["clock_error"] == 0
    assert values["there"] > 0
    assert values["home"] > 0
    assert values["there_varies"] >= 0


@pytest.mark.parametrize(
    ("transport", "waiting"),
    [(t, w) for t in ("tcp", "unix", "udp", "unixgram") for w in ("epoll", "busy")] + [("shm", "busy")],
)
@pytest.mark.parametrize("pattern", first_of(["pingpong", "stream"]))
def test_ways_to_wait(transport: str, waiting: str, pattern: str) -> None:
    answer = answer_of(transport, pattern, seconds=0.3, waiting=waiting, timeout=5)
    assert set(answer["metrics"]) >= {"rtt"} if pattern == "pingpong" else {"throughput"}


@pytest.mark.parametrize(
    ("transport", "params", "field", "words"),
    [
        ("tcp", {"congestion": "nope"}, "congestion", "nope"),
        ("tcp", {"waiting": "hope"}, "waiting", "epoll"),
        ("tcp", {"sending": "gso"}, "sending", "udp"),
        ("udp", {"sending": "sendfile"}, "sending", "gso"),
        ("udp", {"mss": 1000}, "mss", "udp has no mss"),
        ("udp", {"call_bytes": 10}, "call_bytes", "datagrams"),
        ("shm", {"waiting": "epoll"}, "waiting", "busy"),
        ("pipe", {"tos": 1}, "tos", "pipe has no tos"),
        ("pipe", {"sndbuf": 1 << 30}, "sndbuf", "pipe-max-size"),
    ],
)
def test_what_a_transport_cannot_do_is_refused(transport: str, params: dict[str, Any], field: str, words: str) -> None:
    with Pair(transport) as pair:
        error = pair.run("pingpong", **params)["error"]
        assert (error["code"], error["field"]) == ("bad-parameter", field), error
        assert words in error["message"]


def test_options_of_tcp_reach_both_ends() -> None:
    answer = answer_of("tcp", "pingpong", mss=536, congestion="reno", tos=16, sndbuf=20000, seconds=0.05)
    for info in (answer["info"], answer["info"]["server"]):
        assert info["congestion"] == "reno"
        assert info["mss"] <= 536
        assert info["sndbuf"] == 40000  # as Linux doubles it


@pytest.mark.parametrize("sending", ["sendfile", "zerocopy"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_ways_to_send(sending: str, pattern: str) -> None:
    answer = answer_of("tcp", pattern, seconds=0.1, bytes=20000, sending=sending)
    if sending == "zerocopy":
        zerocopy = answer["info"]["zerocopy"]
        assert 0 < zerocopy["completed"] <= zerocopy["calls"]
        assert zerocopy["copied"] <= zerocopy["completed"]


@pytest.mark.alone
def test_small_calls_cost_time_and_cork_gives_some_of_it_back() -> None:
    with Pair("tcp") as pair:
        times = {}
        for name, params in {
            "whole": {},
            "calls": {"call_bytes": 100},
            "cork": {"call_bytes": 100, "cork": True},
        }.items():
            answer = pair.run("pingpong", bytes=20000, count=20, seconds=30, **params)
            assert answer["ok"], answer
            times[name] = answer["metrics"]["rtt"]["min"]
    assert times["whole"] < times["cork"] < times["calls"]


def test_cold_buffers_are_walked_through() -> None:
    with Pair("shm") as pair:
        warm, cold = (
            pair.run("pingpong", bytes=1 << 20, count=60, seconds=30, cold=cold)["metrics"]["rtt"]["min"]
            for cold in (False, True)
        )
    assert warm > 0
    assert cold > 0


@pytest.mark.parametrize("transport", ["unix", "pipe", "shm", "unixgram"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream"])
def test_a_frozen_local_server_ends_the_run_within_the_timeout(transport: str, pattern: str) -> None:
    with Pair(transport) as pair:
        number = pair.start_and_see_running(pattern, seconds=30, timeout=0.5)
        pair.server.process.send_signal(signal.SIGSTOP)
        try:
            answer = pair.client.wait(number, timeout=20)
        finally:
            pair.server.process.send_signal(signal.SIGCONT)
        # Datagrams that do not come back are lost ones; everything else is given up.
        assert not answer["ok"] or transport == "unixgram", answer
        assert pair.client.ask("ping")["ok"]


@pytest.mark.parametrize("transport", ["unix", "pipe", "shm", "unixgram"])
@pytest.mark.parametrize("pattern", ["pingpong", "stream", "loaded", "request"])
def test_a_killed_local_server_is_noticed(transport: str, pattern: str) -> None:
    with Pair(transport) as pair:
        number = pair.start_and_see_running(pattern, seconds=30)
        pair.server.process.kill()
        error = pair.client.wait(number, timeout=20)["error"]
        assert error["code"] in ("peer-lost", "timeout")
        assert pair.client.close() == 0


@pytest.mark.parametrize("transport", ["unix", "pipe", "shm", "unixgram"])
def test_a_killed_local_client_leaves_nothing_at_the_server(transport: str) -> None:
    with Pair(transport) as pair:
        pair.start_and_see_running("stream", seconds=30)
        pair.client.process.kill()
        assert pair.server.ask("ping")["ok"]
        assert pair.stop()["ok"]
        assert pair.server.close() == 0
