"""The one to blame is blamed, once; its links are not; noise is not."""

import itertools
from collections.abc import Mapping

import numpy as np
import pytest

from wulf.stats.cluster.blame import Blame, blame
from wulf.stats.cluster.outliers import Link, Outlier, Way
from wulf.stats.estimates import Estimate


def estimate(value: float, spread: float = 0.02) -> Estimate:
    return Estimate(value, value * (1 - spread), value * (1 + spread), 0.97, 6)


def rates(links: Mapping[Link, Estimate], *, directed: bool = False) -> Blame:
    return blame(links, lower_is_better=False, directed=directed)


def slow_nodes(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> tuple[Outlier, ...]:
    return blame(links, lower_is_better=lower_is_better, directed=False).nodes


def slow_links(links: Mapping[Link, Estimate]) -> tuple[Outlier, ...]:
    return rates(links).links


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
    assert not slow_links(links)


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
    assert not slow_links(links)


def test_a_slow_link_between_good_nodes() -> None:
    links = cluster(6, 1e9, {})
    links["n1", "n2"] = estimate(1e8)
    assert not slow_nodes(links, lower_is_better=False)
    assert [outlier.subject for outlier in slow_links(links)] == [("n1", "n2")]


LOSSES = {  # Mbit/s: a survey of a real lab whose n3 loses a fifth of what it sends, on a busy host
    ("n1", "n2"): (188, 176, 191), ("n2", "n1"): (187, 153, 191), ("n1", "n4"): (190, 188, 191),
    ("n4", "n1"): (190, 181, 191), ("n2", "n4"): (188, 165, 191), ("n4", "n2"): (189, 186, 191),
    ("n1", "n3"): (190, 182, 192), ("n2", "n3"): (191, 175, 191), ("n4", "n3"): (189, 182, 191),
    ("n3", "n1"): (110, 6.58, 131), ("n3", "n2"): (51.7, 5.03, 113), ("n3", "n4"): (77.1, 14, 112),
}  # fmt: skip


def test_all_links_of_a_sender_are_the_sender_however_much_they_differ() -> None:
    links = {link: Estimate(*figures, 0.97, 6) for link, figures in LOSSES.items()}
    found = rates(links, directed=True)
    assert [(one.subject, one.way) for one in found.nodes] == [("n3", Way.SEND)]
    assert found.nodes[0].value == pytest.approx(110) and found.nodes[0].high == pytest.approx(131)
    assert not found.links


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
    found = slow_links(links)
    assert [(o.subject, o.unsure) for o in found] == [(link, ())]


def test_with_one_partner_a_node_can_not_be_told_from_its_link() -> None:
    links = sampled(40, 1, {"n7": 5.0})
    assert not slow_nodes(links, lower_is_better=False), "its partner may be as guilty"
    found = slow_links(links)
    (outlier,) = found
    assert "n7" in outlier.subject
    assert outlier.way is Way.BOTH
    assert set(outlier.unsure) == set(outlier.subject)


def test_where_two_readings_are_as_good_one_is_chosen_and_its_rest_is_unsure() -> None:
    """n7 is slow to both partners, one of them to its other partner, too: a node and a link, whichever the node is."""
    links = sampled(40, 2, {"n7": 5.0})
    partner = next(a for a, b in links if b == "n7")
    other = next(link for link in links if partner in link and "n7" not in link)
    links[other] = links[other[::-1]] = estimate(1e8)
    found = rates(links)
    (node,), (link,) = found.nodes, found.links
    assert node.subject in ("n7", partner)
    assert node.subject not in link.subject
    assert set(link.unsure) == {"n7", partner} - {node.subject}


NAMES = [f"n{i}" for i in range(1, 9)]


def both_ways(
    sends: Mapping[str, float], receives: Mapping[str, float] = {}, links: Mapping[Link, float] = {}, n: int = 4,
    seed: int = 1,
) -> dict[Link, Estimate]:  # fmt: skip
    """Streams of all pairs: a link is as fast as the slowest of sender, receiver and path; a share of 1 is healthy."""
    random = np.random.default_rng(seed)
    return {
        (a, b): estimate(
            1e9 * random.lognormal(sigma=0.03) * min(sends.get(a, 1.0), receives.get(b, 1.0), links.get((a, b), 1.0))
        )
        for a, b in itertools.permutations([f"n{i}" for i in range(1, n + 1)], 2)
    }


def told(found: Blame) -> tuple[list[tuple[object, Way]], list[tuple[object, Way]]]:
    return [(o.subject, o.way) for o in found.nodes], [(o.subject, o.way) for o in found.links]


@pytest.mark.parametrize("n", [3, 4, 6, 16])
def test_a_slow_sender_is_blamed_once_and_with_its_direction(n: int) -> None:
    found = rates(both_ways({"n3": 0.3}, n=n), directed=True)
    assert told(found) == ([("n3", Way.SEND)], [])
    assert found.nodes[0].partners == n - 1
    assert told(rates(both_ways({}, {"n3": 0.3}, n=n), directed=True)) == ([("n3", Way.RECEIVE)], [])
    assert told(rates(both_ways({"n3": 0.5}, {"n3": 0.3}, n=n), directed=True)) == ([("n3", Way.BOTH)], [])


def test_a_sender_and_a_receiver_are_two() -> None:
    found = rates(both_ways({"n1": 0.3}, {"n2": 0.2}), directed=True)
    assert sorted(told(found)[0]) == [("n1", Way.SEND), ("n2", Way.RECEIVE)]
    assert told(found)[1] == []


def test_two_slow_nodes_of_four_whose_own_link_is_slow_too() -> None:
    found = rates(both_ways({"n1": 0.3, "n2": 0.3}, {"n1": 0.3, "n2": 0.3}), directed=True)
    assert sorted(told(found)[0]) == [("n1", Way.BOTH), ("n2", Way.BOTH)]
    assert not found.groups


@pytest.mark.parametrize("n", [4, 8])
def test_one_way_of_a_link_and_both(n: int) -> None:
    one = both_ways({}, links={("n1", "n3"): 0.2}, n=n)
    assert told(rates(one, directed=True)) == ([], [(("n1", "n3"), Way.SEND)])
    both = both_ways({}, links={("n1", "n3"): 0.2, ("n3", "n1"): 0.1}, n=n)
    assert told(rates(both, directed=True)) == ([], [(("n1", "n3"), Way.BOTH)])


def test_a_slow_sender_and_a_bad_link_elsewhere() -> None:
    found = rates(both_ways({"n1": 0.3}, links={("n3", "n4"): 0.2}), directed=True)
    assert told(found) == ([("n1", Way.SEND)], [(("n3", "n4"), Way.SEND)])


def test_a_link_far_worse_than_its_slow_node_is_blamed_besides() -> None:
    found = rates(both_ways({"n3": 0.4}, {"n3": 0.4}, {("n3", "n1"): 0.04}, n=6), directed=True)
    assert told(found) == ([("n3", Way.BOTH)], [(("n3", "n1"), Way.SEND)])
    assert found.links[0].expected == pytest.approx(4e8, rel=0.2)


@pytest.mark.parametrize(("n", "size"), [(4, 2), (8, 2), (8, 4), (8, 3)])
@pytest.mark.parametrize("one_way", [False, True])
def test_nodes_that_are_fast_among_themselves_are_cut_off_not_slow(n: int, size: int, one_way: bool) -> None:
    inside = {f"n{i}" for i in range(1, size + 1)}
    across = {
        (a, b): 0.2
        for a, b in itertools.permutations([f"n{i}" for i in range(1, n + 1)], 2)
        if (a in inside) != (b in inside) and (a in inside or not one_way)
    }
    found = rates(both_ways({}, links=across, n=n), directed=True)
    assert told(found) == ([], [])
    (group,) = found.groups
    assert {*group.nodes, *group.others} == set(NAMES[:n])
    assert inside in (set(group.nodes), set(group.others))
    leaving = set(group.nodes) == inside
    assert group.way is (Way.BOTH if not one_way else Way.SEND if leaving else Way.RECEIVE)
    assert group.times == pytest.approx(5, rel=0.2)


def test_a_group_and_a_slow_node_at_once() -> None:
    across = {(a, b): 0.4 for a, b in itertools.permutations(NAMES, 2) if ({a, b} & {"n1", "n2"} == {a} or
              {a, b} & {"n1", "n2"} == {b})}  # fmt: skip
    found = rates(both_ways({"n5": 0.05}, {"n5": 0.05}, across, n=8), directed=True)
    assert [set(group.nodes) for group in found.groups] == [{"n1", "n2"}]
    assert told(found) == ([("n5", Way.BOTH)], [])


@pytest.mark.parametrize("seed", range(20))
def test_noise_in_both_ways_accuses_nobody(seed: int) -> None:
    random = np.random.default_rng(seed)
    links = {pair: estimate(1e9 * random.lognormal(sigma=0.08)) for pair in itertools.permutations("abcdef", 2)}
    assert rates(links, directed=True) == Blame()
