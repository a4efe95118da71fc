"""The choice: by hand, against every design there is, with more money never worse; what a gain is worth."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf
from time import process_time

import numpy as np
import pytest

from wulf.model.cost import from_interval
from wulf.model.design.frontier import Design, Pair, choose, worth_of
from wulf.model.design.prices import Build, CostStep, Fabric, Node, Running, Site, Switch, bill_of
from wulf.model.design.timing import of_parts
from wulf.model.draws import known

SITE = Site(
    (CostStep("rack", 400.0, nodes=6),), (Build("own", 100.0, 20.0), Build("turn-key", share=0.08)), Running(2.0)
)
CHEAP = Fabric("cheap", 20.0, 0.0, (Switch(8, 100.0), Switch(16, 350.0)))
DEAR = Fabric("dear", 200.0, 0.0, (Switch(12, 900.0),))
SLOW, FAST = Node("slow", 500.0, 100.0), Node("fast", 1100.0, 180.0, workers=2)
WORK = of_parts(1000.0, 4.0, 1.0, 3.0)
WORK_OF_THOUSANDS = of_parts(1e7, 1.0, 0.0, 0.001)


def pairs() -> list[Pair]:
    return [
        Pair(node, fabric, WORK.scaled(known(time), known(message), node.workers))
        for node, time in ((SLOW, 1.0), (FAST, 0.9))
        for fabric, message in ((CHEAP, 1.0), (DEAR, 0.2))
    ]


def every(limit: float, *, owned: bool = False) -> list[tuple[float, float, str, int, str]]:
    """All designs by two loops: cost, seconds, and which."""
    found = []
    for pair in pairs():
        for n in range(1, 400):
            bill = bill_of(pair.node, pair.fabric, SITE, np.array([float(n)]))
            cost = float((bill.owned if owned else bill.price)[0])
            if cost <= limit:
                found.append(
                    (cost, float(pair.timing.at(np.array([float(n)]))[0]), pair.node.name, n, pair.fabric.name)
                )
    return found


def words(one: Design) -> tuple[str, int, str]:
    return one.pair.node.name, one.nodes, one.pair.fabric.name


def test_a_design_by_hand() -> None:
    """$3,000 at $500 a node and $20 a port with one switch of $100 pay for five, and 1000/5 s."""
    choice = choose([Pair(SLOW, replace(CHEAP, switches=(Switch(8, 100.0),)), of_parts(1000.0))], Site(), 3000.0)
    assert choice.best is not None
    assert (choice.best.nodes, choice.best.cost, choice.best.time.value) == (5, 2700.0, 200.0)
    assert choice.more is not None and choice.more.design.nodes == 7
    assert choice.more.over.value == pytest.approx(5 / 7)
    assert choice.sooner is not None and choice.sooner.design.cost == 6 * 520 + 100


@pytest.mark.parametrize("budget", [1000.0, 2500.0, 8000.0, 21_000.0])
def test_the_best_is_the_fastest_of_all_designs(budget: float) -> None:
    choice = choose(pairs(), SITE, budget)
    assert choice.best is not None
    cost, seconds, *which = min(every(budget), key=lambda one: (one[1], one[0]))
    assert words(choice.best) == tuple(which)
    assert choice.best.cost == pytest.approx(cost)
    assert choice.best.time.value == pytest.approx(seconds)


@pytest.mark.parametrize("owned", [False, True])
def test_the_frontier_is_that_of_all_designs(owned: bool) -> None:
    """No design is both as cheap and faster, or cheaper and as fast, than one of the frontier."""
    choice = choose(pairs(), SITE, 9000.0, owned=owned)
    rest = every(18_000.0, owned=owned)
    undominated = {
        tuple(which) for cost, seconds, *which in rest
        if not any((c <= cost and s < seconds) or (c < cost and s <= seconds) for c, s, *_ in rest)
    }  # fmt: skip
    assert {words(one) for one in choice.frontier} == undominated
    assert all(a.cost < b.cost and a.time.value > b.time.value for a, b in pairwise(choice.frontier))


def test_more_money_is_never_worse() -> None:
    times = []
    for budget in range(1000, 40_000, 700):
        best = choose(pairs(), SITE, float(budget)).best
        assert best is not None and best.cost <= budget
        times.append(best.time.value)
    assert all(later <= sooner for sooner, later in pairwise(times))
    assert times[0] > 3 * times[-1]


def test_the_sum_that_pays_for_nothing() -> None:
    choice = choose(pairs(), SITE, 400.0)
    assert choice.best is None
    assert choice.cheapest is not None and choice.cheapest.nodes == 1
    assert choice.cheapest.cost == min(cost for cost, *_ in every(1e5))


def test_the_sum_beyond_the_peak_is_left_over() -> None:
    """Brown's N* = √(Tp/Tis): of 1000 and 10 s that is 10 nodes, whatever the sum."""
    choice = choose([Pair(SLOW, Fabric("f"), of_parts(1000.0, communication=10.0))], Site(), 50_000.0)
    assert choice.best is not None and choice.best.nodes == 10
    assert choice.more is not None and choice.more.design == choice.best
    assert choice.sooner is None


