"""Anchors: which sizes, and when one has moved."""

from __future__ import annotations

import random

import pytest

from wulf.findings.net.anchors import anchor_sizes, drift_finding, drifts


def times(centre: float, seed: int, n: int = 8) -> list[float]:
    rng = random.Random(seed)
    return [centre * (1 + rng.gauss(0, 0.002)) for _ in range(n)]


def test_anchors_are_the_ends_and_the_middle() -> None:
    assert anchor_sizes([2**k for k in range(21)]) == [1, 1024, 1 << 20]
    assert anchor_sizes([1, 2, 4]) == [1, 2, 4]
    assert anchor_sizes([5]) == [5]
    assert anchor_sizes([]) == []


def test_the_anchor_and_the_round_that_moved_are_named() -> None:
    first = {1: times(1e-5, 1), 1024: times(2e-5, 2)}
    later = {2: {1: times(1e-5, 3), 1024: times(2e-5, 4)}, 3: {1: times(1e-5, 5), 1024: times(1.8e-5, 6)}}
    (found,) = drifts(first, later, 0.05)
    assert (found.round, found.size) == (3, 1024)
    assert found.ratio == pytest.approx(0.9, abs=0.01)
    assert found.low < found.ratio < found.high < 0.95
    finding = drift_finding("n1>n2", [found], 0.05)
    assert finding is not None
    assert "measured again in round 3, 1 KiB took 0.90" in finding.text
    assert "The sizes of round 3 belong" in finding.text


def test_the_whole_interval_has_to_lie_beyond_the_tolerance() -> None:
    first = {1: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]}
    assert drifts(first, {2: {1: [1.06] * 8}}, 0.05)
    assert not drifts(first, {2: {1: [1.04] * 8}}, 0.05)
    noisy = [0.9, 1.3, 1.0, 1.2, 0.95, 1.25, 1.1, 1.15]
    assert not drifts(first, {2: {1: noisy}}, 0.05)


def test_too_few_replicates_accuse_nobody_and_a_size_without_a_first_time_is_left_out() -> None:
    assert not drifts({1: [1.0, 1.0]}, {2: {1: [2.0, 2.0]}}, 0.05)
    assert not drifts({1: [1.0] * 8}, {2: {64: [2.0] * 8}}, 0.05)
    assert not drifts({1: [1.0] * 8}, {}, 0.05)
    assert drift_finding("n1>n2", [], 0.05) is None


def test_a_machine_at_rest_is_accused_about_as_often_as_promised() -> None:
    accused = 0
    for seed in range(200):
        first = {size: times(1.0, 1000 * seed + size) for size in (1, 2, 3)}
        later = {k: {size: times(1.0, 1000 * seed + 10 * k + size) for size in (1, 2, 3)} for k in (2, 3, 4)}
        accused += bool(drifts(first, later, 1e-9))
    assert accused <= 200 * 0.05 + 10
