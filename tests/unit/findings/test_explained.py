"""What nodes, groups and links that stand out explain."""

from __future__ import annotations

from wulf.findings.explained import Explained
from wulf.stats.cluster.outliers import Outlier, Way


def test_a_sender_explains_what_it_sends_and_round_trips() -> None:
    found = Explained().and_node("n3", Way.SEND, ["TCP throughput"])
    assert found.one_way("n3", "n1")
    assert not found.one_way("n1", "n3")
    assert found.both_ways("n1", "n3")
    assert not found.both_ways("n1", "n2")


def test_a_node_explains_nothing_in_the_metric_in_which_it_was_compared_itself() -> None:
    found = Explained().and_node("n3", Way.BOTH, ["TCP throughput"])
    assert not found.one_way("n3", "n1", besides="TCP throughput")
    assert found.one_way("n3", "n1", besides="TCP round trip")
    assert found.slow_ends("n3", "n1", "TCP throughput", directed=True) == ["n3"]
    assert found.slow_ends("n3", "n1", "TCP round trip", directed=False) == []


def test_ways_of_one_node_add_up() -> None:
    found = Explained().and_node("n3", Way.SEND, ["a"]).and_node("n3", Way.RECEIVE, ["b"])
    assert (found.sends, found.receives) == ({"n3": {"a"}}, {"n3": {"b"}})
    assert found.slow_ends("n1", "n3", "a", directed=False) == ["n3"]


def test_groups_and_links() -> None:
    group = Explained(groups=(frozenset({"n1", "n2"}),))
    assert group.one_way("n1", "n3")
    assert not group.one_way("n1", "n2")
    link = Explained().and_links([Outlier(("n1", "n2"), 1, 1, 1, 2, 2, way=Way.SEND)])
    assert link.one_way("n1", "n2")
    assert not link.one_way("n2", "n1")
    both = Explained().and_links([Outlier(("n1", "n2"), 1, 1, 1, 2, 2, way=Way.BOTH)])
    assert both.one_way("n2", "n1")
