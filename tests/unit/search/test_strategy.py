"""The search on a program whose truth is known, in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from bench.search.replay import Recorded, replay

from tests.unit.search.synthetic import SIZES, SPACE, best, plan, regret, runner, truth
from wulf.cli.search.command import THOROUGH
from wulf.core.errors import UsageError
from wulf.search.history import ANCHOR, CONFIRM, FINAL, PATH, SCREEN
from wulf.search.journal import drive
from wulf.search.plan import SearchPlan, plan_object, plan_of
from wulf.search.space import Knob, Space
from wulf.search.stages.claims import blocks_for
from wulf.search.stages.path import changed_names
from wulf.search.trial import CUT, OK, Outcome, Trial


@pytest.mark.full
def test_finds_the_best_of_a_known_truth_at_a_fraction_of_the_grid():
    grid = sum(truth(one, SIZES[-1]) for one in SPACE.all())
    found = [drive(plan(seed, rungs=THOROUGH), runner(0.01, seed)) for seed in range(8)]
    assert sum(regret(one.winner) <= 0.01 for one in found) >= 7
    assert max(regret(one.winner) for one in found) < 0.05
    looking = [sum(o.seconds for t, o in one.history.lines if t.block is None) for one in found]
    assert max(looking) < 0.1 * grid


def test_what_is_fastest_small_is_not_taken_for_the_fastest():
    small = min(SPACE.all(), key=lambda one: truth(one, SIZES[0]))
    assert small != best()  # the truth is made so
    assert drive(plan(3), runner(0.002)).winner != small


def test_winner_is_confirmed_on_fresh_interleaved_runs():
    found = drive(plan(), runner())
    fresh = [t for t, _ in found.history.lines if t.stage == CONFIRM]
    assert len(fresh) == 12
    for block in range(6):
        assert {t.config for t in fresh if t.block == block} == {SPACE.default, found.winner}
    assert len({tuple(t.config for t in fresh if t.block == b) for b in range(6)}) == 2  # both orders occur
    assert found.confirmation.judgement == "faster"
    true = truth(found.winner, SIZES[-1]) / truth(SPACE.default, SIZES[-1])
    assert found.confirmation.low <= true <= found.confirmation.high


def test_path_goes_from_default_to_winner_a_knob_at_a_time():
    found = drive(plan(), runner())
    assert found.path[0] == SPACE.default
    assert found.path[-1] == found.winner
    for a, b in zip(found.path, found.path[1:], strict=False):
        assert sum(x != y for x, y in zip(a, b, strict=True)) == 1
    beside = set(found.pair.corners) if found.pair else set()
    assert {t.config for t, _ in found.history.lines if t.stage == PATH} == set(found.path) | beside


def test_what_is_claimed_of_knobs_is_what_fresh_runs_say():
    found = drive(plan(), runner(0.003))
    named = [changed_names(SPACE, a, b) for a, b in pairwise(found.path)]
    proven = {name for names, one in zip(named, found.proofs.steps, strict=True) if one.proven for name in names}
    assert "nb" in proven
    assert "idle" not in proven
    runs = [t for t, _ in found.history.lines if t.stage == PATH]
    assert len({t.block for t in runs}) == blocks_for(len(named) + (found.pair is not None), 6) >= 8
    for one, (before, now) in zip(found.proofs.steps, pairwise(found.path), strict=True):
        true = truth(now, SIZES[1]) / truth(before, SIZES[1])
        assert 0.99 * one.comparison.low <= true <= 1.01 * one.comparison.high


def test_nothing_is_proven_where_noise_hides_it():
    found = drive(plan(), runner(0.3))
    assert not any(one.proven for one in found.proofs.steps if one.comparison.n < 8 or one.p > 0.05)
    assert found.proofs.pair is None or not found.proofs.pair.proven


def test_two_knobs_that_do_more_together_are_run_undone_one_by_one_and_proven():
    space = Space((Knob("a", (0, 1), 0), Knob("b", (0, 1), 0), Knob("c", (0, 1), 0)))

    def seconds(config):
        a, b, c = config
        return 10.0 - 0.5 * a - 0.5 * b - 0.5 * c - 3.0 * a * b

    random = np.random.default_rng(1)

    def run(trial):
        cost = seconds(trial.config) * np.exp(random.normal(0, 0.002))
        return Outcome(OK, cost, cost, cost)

    found = drive(SearchPlan(space, (1.0,), 0.0, {"default": space.default}, 1, rungs=(6, 4, 2)), run)
    assert found.winner == (1, 1, 1)
    assert set(found.pair.names) == {"a", "b"}
    assert set(found.pair.corners) == {(1, 1, 1), (0, 1, 1), (1, 0, 1), (0, 0, 1)}
    true = seconds((1, 1, 1)) * seconds((0, 0, 1)) / seconds((0, 1, 1)) / seconds((1, 0, 1))
    assert found.proofs.pair.proven
    assert found.proofs.pair.comparison.ratio == pytest.approx(true, rel=0.005)


def test_no_pair_is_run_where_the_model_expects_nothing_of_any():
    space = Space((Knob("a", (0, 1), 0), Knob("b", (0, 1), 0)))

    def run(trial):
        cost = 10.0 * 0.9 ** trial.config[0] * 0.8 ** trial.config[1]
        return Outcome(OK, cost, cost, cost)

    found = drive(SearchPlan(space, (1.0,), 0.0, {"default": space.default}, 1, rungs=(4, 3, 2)), run)
    assert found.winner == (1, 1)
    assert found.pair is None
    assert found.proofs.pair is None
    assert len(found.proofs.steps) == 2


def test_default_that_is_the_best_is_left_as_it_is():
    where = plan()
    there = SearchPlan(where.space, where.sizes, 3.0, {"default": best()}, 5, rungs=THOROUGH)
    found = drive(there, runner(0.0))
    assert regret(found.winner) == 0
    if found.winner == best():
        assert found.confirmation is None
        assert "Nothing was found that is faster" in " ".join(found.history.notes)
    else:  # its equal, to the last bit: nothing is claimed of it
        assert found.confirmation.judgement != "faster"


def test_a_space_that_the_first_rung_exhausts_has_a_winner():
    space = Space((Knob("x", (3, 2, 1), 3),))
    small = SearchPlan(space, (1.0,), 0.0, {"default": space.default}, 1)
    found = drive(small, lambda trial: Outcome(OK, float(trial.config[0]), 1.0, float(trial.config[0])))
    assert found.winner == (1,)
    assert found.confirmation.judgement == "faster"


def test_wrong_answers_are_survived_and_never_win():
    found = drive(plan(), runner(fails=frozenset({128, "crout"})))
    assert 128 not in found.winner
    assert "crout" not in found.winner
    assert not any(o.verdict == "wrong" and t.size == SIZES[-1] for t, o in found.history.lines)


def test_where_everything_fails_there_is_no_winner():
    found = drive(plan(), runner(fails=frozenset({0, 1})))
    assert found.winner is None
    assert "there is no winner" in " ".join(found.history.notes)


def test_runs_that_lose_are_cut_and_never_anchors_or_comparisons():
    found = drive(plan(), runner(0.05))
    assert any(o.verdict == CUT for _, o in found.history.lines)
    for trial, _ in found.history.lines:
        assert trial.limit is None or trial.stage not in (ANCHOR, CONFIRM, PATH)
    best_of = min(o.seconds for t, o in found.history.lines if t.stage == FINAL and o.verdict == OK)
    limits = [t.limit for t, _ in found.history.lines if t.stage == FINAL and t.limit is not None]
    assert min(limits) == pytest.approx(1.1 * best_of, rel=0.2)


def test_anchors_come_every_few_runs_and_tell_drift():
    slower = iter(range(10_000))
    steady = runner(0.002)

    def drifting(trial: Trial) -> Outcome:
        one = steady(trial)
        factor = 1.005 ** next(slower)
        return one if one.cost is None else Outcome(OK, one.cost * factor, one.seconds * factor, one.figure)

    found = drive(plan(), drifting)
    stages = [t.stage for t, _ in found.history.lines if t.stage not in (CONFIRM, PATH)]
    at = [i for i, stage in enumerate(stages) if stage == ANCHOR]
    assert at[0] == 0
    assert max(np.diff(at)) == 10
    assert found.drift.found
    assert "drifted" in " ".join(found.history.notes)
    assert not drive(plan(), runner(0.002)).drift.found


def test_budget_ends_the_search_and_says_so():
    whole = drive(plan(), runner()).history.spent
    found = drive(plan(budget=whole / 3), runner())
    assert found.history.spent < whole / 2
    assert any("budget" in note for note in found.history.notes)


def test_screening_tries_every_knob_at_two_values():
    found = drive(plan(), runner())
    screened = [t.config for t, _ in found.history.lines if t.stage == SCREEN]
    assert all(len({one[k] for one in screened}) == 2 for k in range(len(SPACE.knobs)))


def test_plan_survives_its_journal():
    assert plan_of(plan_object(plan(7, budget=60.0))) == plan(7, budget=60.0)
    with pytest.raises(UsageError, match="version 0"):
        plan_of({**plan_object(plan()), "version": 0})


@pytest.mark.parametrize("bad", [{"blocks": 5}, {"cut": 0.9}, {"rungs": (3, 9, 27)}])
def test_plans_that_make_no_sense_are_refused(bad):
    with pytest.raises(UsageError):
        plan(**bad)


def test_replay_is_a_function_of_its_seed():
    random = np.random.default_rng(0)
    grid = {
        size: {one: tuple(truth(one, size) * np.exp(random.normal(0, 0.01, 3))) for one in SPACE.all()}
        for size in SIZES
    }
    recorded = Recorded(grid)
    first, again = replay(recorded, plan(4), 4), replay(recorded, plan(4), 4)
    assert first == again
    assert first.regret < 0.05
    assert 0 < first.search_cost < first.cost < 0.3


def test_the_truth_of_a_grid_is_what_was_recorded():
    one, other = (1, 2), (3, 4)
    recorded = Recorded({1.0: {one: (1.0, 2.0, 9.0), other: (4.0, 4.0, 5.0)}})
    assert recorded.truth == {1.0: {one: pytest.approx(2.0), other: pytest.approx(4.0)}}
    assert recorded.regret(other) == pytest.approx(1.0)
