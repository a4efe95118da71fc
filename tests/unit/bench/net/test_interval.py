"""The race to a narrow interval, with a clock and figures of our own."""

import random
from types import SimpleNamespace

import pytest
from bench.engine.blocks import Effort, run_blocks
from bench.engine.errors import BenchError
from bench.engine.rows import MET, NONE, OPEN
from bench.net import interval
from bench.net.interval import LIMIT, PEER, Race, Racer, netperf_decides, race, wulf_decides


class World:
    def __init__(self):
        self.now = 0.0

    def racer(self, seconds, decide, most=None):
        def measure():
            self.now += seconds
            return 1.0

        return Racer(measure, decide, seconds, most, clock=lambda: self.now)


def test_the_time_is_that_until_the_rule_is_content():
    racer = World().racer(0.25, lambda figures: len(figures) == 12)
    assert (racer.time(), racer.given_up) == (3.0, 0)


def test_a_side_that_never_gets_there_is_given_up_at_the_limit_and_counted():
    world = World()
    racer = world.racer(10.0, lambda _: False)
    assert (racer.time(), racer.given_up, world.now) == (LIMIT, 1, LIMIT)
    world.now = 0.0
    few = world.racer(1.0, lambda _: False, most=30)
    assert (few.time(), few.given_up, world.now) == (LIMIT, 1, 30.0)


def test_no_run_begins_that_would_not_end_in_time_and_one_that_ends_late_does_not_count():
    world = World()
    racer = world.racer(20.0, lambda figures: len(figures) == 5)
    assert (racer.time(), world.now) == (LIMIT, 80.0)
    late = world.racer(100.0, lambda _: True)
    late.run_seconds = 0.0
    assert (late.time(), late.given_up) == (LIMIT, 1)


def test_netperfs_rule_is_students_interval_of_three_runs_at_least():
    assert not netperf_decides([1.0, 1.0])
    assert netperf_decides([1.0, 1.0, 1.0])
    # t(99 %, 2) = 9.925: the half width of 1 ± s, 1, is 9.925·s/√3, which is 1 % at s = 0.001745
    assert netperf_decides([1 - 0.00174, 1.0, 1 + 0.00174])
    assert not netperf_decides([1 - 0.00175, 1.0, 1 + 0.00175])


def test_ours_needs_a_confidence_sequence_that_is_narrow():
    assert not wulf_decides([1.0] * 5)
    rng = random.Random(1)
    wide = [1 + rng.uniform(-0.05, 0.05) for _ in range(30)]
    narrow = [1 + rng.uniform(-0.005, 0.005) for _ in range(30)]
    assert (wulf_decides(wide), wulf_decides(narrow)) == (False, True)


def six_blocks(one, world):
    effort = Effort((6,), float("inf"), 1e9, clock=lambda: world.now)
    run_blocks([one.contest], effort, random.Random(1), lambda _: None)


def test_a_race_is_a_row_that_says_who_was_given_up():
    world = World()
    one = Race(world.racer(0.5, lambda f: len(f) == 6), world.racer(10.0, lambda f: len(f) == 100), "time, 1 CPU")
    run_blocks(
        [one.contest], Effort((6,), float("inf"), 1e9, clock=lambda: world.now), random.Random(1), lambda _: None
    )
    row = one.row()
    assert (row.ours, row.peer, row.verdict) == (3.0, LIMIT, MET)
    assert row.ratio == pytest.approx(3 / LIMIT)
    assert row.peer_name == f"{PEER} (past 90 s: ours 0, theirs 6)"


def test_blocks_in_which_neither_got_there_leave_it_open():
    world = World()
    never = world.racer(10.0, lambda _: False)
    one = Race(world.racer(10.0, lambda _: False), never, "time, 1 CPU")
    run_blocks(
        [one.contest], Effort((6,), float("inf"), 1e9, clock=lambda: world.now), random.Random(1), lambda _: None
    )
    row = one.row()
    assert (row.ratio, row.low, row.high, row.verdict) == (1.0, None, None, OPEN)
    assert row.peer_name == f"{PEER} (past 90 s: ours 6, theirs 6)"


def test_a_driver_that_fails_is_a_row_that_says_so():
    def fail():
        raise BenchError("no answer")

    one = Race(Racer(fail, wulf_decides), Racer(fail, netperf_decides), "time")
    run_blocks([one.contest], Effort((6,), 1.0, 1e9, clock=lambda: 0.0), random.Random(1), lambda _: None)
    assert (one.row().peer_name, one.row().verdict) == (f"{PEER} (failed; past 90 s: ours 0, theirs 0)", NONE)


def test_both_sides_use_one_driver():
    asked = []

    def wulf(_place, pattern, transport, **params):
        asked.append((pattern, transport, params))
        return {"metrics": {"rtt": {"value": 1.0, "mean": 2.0}}}

    one = race(SimpleNamespace(wulf=wulf), SimpleNamespace(name="1 CPU"))
    assert (one.ours.measure(), one.peer.measure()) == (1.0, 2.0)
    assert asked == [
        ("pingpong", "tcp", {"bytes": 1}),
        ("pingpong", "tcp", {"bytes": 1, "seconds": interval.RUN_SECONDS}),
    ]
