"""Blocks with a clock and figures of our own: exact, and over at once."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from bench.blocks import MOST_FAILURES, Contest, Effort, run_blocks
from bench.errors import BenchError


class World:
    """A clock that each replicate moves, and a log of who ran."""

    def __init__(self, seconds=1.0):
        self.now = 0.0
        self.seconds = seconds
        self.log = []

    def contest(self, name, ours=1.0, peer=2.0):
        def side(which, figure):
            def run():
                self.now += self.seconds
                self.log.append((name, which))
                return figure() if callable(figure) else figure

            return run

        return Contest(name, "tool", "s", "lower", side("ours", ours), side("peer", peer))

    def effort(self, blocks=6, wish=0.02, until=1e9):
        return Effort(blocks, wish, until, clock=lambda: self.now)


def ignore(_text):
    pass


def test_each_block_runs_every_contest_once_with_both_sides_back_to_back():
    world = World()
    contests = [world.contest(name) for name in "abc"]
    run_blocks(contests, world.effort(), random.Random(1), ignore)
    assert len(world.log) == 6 * 3 * 2
    for start in range(0, len(world.log), 6):
        block = world.log[start : start + 6]
        assert sorted(block) == sorted((name, side) for name in "abc" for side in ("ours", "peer"))
        assert all(block[i][0] == block[i + 1][0] for i in (0, 2, 4))


def test_the_orders_are_drawn_from_the_seed():
    def order(seed):
        world = World()
        run_blocks([world.contest(name) for name in "abc"], world.effort(), random.Random(seed), ignore)
        return world.log

    assert order(1) == order(1) != order(2)
    first = [side for (_, side), _ in list(pairwise(order(1)))[::2]]
    assert {"ours", "peer"} == set(first)


def test_a_contest_ends_when_its_interval_is_narrow_and_a_noisy_one_goes_on():
    world = World()
    steady = world.contest("steady")
    noise = random.Random(3)
    noisy = world.contest("noisy", ours=lambda: noise.uniform(0.5, 1.5))
    run_blocks([steady, noisy], world.effort(blocks=7, until=100), random.Random(1), ignore)
    assert len(steady.pairs) == 7
    assert len(noisy.pairs) > 7
    assert world.now <= 100


def test_no_pair_begins_that_would_end_too_late():
    world = World(seconds=10)
    noise = random.Random(3)
    contest = world.contest("noisy", ours=lambda: noise.uniform(0.5, 1.5))
    run_blocks([contest], world.effort(until=65), random.Random(1), ignore)
    assert (len(contest.pairs), world.now) == (3, 60)


def test_no_more_blocks_than_are_asked_for():
    world = World()
    contest = world.contest("dear")
    run_blocks([contest], replace(world.effort(), most=3), random.Random(1), ignore)
    assert len(contest.pairs) == 3


def test_a_peer_that_fails_ends_its_contest_alone():
    def fail():
        raise BenchError("it broke")

    world = World()
    said = []
    broken, whole = world.contest("broken", peer=fail), world.contest("whole")
    run_blocks([broken, whole], world.effort(), random.Random(1), said.append)
    assert len(broken.failures) == MOST_FAILURES
    assert broken.row().peer_name == "tool (failed)"
    assert "broken, beside tool: it broke" in said
    assert whole.row().ratio == pytest.approx(0.5)