def test_designs_whose_times_are_not_told_apart() -> None:
    """A node that is 4 % slower, give or take 10 %: not resolvable; one that is 40 % slower is."""
    random = np.random.default_rng(1)
    found = [
        Pair(SLOW, CHEAP, WORK),
        Pair(replace(SLOW, name="close"), CHEAP, WORK.scaled(from_interval(1.04, 0.94, 1.14, random), known(1.0), 1)),
        Pair(replace(SLOW, name="far"), CHEAP, WORK.scaled(from_interval(1.4, 1.3, 1.5, random), known(1.0), 1)),
    ]
    choice = choose(found, Site(), 5000.0)
    assert [(one.design.pair.node.name, one.slower) for one in choice.rivals] == [("close", False), ("far", True)]
    assert choice.best is not None and choice.best.pair.node.name == "slow"


def test_the_cheapest_that_is_not_surely_slower() -> None:
    """Near the peak more nodes hardly change the time: what a doubtful part leaves open is said, with its price."""
    doubtful = of_parts(1000.0, communication=10.0).scaled(
        known(1.0), from_interval(1.0, 0.3, 3.0, np.random.default_rng(1)), 1
    )
    choice = choose([Pair(SLOW, Fabric("f"), doubtful)], Site(), 5000.0)
    assert choice.best is not None and choice.cheaper is not None
    assert choice.cheaper.design.nodes < choice.best.nodes
    below = Design(choice.best.pair, choice.cheaper.design.nodes - 1, 0.0, 0.0)
    assert below.over(choice.best).low > 1 >= choice.cheaper.over.low


def test_what_no_data_support_is_not_chosen_and_said() -> None:
    pair = Pair(SLOW, Fabric("f"), replace(of_parts(1000.0), most=8.0))
    choice = choose([pair], Site(), 10_000.0)
    assert choice.best is not None and choice.best.nodes == 8
    assert choice.unsupported is not None and choice.unsupported.nodes == 20
    beyond = choose([pair], Site(), 10_000.0, beyond=True)
    assert beyond.best is not None and beyond.best.nodes == 20 and beyond.unsupported is None


def test_what_a_gain_is_worth() -> None:
    """Of work that divides, 37.1 % on eight nodes are three more (2.97); of work at its peak no number is."""
    eight = Design(Pair(SLOW, CHEAP, of_parts(1000.0)), 8, 4260.0, 4260.0)
    worth = worth_of(eight, 14.53 / 10.6 - 1, Site())
    assert (worth.nodes.value, worth.nodes.low, worth.nodes.high) == (3, 3, 3)
    assert worth.design is not None and worth.design.cost == 11 * 520 + 350  # the switch of 16 ports, too
    peak = Design(Pair(SLOW, CHEAP, of_parts(1000.0, communication=10.0)), 10, 0.0, 0.0)
    assert worth_of(peak, 0.05, Site()).nodes.value == inf
    assert worth_of(peak, 0.05, Site()).design is None


def test_what_a_gain_is_worth_on_a_hundred_thousand_nodes() -> None:
    worth = worth_of(Design(Pair(SLOW, Fabric("f"), of_parts(1e9)), 100_000, 0.0, 0.0), 0.2, Site())
    assert worth.nodes.value == 20_000
    assert worth.nodes.high < 20_000 * 1.01


def test_ten_thousand_nodes_of_all_candidates_take_a_second() -> None:
    found = [
        Pair(Node(f"n{i}", 1000.0 + i), Fabric(f"f{j}", 50.0 * j, 0.0, (Switch(64, 5000.0),)), WORK_OF_THOUSANDS)
        for i in range(5)
        for j in range(5)
    ]
    started = process_time()
    best = choose(found, SITE, 1.5e7).best
    assert best is not None and best.nodes > 9000
    assert process_time() - started < 2
