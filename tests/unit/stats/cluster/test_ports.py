"""Ports that pass less than the others' while data waits for them."""

from __future__ import annotations

import numpy as np

from wulf.stats.cluster.blame import Blame
from wulf.stats.cluster.outliers import Outlier, Way
from wulf.stats.cluster.ports import Flows, narrow_ports, rates_of, slowed

LINE = 100.0
NAMES = [f"n{number}" for number in range(1, 6)]


def shared(patterns: list[list[tuple[int, int]]], caps: dict[tuple[int, Way], float] | None = None) -> Flows:
    """Pairs that share ports evenly, one pattern a poll: each gets the least of its two ports' shares."""
    ends = sorted({pair for pattern in patterns for pair in pattern})
    sent, held = np.zeros((len(ends), len(patterns))), np.zeros((len(ends), len(patterns)))
    for poll, pattern in enumerate(patterns):
        for pair in pattern:
            ports = [(pair[0], Way.SEND), (pair[1], Way.RECEIVE)]
            many = [sum(other[place] == pair[place] for other in pattern) for place in (0, 1)]
            rates = [(caps or {}).get(port, LINE) / count for port, count in zip(ports, many, strict=True)]
            sent[ends.index(pair), poll], held[ends.index(pair), poll] = min(rates), 0.98
    count = 1 + max(max(pair) for pair in ends)
    return Flows([f"n{number + 1}" for number in range(count)], np.array(ends), sent, held)


RING = [(a, (a + 1) % 5) for a in range(5)]
BACK = [(b, a) for a, b in RING]
INTO_N1 = [(1, 0), (2, 0), (3, 0), (4, 1)]
PATTERNS = [RING, BACK, RING + BACK, INTO_N1, RING, BACK]


def ports(blame: Blame) -> list[tuple[str, Way]]:
    return [(str(one.subject), one.way) for one in blame.nodes]


def test_streams_that_share_a_port_are_no_fault() -> None:
    flows = shared(PATTERNS)
    assert np.nanmin(rates_of(flows).best) > 0.9 * LINE
    assert narrow_ports(flows) == Blame()


def test_a_capped_port_is_named_with_its_way() -> None:
    for way in (Way.SEND, Way.RECEIVE):
        found = narrow_ports(shared(PATTERNS, {(2, way): 25.0}))
        assert ports(found) == [("n3", way)]
        assert 3.0 < found.nodes[0].times < 5.0


def test_two_capped_ports_are_named_one_after_the_other() -> None:
    wide = [(a, (a + step) % 10) for a in range(10) for step in (1, 9)]
    found = narrow_ports(shared([wide] * 4, {(0, Way.SEND): 25.0, (2, Way.RECEIVE): 20.0}))
    assert sorted(ports(found)) == [("n1", Way.SEND), ("n3", Way.RECEIVE)]


def test_senders_into_a_full_port_are_not_to_blame() -> None:
    """n2, n3 and n4 send to n1 alone, all the time: each gets a third of what n1's port takes."""
    assert narrow_ports(shared([[*INTO_N1, (0, 4), (4, 2)]] * 6)) == Blame()


def test_of_too_few_nodes_or_polls_nothing_is_said() -> None:
    assert narrow_ports(shared([[(0, 1), (1, 0)]] * 6, {(0, Way.SEND): 10.0})) == Blame()
    assert narrow_ports(shared([RING + BACK], {(2, Way.SEND): 10.0})) == Blame()
    assert narrow_ports(Flows([], np.zeros((0, 2), dtype=np.int64), np.zeros((0, 0)), np.zeros((0, 0)))) == Blame()


def test_a_node_that_all_wait_for_is_told_where_its_data_queues_and_its_ports_are_not_full() -> None:
    """A program that waits for all its messages: each pair sends as much, and n3's take four times as long."""
    ends = np.array(RING + BACK)
    slow = (ends == 2).any(axis=1)
    held = np.where(slow, 0.96, 0.24)[:, None] * np.ones((1, 6))
    flows = Flows(NAMES, ends, np.full((10, 6), 10.0), held)
    queued = Blame(nodes=(Outlier("n3", 0.05, 0.05, 0.05, 0.01, 5.0),))
    assert [one.subject for one in slowed(flows, queued).nodes] == ["n3"]
    assert slowed(flows, Blame()) == Blame()
    assert slowed(Flows(NAMES, ends, np.full((10, 6), 10.0), np.full((10, 6), 0.5)), queued) == Blame()
