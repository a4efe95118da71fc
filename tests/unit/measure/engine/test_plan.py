"""Every cell once a pass; no node, and no machine, in two cells at a time."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.measure.fakes import cell
from wulf.measure.engine.plan import Cell, Plan, SharedSet, order_pass, round_of


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 31, 32])
def test_all_pairs_meet_in_the_fewest_rounds_and_no_node_twice_in_one(n: int) -> None:
    rounds: dict[int, list[int]] = {}
    for i, j in itertools.combinations(range(n), 2):
        assert round_of(i, j, n) == round_of(j, i, n)
        rounds.setdefault(round_of(i, j, n), []).extend((i, j))
    assert len(rounds) == (n - 1 if n % 2 == 0 else n)
    for busy in rounds.values():
        assert len(busy) == len(set(busy))


def all_cells(n: int) -> list:  # type: ignore[type-arg]
    nodes = [f"n{i}" for i in range(n)]
    directed = [(a, b) for a, b in itertools.permutations(nodes, 2)]
    return [cell(i, a, b) for i, (a, b) in enumerate(directed)] + [cell(-1, "n0", "n1", bytes=64)]


@pytest.mark.parametrize("hosts", [{}, {"n0": "A", "n1": "A", "n2": "B", "n3": "B"}, dict.fromkeys(["n0", "n1"], "A")])
def test_a_pass_holds_every_cell_once_and_no_machine_twice_at_a_time(hosts: dict[str, str]) -> None:
    cells = all_cells(6)
    waves = order_pass(cells, hosts, np.random.default_rng(1))
    assert sorted(c.id for wave in waves for c in wave) == sorted(c.id for c in cells)
    for wave in waves:
        busy = [h for c in wave for h in {hosts.get(c.client, c.client), hosts.get(c.server, c.server)}]
        assert len(busy) == len(set(busy))


def test_pairs_of_different_machines_run_at_the_same_time() -> None:
    waves = order_pass(all_cells(6)[:-1], {}, np.random.default_rng(1))
    assert {len(wave) for wave in waves} == {3}


def test_a_lab_on_one_machine_is_measured_one_pair_at_a_time() -> None:
    hosts = {f"n{i}": "one" for i in range(6)}
    assert {len(w) for w in order_pass(all_cells(6), hosts, np.random.default_rng(1))} == {1}


def test_loopback_of_a_single_node() -> None:
    waves = order_pass([cell(0, "a", "a"), cell(1, "a", "a")], {}, np.random.default_rng(1))
    assert sorted(c.id for wave in waves for c in wave) == [0, 1]


def test_order_is_random_and_the_seed_repeats_it() -> None:
    cells = all_cells(6)

    def ids(seed: int) -> list[int]:
        return [c.id for wave in order_pass(cells, {}, np.random.default_rng(seed)) for c in wave]

    assert ids(7) == ids(7)
    assert ids(7) != ids(8)


def shared(number: int, name: str, *, spoils: bool = False) -> Cell:
    return replace(cell(number, "a", "a"), name=f"c{number}", shares=SharedSet(name, 4096, spoils))


def test_cells_that_share_a_set_follow_one_another_and_those_that_spoil_it_come_last() -> None:
    """Else each of them would lay it on pages anew."""
    alone = [replace(cell(i, "a", "a"), name=f"c{i}") for i in range(8)]
    ones = [shared(i, "one", spoils=i >= 12) for i in range(8, 16)]
    others = [shared(i, "other") for i in range(16, 20)]
    begins, orders = set(), set()
    for seed in range(50):
        order = [c for wave in order_pass([*alone, *ones, *others], {}, np.random.default_rng(seed)) for c in wave]
        assert sorted(c.id for c in order) == list(range(20))
        for together in (ones, others):
            places = [order.index(c) for c in together]
            assert max(places) - min(places) == len(together) - 1
        assert max(order.index(c) for c in ones[:4]) < min(order.index(c) for c in ones[4:])
        places = [order.index(c) for c in (*ones, *others)]
        assert max(places) - min(places) == len(places) - 1
        begins.add(min(order.index(c) for c in ones))
        orders.add(tuple(c.id for c in order if c in ones))
    assert len(begins) > 5
    assert len(orders) > 40


def test_nodes_that_share_sets_each_of_its_own_measure_at_the_same_time() -> None:
    cells = [
        replace(shared(2 * i + j, "one"), client=n, server=n, name=f"c{i}")
        for i in range(5)
        for j, n in enumerate("ab")
    ]
    waves = order_pass(cells, {}, np.random.default_rng(1))
    assert {len(wave) for wave in waves} == {2}
    assert all(len({c.name for c in wave}) == 1 for wave in waves)


def test_plan_survives_its_json() -> None:
    plan = Plan((*all_cells(3), shared(9, "one", spoils=True)), seed=5, width=0.01, budget=60.0, hosts={"n0": "x"})
    again = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan


def test_a_sparse_plan_over_10_000_nodes_costs_its_cells_not_all_pairs() -> None:
    nodes = [f"n{i}" for i in range(10_000)]
    cells = [cell(i, a, b) for i, (a, b) in enumerate(itertools.pairwise(nodes))]
    waves = order_pass(cells, {}, np.random.default_rng(1))
    assert sum(len(wave) for wave in waves) == 9_999
