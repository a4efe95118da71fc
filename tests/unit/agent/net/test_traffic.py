"""From one poll of a node's sockets to the next: deltas, groups, what ended, and what the host counted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wulf.agent.net import traffic
from wulf.agent.net.sockets import ESTABLISHED, LISTEN, Info, Socket
from wulf.agent.net.traffic import Traffic, host_counts, weighted_median
from wulf.agent.session import Refused
from wulf.cluster.answers import fault
from wulf.measure.net.traffic import groups_of

PEER = bytes([10, 0, 0, 2]) + bytes(12)
NOTHING = Info(*[0] * len(Info._fields))


def connection(cookie: int, port: int = 40000, peer_port: int = 5001, peer: bytes = PEER, **counts: int) -> Socket:
    return Socket(
        socket.AF_INET, ESTABLISHED, port, peer_port, bytes(16), peer, cookie, cookie, NOTHING._replace(**counts)
    )


def listener(port: int) -> Socket:
    return Socket(socket.AF_INET, LISTEN, port, 0, bytes(16), bytes(16), 999, 999, None)


@pytest.fixture
def polled() -> Callable[..., list[dict[str, Any]]]:
    """Polls 10 s apart, each of which finds these sockets and costs 5 ms of CPU."""

    def polls(*found: list[Socket], by_program: bool = False) -> list[dict[str, Any]]:
        times = iter(range(0, 10 * len(found), 10))
        spent = iter(0.005 * number for number in range(len(found)))
        left, named = iter(found), {1: "mpirun", 2: "ssh"}
        polling = Traffic(
            lambda: next(left), lambda: {"cpu": 1.0}, lambda _: named, lambda: float(next(times)), lambda: next(spent)
        )
        answers = [polling.poll(by_program) for _ in found]
        return [{**one, "groups": list(groups_of(one["groups"]))} for one in answers]

    return polls


def test_the_first_poll_knows_of_no_time_before_it(polled: Any) -> None:
    (first,) = polled([connection(1, bytes_acked=10**9)])
    assert (first["seconds"], first["groups"], first["sockets"]) == (None, [], 1)


def test_what_was_sent_since_the_last_poll_in_si_units(polled: Any) -> None:
    before = connection(1, bytes_acked=1000, data_segs_out=10, delivered=10, busy_time=1_000, total_retrans=1)
    after = connection(
        1, bytes_acked=501_000, data_segs_out=360, delivered=350, busy_time=2_001_000, total_retrans=8, rtt=250,
        min_rtt=80, rwnd_limited=500_000, delivery_rate=10**8, snd_wnd=65536,
    )  # fmt: skip
    _, second = polled([before], [after])
    assert (second["seconds"], second["cpu_seconds"]) == (10.0, 0.005)
    assert second["groups"] == [
        {
            "peer": "10.0.0.2", "port": 5001, "serving": False, "program": "", "sockets": 1, "acked": 500_000,
            "received": 0, "segments": 350, "again": 7, "dups": 0, "delivered": 340, "busy": pytest.approx(2.0),
            "rwnd": pytest.approx(0.5), "sndbuf": 0.0, "window": 65536, "rtt": pytest.approx(250e-6),
            "least": pytest.approx(80e-6), "rate": 10**8,
        }
    ]  # fmt: skip


def test_who_only_received_has_no_round_trip_of_this_time(polled: Any) -> None:
    before, after = (connection(1, bytes_received=size, delivered=10, rtt=250, min_rtt=80) for size in (1000, 9000))
    (group,) = polled([before], [after])[1]["groups"]
    assert (group["rtt"], group["least"], group["rate"], group["received"]) == (None, None, None, 8000)


def test_a_connection_that_did_nothing_is_in_no_group(polled: Any) -> None:
    before, after = (connection(1, bytes_acked=1000, delivered=10, rtt=rtt) for rtt in (250, 260))
    assert [polled([before], [later])[1]["groups"] for later in (before, after)] == [[], []]


def test_a_rate_that_the_application_limited_says_nothing_of_the_network(polled: Any) -> None:
    (group,) = polled([], [connection(1, bytes_acked=9, delivered=5, delivery_rate=10**6, flags=1)])[1]["groups"]
    assert group["rate"] is None


def test_a_connection_that_is_new_counts_from_its_beginning_and_one_that_ended_is_told(polled: Any) -> None:
    _, second = polled([connection(1, bytes_acked=7)], [connection(2, bytes_acked=300)])
    assert (second["new"], second["ended"], second["groups"][0]["acked"]) == (1, 1, 300)


def test_a_counter_of_32_bits_goes_on_beyond_its_end(polled: Any) -> None:
    full = (1 << 32) - 100
    (group,) = polled([connection(1, data_segs_out=full)], [connection(1, data_segs_out=400)])[1]["groups"]
    assert group["segments"] == 500


def test_a_service_is_known_by_the_port_that_is_listened_on(polled: Any) -> None:
    own = [connection(number, port=22, peer_port=50000 + number, bytes_acked=9) for number in (1, 2)]
    sockets = [listener(22), *own]
    (group,) = polled([], sockets)[1]["groups"]
    assert (group["port"], group["serving"], group["sockets"]) == (22, True, 2)


def test_programs_are_told_apart_where_they_are_asked_for(polled: Any) -> None:
    sockets = [connection(number, bytes_acked=9) for number in (1, 2, 3)]
    assert {group["program"] for group in polled([], sockets, by_program=True)[1]["groups"]} == {"mpirun", "ssh", ""}
    assert {group["program"] for group in polled([], sockets)[1]["groups"]} == {""}


def test_an_answer_has_room_for_so_many_groups_and_says_how_many_it_left_out(
    polled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic, "MOST_GROUPS", 3)
    sockets = [connection(number, peer_port=number, bytes_acked=number) for number in range(1, 6)]
    second = polled([], sockets)[1]
    assert [group["acked"] for group in second["groups"]] == [5, 4, 3]
    assert second["left_out"] == 2


def test_what_it_says_is_held_against_its_shape() -> None:
    found = iter(([], [connection(1, bytes_acked=9), connection(2, peer_port=22, bytes_acked=7)]))
    polling = Traffic(lambda: next(found), lambda: {"cpu": 1.0}, lambda _: {}, lambda: 0.0, lambda: 0.0)
    first, second = polling.poll(), polling.poll()
    assert [fault("wulf-agent", "sockets", one) for one in (first, second)] == [None, None]
    groups = second["groups"]
    for wrong in (
        {**groups, "acked": groups["acked"][:1]},
        {**groups, "port": [70_000, 22]},
        {**groups, "again": ["2", 0]},
        {name: own * 2000 for name, own in groups.items()},
        {name: own for name, own in groups.items() if name != "rtt"},
    ):
        assert fault("wulf-agent", "sockets", {**second, "groups": wrong}) is not None


def test_a_wrong_parameter_is_refused(polled: Any) -> None:
    with pytest.raises(Refused, match="by_program"):
        polled([], by_program="yes")


def test_the_median_by_weight() -> None:
    assert weighted_median([(1, 1), (5, 10), (9, 1)]) == 5
    assert weighted_median([(9, 100), (1, 99)]) == 9
    assert weighted_median([]) is None


def test_what_a_host_counts(tmp_path: Path) -> None:
    for name, text in {
        "pressure/cpu": "some avg10=1.00 avg60=0.50 avg300=0.10 total=2500000\nfull avg10=0.00 total=0\n",
        "stat": "cpu  100 0 200 600 50 0 50 0 0 0\ncpu0 1 2 3\n",
        "schedstat": "version 15\ncpu0 0 0 0 0 0 0 9 3000000000 5\ndomain0 3\ncpu1 0 0 0 0 0 0 9 500000000 5\n",
        "net/snmp": "Tcp: ActiveOpens PassiveOpens OutSegs RetransSegs\nTcp: 3 4 1000 5\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = host_counts(tmp_path)
    assert found["pressure"] == pytest.approx(2.5)
    assert found["softirq"] / found["cpu"] == pytest.approx(0.05)
    assert found["run_delay"] == pytest.approx(3.5)
    assert (found["segments"], found["again"], found["opened"]) == (1000, 5, 7)


def test_what_a_kernel_does_not_count_is_left_out(tmp_path: Path) -> None:
    assert host_counts(tmp_path) == {}
