"""From what kernels say of their connections to figures of pairs: what is told, and what is too little to tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wulf.agent.net.traffic import COLUMNS
from wulf.measure.engine.plan import Plan
from wulf.measure.net.traffic import (
    AGAIN,
    BUFFER,
    BUSY,
    CONGESTION,
    COST,
    LEAST,
    MOST_OUTSIDE,
    MOST_SERVICES,
    PRESSURE,
    RATE,
    RECEIVER,
    RTT,
    SENT,
    WAITING,
    Polls,
    figures_of,
    host_figures,
    is_whole,
    owners_of,
    traffic_losses,
    traffic_records,
)
from wulf.stats.cluster.losses import Losses
from wulf.store.reading import replicate_of


def group(peer: str = "10.0.0.2", port: int = 5001, program: str = "", **more: Any) -> dict[str, Any]:
    usual = {
        "sockets": 1, "acked": 10_000_000, "received": 0, "segments": 7000, "again": 0, "dups": 0, "delivered": 7000,
        "busy": 1.0, "rwnd": 0.0, "sndbuf": 0.0, "window": 1 << 20, "rtt": 2e-4, "least": 1e-4, "rate": 1e8,
    }  # fmt: skip
    return {"peer": peer, "port": port, "serving": False, "program": program, **usual, **more}


def answer(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    usual = {"seconds": 10.0, "sockets": 5, "new": 0, "ended": 0, "left_out": 0, "cpu_seconds": 0.004, "host": {}}
    return {**usual, "groups": columns(*groups), **more}


def columns(*groups: dict[str, Any]) -> dict[str, list[Any]]:
    """Groups as agents say them: a list of each figure."""
    return {name: [one[name] for one in groups] for name in COLUMNS}


def values(*groups: dict[str, Any]) -> dict[str, Any]:
    return {name: one["value"] for name, one in figures_of(groups, 10.0).items()}


def test_a_pairs_figures() -> None:
    found = values(group(again=70, rwnd=0.25, sndbuf=0.5))
    assert found == pytest.approx(
        {
            RTT: 2e-4, LEAST: 1e-4, AGAIN: 0.01, RATE: 1e8, SENT: 1e6, BUSY: 0.1, RECEIVER: 0.25, BUFFER: 0.5,
            CONGESTION: 0.25,
        }
    )  # fmt: skip


def test_of_several_connections_any_may_be_busy() -> None:
    assert values(group(busy=10.0, sockets=2), group(busy=5.0))[BUSY] == pytest.approx(1 - 0.5**2 * 0.5)
    assert values(group(busy=11.0))[BUSY] == 1.0


def test_connections_count_by_what_they_delivered() -> None:
    found = values(
        group(rtt=1e-3, delivered=9000, again=90), group(rtt=1e-4, least=5e-5, delivered=1000, segments=1000)
    )
    assert (found[RTT], found[LEAST], found[AGAIN]) == (1e-3, 5e-5, pytest.approx(90 / 8000))


def test_what_was_sent_again_for_nothing_is_no_loss() -> None:
    assert values(group(again=70, dups=63))[AGAIN] == pytest.approx(0.001)
    assert values(group(again=7, dups=63))[AGAIN] == 0.0


@pytest.mark.parametrize(
    ("metric", "little", "reason"),
    [
        (RTT, {"delivered": 9}, "only 9 segments were acknowledged"),
        (AGAIN, {"segments": 499}, "only 499 segments were sent"),
        (RATE, {"rate": None}, "gave too little to send"),
        (RECEIVER, {"busy": 0.05}, r"there was data to send in 0.05 s of 10 s"),
    ],
)
def test_of_too_little_nothing_is_said_but_why(metric: str, little: dict[str, Any], reason: str) -> None:
    found = figures_of([group(**little)], 10.0)[metric]
    assert found["value"] is None
    assert reason in found["reason"]


def test_a_hosts_figures_and_what_its_kernel_does_not_count() -> None:
    found = host_figures(answer(host={"pressure": 2.5, "cpu": 40.0, "softirq": 4.0}))
    assert found[PRESSURE]["value"] == pytest.approx(0.25)
    assert found[COST]["value"] == pytest.approx(0.0004)
    assert "schedstat" in found[WAITING]["reason"]


def test_an_address_that_several_nodes_have_is_nobodys() -> None:
    owners = owners_of({"n1": ["10.0.0.1", "127.0.0.1", "10.0.0.1"], "n2": ["10.0.0.2", "127.0.0.1"]})
    assert owners == {"10.0.0.1": "n1", "10.0.0.2": "n2", "127.0.0.1": None}


OWNERS = {"10.0.0.1": "n1", "10.0.0.2": "n2", "127.0.0.1": None}


def test_sockets_that_lead_elsewhere_are_only_counted() -> None:
    polls = Polls(OWNERS)
    elsewhere = [group("192.0.2.1", sockets=3), group("127.0.0.1", sockets=2), group("10.0.0.1")]
    polls.take({"n1": answer(*elsewhere, ended=4, new=1, host={"opened": 6.0})}, 0, "now")
    assert [cell.subject for cell in polls.cells] == ["n1"]
    unseen = polls.unseen
    assert (unseen.outside, unseen.shared, unseen.ended, unseen.missed) == (3, 2, 4, 5)


def test_of_those_the_least_round_trip_is_kept_of_so_many() -> None:
    polls = Polls(OWNERS)
    for block, least in enumerate((3e-4, 2e-4, 9e-4, None)):
        polls.take({"n1": answer(group("192.0.2.1", least=least), group("10.0.0.2"))}, block, "now")
    assert polls.outside == {("n1", "192.0.2.1"): 2e-4}
    polls.take({"n1": answer(*(group(f"192.0.2.{i}") for i in range(2, 2 * MOST_OUTSIDE)))}, 4, "now")
    assert len(polls.outside) == MOST_OUTSIDE


def test_a_first_poll_has_no_replicate() -> None:
    assert Polls(OWNERS).take({"n1": answer(group(), seconds=None)}, 0, "now") == []


def test_services_beyond_so_many_are_one() -> None:
    polls = Polls(OWNERS)
    polls.take({"n1": answer(*(group(port=port) for port in range(1, MOST_SERVICES + 3)))}, 0, "now")
    ports = [cell.about["port"] for cell in polls.cells if "port" in cell.about]
    assert ports == [*range(1, MOST_SERVICES + 1), None]


def records(*answers: dict[str, Any], facts: Any = None) -> Any:
    polls = Polls(OWNERS)
    taken = []
    for block, one in enumerate(answers):
        taken += polls.take({"n1": one}, block, "2026-11-28T12:00:00Z")
    plan = Plan(tuple(polls.cells), 0, looks=(len(answers),))
    kept = [one for cell in polls.cells for one in polls.of_cell(cell)]
    taken.sort(key=lambda one: (one["cell"], one["block"]))
    assert kept == taken, "what is made anew is what was written down"
    return traffic_records(plan, polls, "run", "2026-11-28T12:00:00Z", facts or {}), taken


def test_each_poll_is_a_replicate_and_a_line_that_can_be_read_again() -> None:
    found, replicates = records(*(answer(group(rtt=2e-4 + 1e-6 * i)) for i in (3, 0, 7, 2, 5, 1, 6, 4)))
    assert all(replicate_of(json.dumps(one).encode()) for one in replicates)
    rtt = next(one for one in found if is_whole(one) and one.metric == RTT)
    assert (rtt.subject, rtt.replicates, rtt.verdict, rtt.params) == (
        "n1>n2", 8, "ok", {"transport": "tcp", "pattern": "traffic", "source": "traffic"}
    )  # fmt: skip
    assert rtt.low is not None
    assert rtt.high is not None
    assert rtt.low <= 2.035e-4 <= rtt.high


def test_an_interval_takes_the_polls_that_told_something() -> None:
    told, quiet = answer(group()), answer(group(segments=10, delivered=3, acked=4000))
    found, _ = records(told, quiet, told, quiet, told, told, told, told, quiet, quiet)
    rtt = next(one for one in found if is_whole(one) and one.metric == RTT)
    assert (rtt.replicates, rtt.value, rtt.blocks) == (6, 2e-4, [0, 2, 4, 5, 6, 7])


def again_of(*answers: dict[str, Any]) -> Any:
    found, _ = records(*answers)
    return next(one for one in found if is_whole(one) and one.metric == AGAIN)


def test_the_share_sent_again_is_of_all_polls_together_however_little_each_had() -> None:
    few = again_of(*[answer(group(segments=100, again=count)) for count in (1, 0, 2, 1, 1, 0, 1, 0)])
    assert (few.value, few.statistic, few.replicates) == (0.0075, "share of totals", 8)
    assert (few.low, few.high) == pytest.approx((0.0028, 0.0163), abs=2e-4)
    none = again_of(*[answer(group(segments=20))] * 8)
    assert (none.verdict, none.value) == ("unresolved", None)
    assert "only 160 segments" in none.reason


def losses(*groups: dict[str, Any]) -> Losses:
    polls = Polls(OWNERS)
    for block, one in enumerate(groups):
        polls.take({"n1": answer(one)}, block, "now")
    return traffic_losses(polls)


def test_what_was_lost_is_known_poll_by_poll() -> None:
    found = losses(
        group(segments=100, again=3, rtt=2e-3), group(segments=200), group(segments=50, delivered=0, rtt=None)
    )
    assert (found.names, found.ends.tolist()) == (["n1", "n2"], [[0, 1]])
    assert (found.again.tolist(), found.segments.tolist()) == ([[3, 0, 0]], [[100, 200, 50]])
    assert found.trips[0].tolist() == pytest.approx([2e-3, 2e-4, float("nan")], nan_ok=True)


def test_what_was_sent_again_for_nothing_is_no_loss_where_that_is_known_a_poll_later() -> None:
    found = losses(group(again=6), group(again=2, dups=6), group(dups=1), group(again=1))
    assert found.again.tolist() == [[1, 0, 0, 1]]


def test_too_little_traffic_is_unresolved_with_its_reason() -> None:
    found, _ = records(*[answer(group(segments=10, delivered=3))] * 8)
    rtt = next(one for one in found if is_whole(one) and one.metric == RTT)
    assert (rtt.verdict, rtt.value) == ("unresolved", None)
    assert "only 3 segments" in (rtt.reason or "")
    assert not any("port" in one.params for one in found if one.metric == RTT)


def test_the_verdict_rules_of_windows_and_losses_hold_for_traffic() -> None:
    found, _ = records(*[answer(group(rwnd=0.9, window=65_535, again=700))] * 8)
    limited = next(one.bottleneck for one in found if is_whole(one) and one.metric == RTT)
    assert [one["rule"] for one in limited] == ["window-bound", "drop-bound"]
    assert limited[0]["subject"] == "n2"
    found, _ = records(*[answer(group())] * 8)
    assert not any(one.bottleneck for one in found)
