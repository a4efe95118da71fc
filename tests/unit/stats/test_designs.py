"""Designs have the sizes, resolutions and balance of the literature; orders are random and save reboots."""

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
    leave_one_out,
    one_at_a_time,
    order,
    plackett_burman,
    replicate,
    split_plot,
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


def test_one_at_a_time() -> None:
    assert one_at_a_time(names(3)).runs.tolist() == [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1]]
    assert one_at_a_time(["a"]).runs.tolist() == [[-1], [1]], "alone is all"


def test_leave_one_out() -> None:
    assert leave_one_out(names(3)).runs.tolist() == [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1], [-1, -1, -1]]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_an_ablation_is_both_and_its_own_opposite(k: int) -> None:
    design = ablation(names(k))
    assert distinct(design) == distinct(one_at_a_time(names(k))) | distinct(leave_one_out(names(k)))
    assert len(design.runs) == len(distinct(design))
    assert distinct(design) == {tuple(-level for level in run) for run in distinct(design)}


def test_full_factorial() -> None:
    design = full_factorial(names(4))
    assert len(design.runs) == len(distinct(design)) == 16
    assert design.resolution is None and design.aliases == ()


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
    assert (design.aliases == ()) == (design.resolution >= 5), "V keeps interactions of two clear of one another"


@pytest.mark.parametrize(("k", "resolution"), [(1, 4), (2, 5), (3, 4), (3, 5), (4, 5)])
def test_where_no_fraction_will_do_it_is_the_full_factorial(k: int, resolution: int) -> None:
    design = fractional_factorial(names(k), resolution)
    assert (design.kind, len(design.runs)) == (Kind.FULL, 2**k)


def test_generators_and_aliases_can_be_read() -> None:
    assert fractional_factorial(names(5)).generators == ("e = −a × b × c × d",)
    design = fractional_factorial(names(4), 4)
    assert design.generators == ("d = a × b × c",)
    assert design.aliases == ("a × b + c × d", "a × c + b × d", "a × d + b × c")
    assert fractional_factorial(names(7), 4, 32).aliases == ("c × e + f × g", "c × f + e × g", "c × g + e × f")


def test_partial_aliases_can_be_read() -> None:
    assert plackett_burman(names(6), 12).aliases[0].startswith("a, partly b × c, b × d, b × e, b × f, c × d")
    assert plackett_burman(names(3), 12).aliases == (), "three factors are all seen, interactions too"
    assert one_at_a_time(names(3)).aliases[0] == "a, partly a × b, a × c, b × c"
    assert ablation(names(4)).aliases == (), "a foldover keeps main effects clear"


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


def test_standard_errors_at_48_runs_and_five_knobs() -> None:
    factorial = replicate(fractional_factorial(names(5)), 3)
    alone = one_at_a_time(names(5))
    single = replicate(Design(alone.names, alone.runs[:-1], Kind.ONE_AT_A_TIME), 8)
    assert len(factorial.runs) == len(single.runs) == 48
    assert factorial.effect_errors() == pytest.approx([0.2887] * 5, abs=1e-4)
    assert single.effect_errors() == pytest.approx([0.5] * 5)


def test_runs_that_tell_nothing_apart_have_no_errors() -> None:
    with pytest.raises(ValueError, match="cannot tell the effects of 2 factors apart"):
        Design(("a", "b"), np.array([[-1, -1], [1, 1]], dtype=np.int8), Kind.FULL).effect_errors()


def test_split_plot_varies_the_cheap_factors_within_each_whole_plot() -> None:
    design = split_plot(["w", "x"], ["a", "b", "c"])
    assert design.names == ("w", "x", "a", "b", "c")
    assert len(distinct(design)) == 32
    assert design.plots is not None and design.reboots == 4
    for plot in range(4):
        part = design.runs[design.plots == plot]
        assert len(np.unique(part[:, :2], axis=0)) == 1
        assert len(np.unique(part[:, 2:], axis=0)) == 8


def test_split_plot_of_fractions() -> None:
    design = split_plot(["w"], names(5), resolution=5)
    assert (len(design.runs), design.reboots, design.resolution) == (32, 2, 5)
    assert design.generators == ("e = −a × b × c × d",)


def test_replicates_of_whole_plots_are_plots_of_their_own() -> None:
    design = replicate(replicate(split_plot(["w"], ["a"]), 2), 3)
    assert (len(design.runs), design.reboots, design.replicates) == (24, 12, 6)


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


def test_reboots_are_exactly_the_whole_plots() -> None:
    design = replicate(split_plot(["w", "x"], ["a", "b"]), 3)
    random = np.random.default_rng(1)
    for _ in range(20):
        sequence = order(design, random)
        assert design.plots is not None
        plots, levels = design.plots[sequence], design.runs[sequence]
        assert 1 + np.count_nonzero(np.diff(plots)) == design.reboots == 12
        for plot in range(12):
            assert len(np.unique(levels[plots == plot][:, :2], axis=0)) == 1


def test_whole_plots_come_in_random_order() -> None:
    design, random = split_plot(["w"], ["a"]), np.random.default_rng(1)
    first = [int(order(design, random)[0]) // 2 for _ in range(400)]
    assert 150 < sum(first) < 250


def test_the_control_is_one_more_factor() -> None:
    assert full_factorial(with_control(["a", "b"])).names == ("a", "b", CONTROL)


def test_a_design_cannot_be_changed() -> None:
    for design in (full_factorial(["a"]), replicate(full_factorial(["a"]), 2), plackett_burman(["a"])):
        with pytest.raises(ValueError, match="read-only"):
            design.runs[0, 0] = 1


@pytest.mark.parametrize(
    "design", [one_at_a_time, leave_one_out, ablation, full_factorial, fractional_factorial, plackett_burman]
)
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
    with pytest.raises(ValueError, match="'a' is named twice"):
        split_plot(["a"], ["b", "a"])
    with pytest.raises(ValueError, match="no factors"):
        split_plot([], ["a"])
    with pytest.raises(ValueError, match="once is the least"):
        replicate(full_factorial(["a"]), 0)
