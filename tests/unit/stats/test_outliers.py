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


def sampled(n: int, rounds: int, slow: dict[str, float], bad: dict[Link, float] | None = None) -> dict[Link, Estimate]:
    """Each node with `rounds` partners: the circle method's first rounds, both ways."""
    random = np.random.default_rng(n)
    found = {}
    for number in range(rounds):
        for i in range(n - 1):
            j = (number - i) % (n - 1)
            pair = (i, j) if i < j else (i, n - 1) if i == j else None
            for a, b in [pair, pair[::-1]] if pair else []:
                link = (f"n{a}", f"n{b}")
                worse = slow.get(link[0], 1.0) * slow.get(link[1], 1.0) * (bad or {}).get(link, 1.0)
                found[link] = estimate(1e9 * random.lognormal(sigma=0.03) / worse)
    return found


@pytest.mark.parametrize("rounds", [2, 3, 4, 8])
def test_a_sample_tells_a_slow_node_from_a_slow_link(rounds: int) -> None:
    whole = sampled(40, rounds, {"n7": 5.0})
    link = next(link for link in whole if "n7" not in link)
    links = sampled(40, rounds, {"n7": 5.0}, {link: 4.0})
    assert [o.subject for o in slow_nodes(links, lower_is_better=False)] == ["n7"]
    found = slow_links(links, lower_is_better=False, explained=frozenset({"n7"}))
    assert [(o.subject, o.unsure) for o in found] == [(link, ())]


def test_with_one_partner_a_node_can_not_be_told_from_its_link() -> None:
    links = sampled(40, 1, {"n7": 5.0})
    assert not slow_nodes(links, lower_is_better=False), "its partner may be as guilty"
    found = slow_links(links, lower_is_better=False)
    assert len(found) == 2, "both ways"
    for outlier in found:
        assert "n7" in outlier.subject
        assert set(outlier.unsure) == set(outlier.subject)


def test_a_node_whose_other_partner_is_slow_is_not_cleared_by_it() -> None:
    links = sampled(40, 2, {"n7": 5.0})
    partner = next(a for a, b in links if b == "n7")
    other = next(link for link in links if partner in link and "n7" not in link)
    links[other] = links[other[::-1]] = estimate(1e8)
    found = slow_links(links, lower_is_better=False, explained=frozenset({"n7"}))
    assert {o.subject for o in found} == {other, other[::-1]}
    assert all(o.unsure == (partner,) for o in found)


@pytest.mark.parametrize("n", [5, 6, 40])
def test_what_need_not_be_looked_at_would_not_have_been_blamed(n: int) -> None:
    """The shortcut for large clusters changes no answer: held against asking everybody."""
    from wulf.stats.outliers import _stands_out, odd_ones

    random = np.random.default_rng(n)
    for lower in (True, False):
        for _ in range(50):
            figures = {i: estimate(float(v)) for i, v in enumerate(random.lognormal(sigma=0.4, size=n))}
            values = np.array([e.value for e in figures.values()])
            slow = [
                i for i, e in figures.items() if _stands_out(e, np.delete(values, i), lower_is_better=lower) is not None
            ]
            assert [subject for subject, _ in odd_ones(figures, lower_is_better=lower)] == slow
