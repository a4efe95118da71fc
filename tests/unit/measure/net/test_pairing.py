"""Rounds of disjoint pairs, and what a sample may miss: exactly, by counting."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from wulf.measure.engine.plan import round_of
from wulf.measure.net.pairing import Coverage, all_rounds, coverage, matching, matchings


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 64])
def test_all_rounds_are_all_pairs_once_each_node_in_one_pair_a_round(n: int) -> None:
    rounds = [matching(number, n) for number in range(all_rounds(n))]
    assert len(rounds) == (n - 1 if n % 2 == 0 else n)
    for pairs in rounds:
        assert len({node for pair in pairs for node in pair}) == 2 * len(pairs) == n - n % 2
    assert sorted(pair for pairs in rounds for pair in pairs) == list(combinations(range(n), 2))


@pytest.mark.parametrize("n", [5, 8])
def test_the_rounds_are_those_of_the_order_of_a_pass(n: int) -> None:
    for number in range(all_rounds(n)):
        assert all(round_of(i, j, n) == number for i, j in matching(number, n))


@pytest.mark.parametrize(("n", "k"), [(100, 4), (101, 4), (6, 99)])
def test_a_sample_has_each_node_in_so_many_pairs_and_no_pair_twice(n: int, k: int) -> None:
    nodes = [f"n{i}" for i in range(n)]
    rounds = matchings(nodes, k, np.random.default_rng(1))
    pairs = [pair for pairs in rounds for pair in pairs]
    assert len(set(pairs)) == len(pairs)
    found = coverage(nodes, rounds)
    assert found.rounds == min(k, all_rounds(n))
    assert found.most == found.rounds
    assert found.least == found.rounds - n % 2
    assert all(nodes.index(a) < nodes.index(b) for a, b in pairs)


def test_rounds_differ_with_the_seed_and_repeat_with_it() -> None:
    nodes = [f"n{i}" for i in range(20)]
    first, again, other = (matchings(nodes, 3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_the_chance_of_missing_bad_links_is_the_share_of_samples_that_do() -> None:
    sample = Coverage(nodes=5, pairs=4, rounds=2, least=1, most=2, uncovered=0)
    links = range(10)
    for bad in (1, 2, 3, 6, 7):
        drawn = list(combinations(links, 4))
        missed = sum(not set(range(bad)) & set(draw) for draw in drawn)
        assert sample.miss_links(bad) == pytest.approx(missed / comb(10, 4))
    assert sample.miss_links(1) == pytest.approx(1 - 4 / 10)


def test_how_many_bad_links_are_seen_with_a_given_chance() -> None:
    sample = Coverage(nodes=10_000, pairs=20_000, rounds=4, least=4, most=4, uncovered=0)
    number = sample.links_seen(0.95)
    assert number is not None
    assert sample.miss_links(number) <= 0.05 < sample.miss_links(number - 1)
    assert Coverage(4, 6, 3, 3, 3, 0).links_seen() == 1
    assert Coverage(4, 0, 0, 0, 0, 4).links_seen() is None


def test_a_node_is_missed_only_where_it_is_in_no_pair() -> None:
    nodes = [f"n{i}" for i in range(5)]
    one = coverage(nodes, matchings(nodes, 1, np.random.default_rng(0)))
    assert one.miss_node == pytest.approx(1 / 5)
    two = coverage(nodes, matchings(nodes, 2, np.random.default_rng(0)))
    assert two.miss_node == 0.0
    assert not two.complete
    assert coverage(nodes, matchings(nodes, 9, np.random.default_rng(0))).complete
