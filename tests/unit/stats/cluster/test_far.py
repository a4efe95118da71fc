"""Nodes that are far, told from those whose data always waits in a queue."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.cluster.far import far_nodes
from wulf.stats.cluster.outliers import Link

NODES = [f"n{number}" for number in range(1, 6)]
PATH, CONTROLLER = 1e-3, 0.5e-3
"""The round trip between two nodes, and to who asks them all."""


def least(random: np.random.Generator, delays: dict[str, float], queue: float = 3e-3) -> dict[Link, float]:
    """Of all pairs, each with what is left of a queue at its shortest."""
    return {
        (a, b): PATH + delays.get(a, 0.0) + delays.get(b, 0.0) + float(random.exponential(queue))
        for a in NODES
        for b in NODES
        if a != b
    }


def outside(random: np.random.Generator, delays: dict[str, float]) -> dict[tuple[str, str], float]:
    return {(node, "10.0.0.254"): CONTROLLER + delays.get(node, 0.0) + random.uniform(0, 2e-5) for node in NODES}


def test_what_all_know_outside_tells_a_delay_from_queues() -> None:
    random, delays = np.random.default_rng(1), {"n3": 1.5e-3}
    for _ in range(100):
        found = far_nodes(least(random, delays), PATH, outside(random, delays))
        assert found == {"n3": pytest.approx(PATH + 1.5e-3, abs=3e-5)}


def test_nobody_is_far_where_all_are_as_near_outside_whatever_waits() -> None:
    random = np.random.default_rng(2)
    assert [far_nodes(least(random, {}, queue=20e-3), PATH, outside(random, {})) for _ in range(200)] == [{}] * 200


def test_a_pair_that_is_near_contradicts() -> None:
    """The way to who asks is long for n3, as in another room, and not the way to the other nodes."""
    random = np.random.default_rng(3)
    near = least(random, {}) | {("n3", "n1"): 1.05e-3}
    assert far_nodes(near, PATH, outside(random, {"n3": 1.5e-3})) == {}


def test_of_several_outside_the_nearest_counts() -> None:
    random = np.random.default_rng(4)
    both = outside(random, {"n3": 1.5e-3}) | {(node, "10.0.0.253"): 0.4e-3 for node in NODES}
    assert far_nodes(least(random, {"n3": 1.5e-3}), PATH, both) == {}


def test_what_two_nodes_alone_know_outside_says_nothing() -> None:
    random = np.random.default_rng(5)
    few = {("n3", "192.0.2.1"): 30e-3, ("n1", "192.0.2.1"): 0.5e-3}
    assert far_nodes(least(random, {}), PATH, few) == {}


def test_with_nothing_outside_a_long_delay_is_told_by_chance_and_queues_hardly_ever() -> None:
    random = np.random.default_rng(6)
    told = [far_nodes(least(random, {"n3": 8e-3}), PATH, {}) for _ in range(100)]
    assert sum(list(one) == ["n3"] for one in told) >= 90
    quiet = [far_nodes(least(random, {}), PATH, {}) for _ in range(2000)]
    assert sum(bool(one) for one in quiet) <= 2000 * 0.02


def test_of_one_partner_nobody_is_told() -> None:
    assert far_nodes({("n1", "n2"): 9e-3, ("n3", "n4"): 1e-3, ("n4", "n3"): 1e-3}, 1e-3, {}) == {}
