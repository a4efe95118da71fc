"""Who deviates is named, like nodes are not, and it says how little could have been seen."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.cluster.nodes import LEAST_SPREADS, MARGIN, least_spreads, screen, visible_from, without_own

BETWEEN, ERROR = 0.005, 0.003


def cluster(seed: int = 1, nodes: int = 64, metrics: int = 3) -> np.ndarray:
    return np.exp(np.hypot(BETWEEN, ERROR) * np.random.default_rng(seed).normal(size=(nodes, metrics)))


def accused(values: np.ndarray, **more: object) -> list[tuple[int, int]]:
    errors = more.pop("errors", np.full(values.shape, ERROR))
    return [(d.node, d.metric) for d in screen(values, errors=errors, **more).deviations]  # type: ignore[arg-type]


def test_the_slow_node_is_named_in_its_metric() -> None:
    values = cluster()
    values[7, 1] *= 1.10
    (found,) = screen(values, errors=np.full(values.shape, ERROR), worse=[1, 1, 1]).deviations
    assert (found.node, found.metric) == (7, 1)
    assert found.ratio == pytest.approx(1.10, abs=0.02)
    assert 1 + MARGIN < found.low < found.ratio < found.high
    assert found.p < 1e-6


def test_only_the_worse_direction_accuses() -> None:
    values = cluster()
    values[7, 1] *= 0.9
    assert accused(values, worse=[1, 1, 1]) == []
    assert accused(values, worse=[1, -1, 1]) == [(7, 1)]
    assert accused(values) == [(7, 1)]


def test_classes_are_compared_among_themselves() -> None:
    values = cluster()
    values[:20] *= 1.5
    classes = ["old"] * 20 + ["new"] * 44
    assert accused(values, classes=classes) == []
    assert screen(values, classes=classes).classes == ["new", "old"]
    assert len(accused(values)) >= 3, "without the classes the old ones stand out"


def test_a_large_error_excuses() -> None:
    values = cluster(metrics=1)
    values[7] *= 1.10
    errors = np.full(values.shape, ERROR)
    assert accused(values, errors=errors, worse=[1]) == [(7, 0)]
    errors[7] = 0.05
    assert accused(values, errors=errors, worse=[1]) == []


def test_an_error_of_few_degrees_of_freedom_excuses_too() -> None:
    values = cluster(metrics=1)
    values[7] *= 1.05
    assert accused(values, worse=[1]) == [(7, 0)]
    assert accused(values, worse=[1], freedom=np.full(values.shape, 1.0)) == []


def test_heavy_tailed_errors_accuse_none_of_many() -> None:
    random = np.random.default_rng(1)
    values = np.exp(0.02 * random.standard_t(10, size=(10_000, 1)))
    errors = np.full(values.shape, 0.02)
    assert accused(values, errors=errors, worse=[1])
    assert accused(values, errors=errors, worse=[1], freedom=np.full(values.shape, 10.0)) == []


def test_beyond_the_margin_and_no_nearer() -> None:
    values = np.exp(0.0005 * np.random.default_rng(1).normal(size=(64, 1)))
    values[4] *= 1.025
    errors = np.full(values.shape, 0.0005)
    assert accused(values, errors=errors) == [], "fifty spreads away, and it holds nobody up"
    assert accused(values, errors=errors, margin=0.01) == [(4, 0)]


def test_where_nodes_differ_anyway_nobody_is_odd() -> None:
    values = np.exp(0.03 * np.random.default_rng(1).normal(size=(64, 1)))
    values[4] = np.median(values) * 1.08
    assert accused(values, worse=[1]) == []


def test_of_a_million_figures_the_furthest_is_further_away() -> None:
    assert least_spreads(4) == LEAST_SPREADS
    assert least_spreads(1_000_000) == pytest.approx(5.5, abs=0.1)


def test_tails_accuse_only_those_that_truly_are_beyond() -> None:
    random = np.random.default_rng(1)
    false = found = 0
    for _ in range(40):
        own = BETWEEN * random.standard_t(2, size=1000) / 1.21
        medians, _ = without_own(own)
        named = [node for node, _ in accused(np.exp(own + ERROR * random.normal(size=1000))[:, None], worse=[1])]
        found += len(named)
        false += any(own[node] - medians[node] <= np.log1p(MARGIN) for node in named)
    assert found > 200
    assert false <= 5


def test_the_expected_number_of_false_ones_is_bounded_over_all() -> None:
    """One that may be within the margin in truth is named alone, and not beside others as unsure."""
    values = np.ones((64, 40))
    values[5] = 1.03 * np.exp(2.2 * ERROR)
    errors = np.full(values.shape, ERROR)
    assert accused(values[:, :1], errors=errors[:, :1], worse=[1]) == [(5, 0)]
    assert len(accused(values, errors=errors, worse=np.ones(40))) == 1


def test_like_nodes_are_left_alone() -> None:
    assert not any(accused(cluster(seed), worse=[1, 1, 1]) for seed in range(100))


@pytest.mark.parametrize("nodes", [4, 5, 16, 64])
def test_what_could_have_been_seen_is_seen(nodes: int) -> None:
    visible = float(visible_from(nodes, BETWEEN, ERROR))
    found, surveys = 0, 400
    for seed in range(surveys):
        values = cluster(seed, nodes, metrics=1)
        values[2] *= 1 + visible
        found += (2, 0) in accused(values, worse=[1])
    assert found / surveys == pytest.approx(0.9, abs=0.04)


def test_of_four_nodes_a_tenth_is_visible_and_noise_makes_it_more() -> None:
    rest, busy = visible_from(4, BETWEEN, [0.0036, 0.018])
    assert 0.04 < rest < 0.10 < busy
    assert visible_from(64, BETWEEN, 0.0036) < rest
    assert visible_from(64, BETWEEN, 0.0036, resolution=0.05) > 0.2, "four ticks"
    assert visible_from(64, BETWEEN, 0.0036, margin=0.1) > 0.1


def test_variances_within_and_between() -> None:
    random = np.random.default_rng(1)
    values = np.exp(0.02 * random.normal(size=(2000, 1)))
    found = screen(values, errors=np.full(values.shape, 0.012))
    assert found.within[0, 0] == pytest.approx(0.012, rel=0.01)
    assert found.between[0, 0] == pytest.approx(0.016, rel=0.1)
    assert found.visible[0, 0] == pytest.approx(float(visible_from(2000, 0.016, 0.012)), rel=0.1)


def test_missing_values_and_too_few_nodes() -> None:
    values = cluster(nodes=8)
    values[3, 0] = np.nan
    values[:5, 1] = np.nan
    found = screen(values)
    assert found.deviations == []
    assert np.isfinite(found.visible[0, 0])
    assert np.isnan(found.visible[0, 1]), "three nodes: nobody can say which one is odd"
    assert found.sizes.tolist() == [[7, 3, 8]]


def test_a_tick_is_no_deviation_and_five_are() -> None:
    values = np.full((32, 1), 20.0)
    errors, tick = np.full(values.shape, 1e-6), [np.log(21 / 20)]
    values[4] = 21.0
    assert accused(values, errors=errors, resolution=tick) == []
    values[4] = 25.0
    assert accused(values, errors=errors, resolution=tick) == [(4, 0)]


def test_the_others_are_those_without_oneself() -> None:
    for n in (4, 5, 8, 9):
        x = np.random.default_rng(n).integers(0, 4, n).astype(float)
        medians, deviations = without_own(x)
        for i in range(n):
            others = np.delete(x, i)
            assert medians[i] == np.median(others)
            assert deviations[i] == np.median(np.abs(others - np.median(others)))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf])
def test_nonsense_is_named_with_its_place(bad: float) -> None:
    values = cluster()
    values[2, 1] = bad
    with pytest.raises(ValueError, match=r"values\[2, 1\]"):
        screen(values)


def test_shapes_are_checked() -> None:
    values = cluster()
    with pytest.raises(ValueError, match="worse"):
        screen(values, worse=[1])
    with pytest.raises(ValueError, match="3 classes for 64 nodes"):
        screen(values, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="errors"):
        screen(values, errors=values[:3])


def test_order_of_nodes_and_units_do_not_matter() -> None:
    values = cluster()
    values[7, 1] *= 1.10
    order = np.random.default_rng(1).permutation(64)
    assert [(order[node], metric) for node, metric in accused(values[order] * 1e-6)] == accused(values) == [(7, 1)]
