"""Products before the search: what may be left out, and what must stay."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from wulf.search.preflight import ProductArm, Rate, blocks_for, compare, spread, standings

SIZES = (32, 64, 128, 256, 512)


class Machine:
    """Libraries of known speed, with noise; its clock goes by a second a product."""

    def __init__(self, rates, noise=0.01, seed=1):
        self.rates, self.noise, self.random, self.seen = rates, noise, np.random.default_rng(seed), []

    def measure(self, arm):
        self.seen.append(arm)
        rate = self.rates[arm.library]
        if rate is None:
            return Rate(None, "crashed")
        shape = 1 / (1 + 0.1 * abs(np.log2(arm.nb / 128)))
        return Rate(rate * shape * float(np.exp(self.noise * self.random.standard_normal())), title=arm.library.upper())

    def clock(self):
        return float(len(self.seen))

    def compare(self, limit=None):
        return compare(list(self.rates), SIZES, self.measure, Random(3), clock=self.clock, limit=limit)


def test_slower_libraries_are_left_out_and_ties_stay():
    found = Machine({"a": 1.0, "b": 1.001, "c": 0.5, "d": None}).compare()
    assert set(found.kept) == {"a", "b"}
    assert found.best_nb == 128
    assert found.unusable == {"d": "crashed"}
    assert found.titles == {"a": "A", "b": "B", "c": "C"}
    assert [one.worse for one in found.libraries] == [False, False, True]
    assert found.sizes[0].arm == (found.libraries[0].arm.library, 128)


def test_the_fastest_of_equals_is_hardly_ever_left_out():
    lost = sum("a" not in Machine(dict.fromkeys("abcdef", 1.0), seed=seed).compare().kept for seed in range(100))
    assert lost <= 5


def test_without_time_nothing_is_proven_and_all_stays():
    machine = Machine({"a": 1.0, "c": 0.5})
    found = machine.compare(limit=0.0)
    assert found.kept == ("a", "c")
    assert "what was not proven" in found.notes[0]
    assert len(found.notes) == 1
    assert found.seconds == found.products == len(machine.seen)


def test_a_library_that_fails_later_is_out():
    machine = Machine({"a": 1.0, "b": 0.99})
    whole = machine.measure

    def failing(arm):
        return Rate(None, "killed") if arm.library == "b" and len(machine.seen) > 12 else whole(arm)

    machine.measure = failing
    found = machine.compare()
    assert found.kept == ("a",)
    assert found.unusable == {"b": "killed"}


def test_no_library_at_all():
    found = Machine({"d": None}).compare()
    assert (found.kept, found.best_nb, found.products) == ((), None, 1)


@pytest.mark.parametrize(("rivals", "blocks"), [(0, 6), (1, 6), (2, 7), (6, 8), (10, 9)])
def test_so_many_blocks_can_prove_it(rivals, blocks):
    assert blocks_for(rivals) == blocks
    if rivals:
        rates = {ProductArm(str(i), 64): [2.0 - (i > 0)] * blocks for i in range(rivals + 1)}
        assert all(one.worse for one in standings(rates)[1:])


def test_sizes_are_spread_over_their_order():
    assert spread((512, 32, 64, 128, 256, 320, 384), 4) == [32, 128, 320, 512]
    assert spread((64, 32), 4) == [32, 64]
