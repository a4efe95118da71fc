"""Settings of nodes as knobs of a search: changed for a run alone, and undone on every way out."""

from __future__ import annotations

import pytest

from tests.unit.workflow.tune_fakes import FakeCluster, FakeNode, setting
from wulf.core.errors import WulfError
from wulf.search.trial import OK, Outcome
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.campaign.plan import Campaign
from wulf.tune.campaign.selecting import Selection
from wulf.tune.setting import Aim
from wulf.workflow.search.settings import SettingKnobs
from wulf.workflow.tune.nodes import Nodes

NAMES = ("n1", "n2")
VALUES = {"t.a": (0, 1, 2), "t.b": (10, 20)}


def make(**of_nodes):
    """A cluster of two whose settings are a = 0 and b = 10, and the knobs over it."""
    cluster = FakeCluster({name: FakeNode(name, {("t.a", ""): 0, ("t.b", ""): 10}, **of_nodes) for name in NAMES})
    nodes = Nodes(
        NAMES, cluster.open, "c1", "me@here", confirm=30.0, lease=120.0, clock=lambda: 0.0, sleep=lambda _: None
    )
    nodes.open()
    catalogue = {name: setting(name) for name in VALUES}
    campaign = Campaign(Aim.LATENCY, NAMES, Selection(()), CampaignMetric("x", "s"), "a program", 1.0, blocks=1, seed=1)
    readings = {name: {key: {"": {"value": value}} for key, value in (("t.a", 0), ("t.b", 10))} for name in NAMES}
    return cluster, SettingKnobs(campaign, catalogue, nodes, lambda _: None, readings)


def values(cluster):
    return [{key: value for (key, _), value in node.values.items()} for node in cluster.nodes.values()]


BEFORE = [{"t.a": 0, "t.b": 10}] * 2


def test_a_run_has_the_settings_of_its_configuration_and_the_next_begins_from_what_was_there():
    cluster, knobs = make()
    seen = []

    def run():
        seen.append(values(cluster))
        return Outcome(OK, 1.0, 1.0, 1.0)

    with knobs.held():
        knobs.try_all(VALUES)
        assert values(cluster) == BEFORE
        for a, b in ((2, 20), (0, 10), (1, 10)):
            assert knobs.visit({"t.a": a, "t.b": b}, run).verdict == OK
            assert values(cluster) == BEFORE
    assert seen == [[{"t.a": 2, "t.b": 20}] * 2, BEFORE, [{"t.a": 1, "t.b": 10}] * 2]
    assert all(node.holder is None for node in cluster.nodes.values())
    assert not knobs.told.leftovers


def test_a_value_that_a_node_refuses_is_an_outcome_and_no_run():
    cluster, knobs = make(refuse={"t.b": "not permitted"})
    with knobs.held():
        knobs.try_all(VALUES)
        found = knobs.visit({"t.a": 1, "t.b": 20}, lambda: pytest.fail("it ran"))
        assert found.verdict == "failed"
        assert "t.b = 20 can't be set: not permitted" in found.reason
        assert knobs.visit({"t.a": 1, "t.b": 10}, lambda: Outcome(OK, 1.0, 1.0, 1.0)).verdict == OK
    assert values(cluster) == BEFORE


@pytest.mark.parametrize("error", [KeyboardInterrupt, WulfError])
def test_whatever_ends_a_search_undoes_its_changes(error):
    cluster, knobs = make()

    def run():
        assert values(cluster) != BEFORE
        raise error("no more")

    with pytest.raises(error), knobs.held():
        knobs.try_all(VALUES)
        knobs.visit({"t.a": 2, "t.b": 20}, run)
    assert values(cluster) == BEFORE
    assert all(node.holder is None for node in cluster.nodes.values())


def test_what_somebody_else_changed_meanwhile_stops_the_search_and_is_said():
    cluster, knobs = make()

    def run():
        cluster.nodes["n2"].values["t.a", ""] = 7
        return Outcome(OK, 1.0, 1.0, 1.0)

    with pytest.raises(WulfError, match="somebody else changed it"), knobs.held():
        knobs.try_all(VALUES)
        knobs.visit({"t.a": 2, "t.b": 10}, run)
    assert values(cluster) == [{"t.a": 0, "t.b": 10}, {"t.a": 7, "t.b": 10}]
    assert [one.outcome for one in knobs.told.leftovers] == ["changed-since"]


def test_a_run_whose_settings_a_node_took_back_meanwhile_is_run_again():
    cluster, knobs = make()
    runs = []

    def run():
        runs.append(values(cluster))
        if len(runs) == 1:
            cluster.nodes["n2"].take_back()
        return Outcome(OK, float(len(runs)), 1.0, 1.0)

    with knobs.held():
        knobs.try_all(VALUES)
        assert knobs.visit({"t.a": 2, "t.b": 10}, run).cost == 2.0
        always = knobs.visit({"t.a": 2, "t.b": 10}, lambda: _lost(cluster))
    assert "went back by itself" in always.reason
    assert values(cluster) == BEFORE


def test_a_search_that_goes_on_takes_back_first_what_it_left():
    cluster, knobs = make()
    knobs.try_all({})
    with pytest.raises(KeyboardInterrupt):
        knobs.visit({"t.a": 2, "t.b": 20}, _killed)
    assert values(cluster) == [{"t.a": 2, "t.b": 20}] * 2  # nobody has taken anything back: as after kill -9
    again = Nodes(NAMES, cluster.open, "c1", "me@here", confirm=30.0, lease=120.0)
    again.open()
    assert again.recover() == []
    assert values(cluster) == BEFORE


def _lost(cluster):
    cluster.nodes["n1"].take_back()
    return Outcome(OK, 1.0, 1.0, 1.0)


def _killed():
    raise KeyboardInterrupt
