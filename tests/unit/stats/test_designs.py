"""Designs have the sizes, resolutions and balance of the literature; orders are random."""

import numpy as np
import pytest

from wulf.stats.designs import (
    CONTROL,
    FRACTIONS,
    MOST_FULL,
    PLACKETT_BURMAN,
    Design,
    Kind,
    ablation,
    fractional_factorial,
    full_factorial,
    order,
    plackett_burman,
    replicate,
    with_control,
)


def names(k: int) -> list[str]:
    return list("abcdefghijklmnopqrstuvwxyz"[:k])


def distinct(design: Design) -> set[tuple[int, ...]]:
    return {tuple(int(level) for level in run) for run in design.runs}


def shortest_word(runs: np.ndarray) -> int:
    """Resolution by brute force: the fewest columns whose product never varies."""
    k = runs.shape[1]
    members = np.arange(1, 2**k)[:, None] >> np.arange(k) & 1
    minus = (runs < 0) @ members.T % 2
    constant = np.ptp(minus, axis=0) == 0
    return int(members[constant].sum(axis=1).min())


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_an_ablation_has_each_alone_all_but_each_and_is_its_own_opposite(k: int) -> None:
    design = ablation(names(k))
    alone = {tuple(1 if i == on else -1 for i in range(k)) for on in range(k)} | {(-1,) * k}
    assert distinct(design) == alone | {tuple(-level for level in run) for run in alone}
    assert len(design.runs) == len(distinct(design))
    assert distinct(design) == {tuple(-level for level in run) for run in distinct(design)}


def test_full_factorial() -> None:
    design = full_factorial(names(4))
    assert len(design.runs) == len(distinct(design)) == 16
    assert design.resolution is None


@pytest.mark.parametrize(
    ("k", "resolution", "runs", "size", "found"),
    [
        (4, 4, None, 8, 4),
        (5, 5, None, 16, 5),
        (6, 4, None, 16, 4),
        (6, 5, None, 32, 6),
        (7, 4, None, 16, 4),
        (7, 4, 32, 32, 4),
        (7, 5, None, 64, 7),
        (8, 4, None, 16, 4),
        (8, 5, None, 64, 5),
        (9, 4, None, 32, 4),
        (9, 5, None, 128, 6),
        (10, 5, None, 128, 5),
        (11, 4, None, 32, 4),
        (11, 5, None, 128, 5),
    ],
)
def test_fractions_of_the_literature(k: int, resolution: int, runs: int | None, size: int, found: int) -> None:
    design = fractional_factorial(names(k), resolution, runs)
    assert (len(design.runs), design.resolution, design.kind) == (size, found, Kind.FRACTION)


@pytest.mark.parametrize(("k", "size"), FRACTIONS)
def test_every_fraction_is_orthogonal_holds_the_baseline_and_has_its_resolution(k: int, size: int) -> None:
    design = fractional_factorial(names(k), 4, size)
    runs = design.runs.astype(int)
    assert len(distinct(design)) == size
    assert (runs.sum(axis=0) == 0).all()
    assert (runs.T @ runs == size * np.eye(k)).all()
    assert (-1,) * k in distinct(design)
    assert design.resolution == shortest_word(runs)


@pytest.mark.parametrize(("k", "resolution"), [(1, 4), (2, 5), (3, 4), (3, 5), (4, 5)])
def test_where_no_fraction_will_do_it_is_the_full_factorial(k: int, resolution: int) -> None:
    design = fractional_factorial(names(k), resolution)
    assert (design.kind, len(design.runs)) == (Kind.FULL, 2**k)


@pytest.mark.parametrize(
    ("k", "size"), [(3, 8), (7, 8), (8, 12), (11, 12), (12, 16), (15, 16), (19, 20), (20, 24), (23, 24)]
)
def test_plackett_burman_is_balanced_and_orthogonal(k: int, size: int) -> None:
    design = plackett_burman(names(k))
    runs = design.runs.astype(int)
    assert len(runs) == size
    assert (runs.sum(axis=0) == 0).all()
    assert (runs.T @ runs == size * np.eye(k)).all()
    assert (runs[-1] == -1).all(), "the baseline"
    assert len(plackett_burman(names(3), size).runs) == size


def test_an_order_measures_each_run_once_and_each_replicate_before_the_next() -> None:
    design = replicate(full_factorial(names(3)), 4)
    sequence = order(design, np.random.default_rng(1))
    assert sorted(sequence) == list(range(32))
    assert all(sorted(block) == list(range(8 * i, 8 * i + 8)) for i, block in enumerate(sequence.reshape(4, 8)))
    assert (order(design, np.random.default_rng(1)) == sequence).all(), "the generator decides"
    assert (order(design, np.random.default_rng(2)) != sequence).any()


def test_every_place_is_as_likely_for_every_run() -> None:
    random, design = np.random.default_rng(1), full_factorial(["a", "b"])
    counts = np.zeros((4, 4))
    for _ in range(2000):
        counts[np.arange(4), order(design, random)] += 1
    assert np.abs(counts - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)


def test_the_control_is_one_more_factor() -> None:
    assert full_factorial(with_control(["a", "b"])).names == ("a", "b", CONTROL)


def test_a_design_cannot_be_changed() -> None:
    for design in (full_factorial(["a"]), replicate(full_factorial(["a"]), 2), plackett_burman(["a"])):
        with pytest.raises(ValueError, match="read-only"):
            design.runs[0, 0] = 1


@pytest.mark.parametrize("design", [ablation, full_factorial, fractional_factorial, plackett_burman])
def test_no_factors_and_duplicates_are_refused(design) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="no factors"):
        design([])
    with pytest.raises(ValueError, match="'a' is named twice"):
        design(["a", "b", "a"])
    with pytest.raises(ValueError, match="give a list"):
        design("ab")


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="12 are the most"):
        full_factorial(names(MOST_FULL + 1))
    with pytest.raises(ValueError, match="resolution 3 is not offered"):
        fractional_factorial(names(5), 3)
    with pytest.raises(ValueError, match="11 are the most"):
        fractional_factorial(names(12))
    with pytest.raises(ValueError, match="cannot have resolution 5: 64 are needed"):
        fractional_factorial(names(7), 5, 16)
    with pytest.raises(ValueError, match=r"24 runs for 7 factors: 16, 32, 64, 128 "):
        fractional_factorial(names(7), 4, 24)
    with pytest.raises(ValueError, match="24 factors are too many for 24 runs"):
        plackett_burman(names(24))
    with pytest.raises(ValueError, match="8 factors are too many for 8 runs"):
        plackett_burman(names(8), 8)
    with pytest.raises(ValueError, match=f"{', '.join(map(str, PLACKETT_BURMAN))} are offered"):
        plackett_burman(names(3), 10)
    with pytest.raises(ValueError, match="once is the least"):
        replicate(full_factorial(["a"]), 0)
