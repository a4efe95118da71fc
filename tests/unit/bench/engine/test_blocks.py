"""Blocks with a clock and figures of our own: exact, and over at once."""

import random
from itertools import pairwise

import pytest
from bench.engine.blocks import MOST_FAILURES, Contest, Effort, run_blocks
from bench.engine.errors import BenchError
from bench.engine.rows import compared


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

    def effort(self, *looks, width=0.02, until=1e9):
        return Effort(looks or (6,), width, until, clock=lambda: self.now)


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


def test_a_contest_ends_at_the_look_that_answers_and_an_open_one_goes_on_to_the_last():
    world = World()
    noise = random.Random(3)
    contests = {
        "met": world.contest("met"),
        "missed": world.contest("missed", ours=3.0),
        "open": world.contest("open", ours=lambda: noise.uniform(1.0, 3.0)),
        "narrow": world.contest("narrow", ours=lambda: noise.uniform(2.03, 2.05)),
    }
    run_blocks(list(contests.values()), world.effort(7, 12), random.Random(1), ignore)
    assert {name: len(one.pairs) for name, one in contests.items()} == {"met": 7, "missed": 7, "open": 12, "narrow": 7}
    assert [one.row().verdict for one in contests.values()] == ["met", "missed", "open", "open"]


def test_an_interval_allows_for_the_looks_that_were_taken():
    world = World()
    noise = random.Random(3)
    contest = world.contest("open", ours=lambda: noise.uniform(1.0, 3.0))
    run_blocks([contest], world.effort(12, 18, 27, 40), random.Random(1), ignore)
    assert len(contest.pairs) == 40
    told, naive = contest.row(), compared("open", "tool", "s", "lower", contest.pairs)
    assert told.low < naive.low and naive.high < told.high


def test_no_pair_begins_that_would_end_too_late():
    world = World(seconds=10)
    noise = random.Random(3)
    contest = world.contest("noisy", ours=lambda: noise.uniform(0.5, 1.5))
    run_blocks([contest], world.effort(until=65), random.Random(1), ignore)
    assert (len(contest.pairs), world.now) == (3, 60)


def test_no_more_blocks_than_are_asked_for():
    world = World()
    contest = world.contest("dear")
    run_blocks([contest], world.effort(3), random.Random(1), ignore)
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
