"""One slow node is blamed once; its links are not; noise is not."""

import itertools

import numpy as np
import pytest

from wulf.stats.intervals import Estimate
from wulf.stats.outliers import Link, slow_links, slow_nodes


def estimate(value: float, spread: float = 0.02) -> Estimate:
    return Estimate(value, value * (1 - spread), value * (1 + spread), 0.97, 6)


def cluster(n: int, value: float, slow: dict[str, float], noise: float = 0.03) -> dict[Link, Estimate]:
    random = np.random.default_rng(n)
    names = [f"n{i}" for i in range(1, n + 1)]
    return {
        (a, b): estimate(value * random.lognormal(sigma=noise) * slow.get(a, 1.0) * slow.get(b, 1.0))
        for a, b in itertools.combinations(names, 2)
    }


@pytest.mark.parametrize("n", [3, 4, 8, 32])
def test_the_slow_node_and_only_it(n: int) -> None:
    links = cluster(n, 2.5e9, {"n3": 0.01})
    found = slow_nodes(links, lower_is_better=False)
    assert [outlier.subject for outlier in found] == ["n3"]
    assert found[0].times == pytest.approx(100, rel=0.2)
    assert found[0].low < found[0].value < found[0].high
    assert not slow_links(links, lower_is_better=False, explained=frozenset({"n3"}))


def test_times_are_worse_when_higher() -> None:
    assert [o.subject for o in slow_nodes(cluster(6, 2e-5, {"n2": 3.0}), lower_is_better=True)] == ["n2"]
    assert not slow_nodes(cluster(6, 2e-5, {"n2": 1 / 3}), lower_is_better=True), "faster is not slow"


def test_two_slow_nodes_of_eight() -> None:
    found = slow_nodes(cluster(8, 1e9, {"n3": 0.2, "n7": 0.5}), lower_is_better=False)
    assert [outlier.subject for outlier in found] == ["n3", "n7"], "the worst first"


@pytest.mark.parametrize("seed", range(20))
def test_noise_accuses_nobody(seed: int) -> None:
    random = np.random.default_rng(seed)
    links = {pair: estimate(1e9 * random.lognormal(sigma=0.08)) for pair in itertools.combinations("abcdef", 2)}
    assert not slow_nodes(links, lower_is_better=False)
    assert not slow_links(links, lower_is_better=False)


def test_a_slow_link_between_good_nodes() -> None:
    links = cluster(6, 1e9, {})
    links["n1", "n2"] = estimate(1e8)
    assert not slow_nodes(links, lower_is_better=False)
    assert [outlier.subject for outlier in slow_links(links, lower_is_better=False)] == [("n1", "n2")]


def test_two_nodes_can_not_say_who() -> None:
    assert not slow_nodes({("a", "b"): estimate(1.0), ("b", "a"): estimate(100.0)}, lower_is_better=False)


def test_a_wide_interval_excuses() -> None:
    links = cluster(6, 1e9, {"n3": 0.5})
    wide = {link: estimate(e.value, 0.9) if "n3" in link else e for link, e in links.items() if e.value}
    assert not slow_nodes(wide, lower_is_better=False)


def test_links_without_a_value_are_left_out() -> None:
    links = cluster(4, 1e9, {"n3": 0.01})
    links["n1", "n2"] = Estimate(None, None, None, None, 0, "lost")
    assert [outlier.subject for outlier in slow_nodes(links, lower_is_better=False)] == ["n3"]


def test_a_node_of_which_only_the_link_to_the_slow_one_was_measured_is_not_blamed() -> None:
    links = cluster(5, 1e9, {"n3": 0.02})
    partial = {link: e for link, e in links.items() if "n2" not in link or "n3" in link}
    assert [outlier.subject for outlier in slow_nodes(partial, lower_is_better=False)] == ["n3"]
