"""Planted cache edges are found where they are; what is none is not called one, and what is in doubt says so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from bench.edges import curves
from bench.edges.curves import KIB, LAPTOP, MIB, SERVER, Machine, grid, sweep

from wulf.stats.claims import missed
from wulf.stats.curves.edges import LEFT, Edge, Profile, find
from wulf.stats.estimates import Interval

LEAST, MOST = 2 * KIB, 128 * MIB


def found(machine: Machine, noise: curves.Noise = curves.USUAL, per_octave: int = 4, seed: int = 1) -> Profile:
    random = np.random.default_rng(seed)
    return find(sweep(random, machine, noise, grid(per_octave, machine), 8), random=random)


def drawn(truth: Callable[[float], float], cv: float = 0.01, seed: int = 1, n: int = 8) -> dict[float, list[float]]:
    random = np.random.default_rng(seed)
    sizes = 2048 * 2.0 ** (np.arange(65) / 4)
    return {float(s): (truth(s) * np.exp(cv * random.normal(size=n))).tolist() for s in sizes}


def edges_of(truth: Callable[[float], float], **given: float) -> tuple[Edge, ...]:
    return find(drawn(truth, **given), random=np.random.default_rng(2)).edges  # type: ignore[arg-type]


@pytest.mark.parametrize("caches", [SERVER, LAPTOP, (KIB * 64, KIB * 512)])
@pytest.mark.parametrize("misses", [curves.sharp, curves.soft, curves.coloured])
def test_planted_edges_hold_their_caches(caches: tuple[float, ...], misses: curves.Misses) -> None:
    machine = Machine("planted", caches, misses)
    profile = found(machine, per_octave=8)
    assert [edge.unresolved for edge in profile.edges] == [None] * len(caches)
    for number, (edge, cache) in enumerate(zip(profile.edges, caches, strict=True)):
        assert edge.holds(cache, coloured=misses is curves.coloured)
        assert edge.left.value == pytest.approx(machine.crossing(number, LEFT), rel=0.15)
        assert edge.half.value == pytest.approx(machine.crossing(number, 0.5), rel=0.15)
        below = machine.latency(np.array([cache / 3]), np.ones(1))[0]
        assert edge.before == pytest.approx(below, rel=0.3)  # within the last cache, it climbs


def test_one_and_a_quarter_mebibytes_is_not_taken_for_one_or_two() -> None:
    edge = found(Machine("5·2ⁿ", LAPTOP), per_octave=8).edges[1]
    assert edge.holds(1.25 * MIB)
    assert not edge.holds(1 * MIB)
    assert not edge.holds(1.5 * MIB)


def test_what_does_not_change_has_no_edge() -> None:
    assert edges_of(lambda _: 1e-9, cv=0.05) == ()


def test_a_slope_that_is_no_step_is_no_edge() -> None:
    assert edges_of(lambda size: 1e-9 * (size / LEAST) ** 0.25) == ()


def test_a_rise_without_plateaus_is_unresolved() -> None:
    (edge,) = edges_of(lambda size: 1e-9 * np.clip(size / (64 * KIB), 1.0, 64.0))
    assert edge.unresolved is not None
    assert "without a plateau" in edge.unresolved


def test_a_rise_at_the_end_of_the_sweep_is_unresolved() -> None:
    (edge,) = edges_of(lambda size: 1e-9 if size < 120 * MIB else 5e-9)
    assert "measure larger" in str(edge.unresolved)


def test_a_rise_at_its_beginning_is_unresolved() -> None:
    (edge,) = edges_of(lambda size: 1e-9 if size < 2.2 * KIB else 5e-9)
    assert "measure smaller" in str(edge.unresolved)


def test_an_edge_that_only_some_replicates_have_is_unresolved() -> None:
    times = drawn(lambda size: 1e-9 if size < 64 * KIB else 4e-9)
    for size, values in times.items():
        if 64 * KIB <= size < 2 * MIB:
            times[size] = [1e-9 if i % 2 else value for i, value in enumerate(values)]
    edges = find(times, random=np.random.default_rng(2)).edges
    assert edges
    assert all(edge.unresolved for edge in edges)


def test_two_edges_half_an_octave_apart_are_one_and_four_octaves_apart_two() -> None:
    def twice(second: float) -> Callable[[float], float]:
        return lambda size: 1e-9 if size < 64 * KIB else 3e-9 if size < second else 12e-9

    assert len(edges_of(twice(90 * KIB))) == 1
    assert len(edges_of(twice(1 * MIB))) == 2


def test_unit_and_order_do_not_matter() -> None:
    times = drawn(lambda size: 1e-9 if size < 64 * KIB else 4e-9)
    plain = find(times, random=np.random.default_rng(3)).edges
    shuffled = {size: [1e9 * value for value in times[size]] for size in reversed(times)}
    (other,) = find(shuffled, random=np.random.default_rng(3)).edges
    assert plain[0].left == other.left
    assert plain[0].before * 1e9 == pytest.approx(other.before)


def test_outliers_do_not_move_an_edge() -> None:
    times = drawn(lambda size: 1e-9 if size < 64 * KIB else 4e-9)
    (before,) = find(times, random=np.random.default_rng(3)).edges
    for values in times.values():
        values[0] *= 100
    (after,) = find(times, random=np.random.default_rng(3)).edges
    assert after.left.low <= before.left.value <= after.left.high


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ({1024.0: [1e-9] * 3}, "1 of 1 sizes"),
        ({2.0**k: [1e-9] * 2 for k in range(20)}, "0 of 20 sizes"),
        ({2.0**k: [0.0] * 3 for k in range(20)}, "above zero"),
        ({2.0**k: [float("nan")] * 3 for k in range(20)}, "finite"),
    ],
)
def test_what_can_not_be_fitted_is_refused(times: dict[float, list[float]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        find(times, random=np.random.default_rng(1))


def test_holds_leaves_room_for_colours_alone() -> None:
    edge = Edge(Interval(100.0, 90.0, 110.0), Interval(150.0, 140.0, 160.0), 1.0, 4.0, 1.0, None)
    assert [edge.holds(size) for size in (80, 85, 160, 170)] == [False, True, True, False]
    assert [edge.holds(size, coloured=True) for size in (170, 240, 241)] == [True, True, False]


@pytest.mark.full
def test_claims_about_edges_hold_in_few_campaigns() -> None:
    claims = curves.claims(np.random.default_rng(5), campaigns=6, per_octave=4)
    assert missed(claims) == []
    assert {claim.what for claim in claims if claim.bound is not None} >= {"an edge is made up"}
