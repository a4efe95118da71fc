"""Who deviates is named, like nodes are not, and it says how little could have been seen."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.nodes import screen, without_passes


def cluster(seed: int = 1, nodes: int = 64, metrics: int = 3) -> np.ndarray:
    return np.exp(0.01 * np.random.default_rng(seed).normal(size=(nodes, metrics)))


def test_the_slow_node_is_named_in_its_metric() -> None:
    values = cluster()
    values[7, 1] *= 1.10
    found = screen(values, worse=[1, 1, 1]).deviations
    assert [(d.node, d.metric) for d in found] == [(7, 1)]
    assert found[0].ratio == pytest.approx(1.10, abs=0.03)
    assert found[0].p <= found[0].q <= 0.05


def test_only_the_worse_direction_accuses() -> None:
    values = cluster()
    values[7, 1] *= 0.9
    assert screen(values, worse=[1, 1, 1]).deviations == []
    assert len(screen(values, worse=[1, -1, 1]).deviations) == 1
    assert len(screen(values).deviations) == 1


def test_classes_are_compared_among_themselves() -> None:
    values = cluster()
    values[:20] *= 1.5
    classes = ["old"] * 20 + ["new"] * 44
    assert screen(values, classes=classes).deviations == []
    assert screen(values, classes=classes).classes == ["new", "old"]
    assert len(screen(values).deviations) >= 3, "without the classes the old ones stand out"


def test_a_wide_interval_excuses() -> None:
    values = cluster(metrics=1)
    values[7] *= 1.10
    low, high = values * 0.99, values * 1.01
    assert len(screen(values, low=low, high=high, worse=[1]).deviations) == 1
    low[7] = values[7] * 0.85
    assert screen(values, low=low, high=high, worse=[1]).deviations == []


def test_like_nodes_are_rarely_accused() -> None:
    accused = sum(bool(screen(cluster(seed), worse=[1, 1, 1]).deviations) for seed in range(200))
    assert accused <= 17


def test_what_could_have_been_seen_is_seen() -> None:
    visible = float(np.median([screen(cluster(s, metrics=1), worse=[1]).visible[0, 0] for s in range(50)]))
    found = 0
    for seed in range(300):
        values = cluster(seed, metrics=1)
        values[5] *= 1 + visible
        found += 5 in {d.node for d in screen(values, worse=[1]).deviations}
    assert found / 300 == pytest.approx(0.9, abs=0.07)


def test_variances_within_and_between() -> None:
    random = np.random.default_rng(1)
    values = np.exp(0.02 * random.normal(size=(2000, 1)))
    half = 1.96 * 0.012
    found = screen(values, low=values * np.exp(-half), high=values * np.exp(half))
    assert found.within[0, 0] == pytest.approx(0.012, rel=0.01)
    assert found.between[0, 0] == pytest.approx(0.016, rel=0.1)


def test_missing_values_and_too_few_nodes() -> None:
    values = cluster(nodes=8)
    values[3, 0] = np.nan
    values[:5, 1] = np.nan
    found = screen(values)
    assert found.deviations == []
    assert np.isfinite(found.visible[0, 0])
    assert np.isnan(found.visible[0, 1]), "three nodes: nobody can say which one is odd"


def test_among_identical_nodes_whoever_differs_stands_out() -> None:
    values = np.ones((32, 1))
    values[4] = 1.02
    assert [d.node for d in screen(values).deviations] == [4]
    values[4] = 1.001
    assert screen(values).deviations == [], "a tenth of a per cent holds nobody up"


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf])
def test_nonsense_is_named_with_its_place(bad: float) -> None:
    values = cluster()
    values[2, 1] = bad
    with pytest.raises(ValueError, match=r"values\[2, 1\]"):
        screen(values)


def test_shapes_and_intervals_are_checked() -> None:
    values = cluster()
    with pytest.raises(ValueError, match="do not fit"):
        screen(values, worse=[1])
    with pytest.raises(ValueError, match="3 classes for 64 nodes"):
        screen(values, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="outside its interval"):
        screen(values, low=values * 1.1)


def test_a_drift_common_to_all_is_taken_out() -> None:
    random = np.random.default_rng(1)
    own = np.exp(0.01 * random.normal(size=(16, 8)))
    drifting = own * np.linspace(1, 2, 8)
    levelled = without_passes(drifting)
    assert np.std(np.log(levelled)) < 0.02
    assert np.allclose(levelled, without_passes(own) * np.median(np.linspace(1, 2, 8)), rtol=0.02)


def test_order_of_nodes_and_units_do_not_matter() -> None:
    values = cluster()
    values[7, 1] *= 1.10
    order = np.random.default_rng(1).permutation(64)
    plain, moved = screen(values).deviations, screen(values[order] * 1e-6).deviations
    assert [(order[d.node], d.metric, round(d.ratio, 9)) for d in moved] == [
        (d.node, d.metric, round(d.ratio, 9)) for d in plain
    ]
