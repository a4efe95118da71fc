"""Whether MPI, compiler and BLAS depend on each other, on programs whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from wulf.search.history import JOINT
from wulf.search.journal import drive
from wulf.search.plan import SearchPlan, plan_object, plan_of
from wulf.search.space import Config, Knob, Space
from wulf.search.stages.claims import blocks_for
from wulf.search.stages.joint import Interaction
from wulf.search.strategy import SearchOutcome
from wulf.search.trial import OK, Outcome, Run, Trial

TOOLS = ("mpi", "compiler", "blas")
KNOBS = tuple(Knob(name, ("a", "b"), "a") for name in TOOLS)
RUNGS = (8, 4, 2)

Truth = Callable[[Config], float]


def multiplied(config: Config) -> float:
    """Each by itself: b of MPI 0.8, of compiler 0.9, of BLAS 1.1."""
    return float(np.prod([factor for value, factor in zip(config, (0.8, 0.9, 1.1), strict=False) if value == "b"]))


def entangled(config: Config) -> float:
    """The same, but that b of MPI and b of the compiler cost a quarter less together."""
    return multiplied(config) * (0.75 if config[:2] == ("b", "b") else 1.0)


def runner(truth: Truth, noise: float) -> Run:
    random = np.random.default_rng(7)

    def run(trial: Trial) -> Outcome:
        seconds = truth(trial.config) * float(np.exp(random.normal(0, noise)))
        return Outcome(OK, seconds, seconds, seconds)

    return run


def searched(truth: Truth, noise: float = 0.002, space: Space | None = None, **more: object) -> SearchOutcome:
    there = space or Space(KNOBS)
    plan = SearchPlan(there, (1.0,), 0.0, {"default": there.default}, 3, rungs=RUNGS, joint=TOOLS, **more)  # type: ignore[arg-type]
    return drive(plan, runner(truth, noise))


def told(found: SearchOutcome) -> dict[tuple[str, str], Interaction]:
    return {one.names: one for one in found.joint}


def test_two_that_depend_on_each_other_are_told_and_no_others() -> None:
    found = searched(entangled)
    assert found.winner == ("b", "b", "a")
    pairs = told(found)
    assert set(pairs) == {("mpi", "compiler"), ("mpi", "blas"), ("compiler", "blas")}
    one = pairs["mpi", "compiler"]
    assert one.values == (("b", "a"), ("b", "a"))
    assert one.proof is not None and one.proof.proven
    assert one.proof.comparison.ratio == pytest.approx(0.75, rel=0.005)
    assert one.alone is not None
    with_winner, with_other = one.alone
    assert with_winner.ratio == pytest.approx(1 / 0.9 / 0.75, rel=0.005)
    assert with_other.ratio == pytest.approx(1 / 0.9, rel=0.005)
    for names in (("mpi", "blas"), ("compiler", "blas")):
        other = pairs[names].proof
        assert other is not None and not other.proven
        assert other.comparison.judgement == "equivalent"


def test_every_combination_is_run_once_in_each_block_in_random_order() -> None:
    found = searched(multiplied)
    runs = [trial for trial, _ in found.history.lines if trial.stage == JOINT]
    blocks = {block: [t.config for t in runs if t.block == block] for block in {t.block for t in runs}}
    assert len(blocks) == blocks_for(3, 6) == 7
    assert all(len(order) == len(set(order)) == 8 for order in blocks.values())
    assert len({tuple(order) for order in blocks.values()}) > 1


def test_nothing_is_told_where_noise_hides_it() -> None:
    for one in searched(entangled, noise=0.5).joint:
        assert one.proof is not None
        assert not one.proof.proven or one.names == ("mpi", "compiler")
        assert one.proof.comparison.judgement != "equivalent"


def test_false_claims_are_rare() -> None:
    """Of 20 searches in which nothing depends on anything, with three pairs each."""
    false = 0
    for seed in range(20):
        plan = SearchPlan(Space(KNOBS), (1.0,), 0.0, {"default": ("a", "a", "a")}, seed, rungs=RUNGS, joint=TOOLS)
        random = np.random.default_rng(seed)

        def run(trial: Trial, random: np.random.Generator = random) -> Outcome:
            seconds = multiplied(trial.config) * float(np.exp(random.normal(0, 0.05)))
            return Outcome(OK, seconds, seconds, seconds)

        false += any(one.proof is not None and one.proof.proven for one in drive(plan, run).joint)
    assert false <= 4  # of 20 at 5 %: more than that in three of a thousand


def test_a_pair_of_which_a_combination_can_not_be_built_is_not_told() -> None:
    space = Space(KNOBS, ("not (compiler == 'b' and blas == 'b')",))
    pairs = told(searched(multiplied, space=space))
    assert pairs["mpi", "compiler"].proof is not None  # with the BLAS of which all four can be had
    assert pairs["mpi", "compiler"].proof.comparison.n == 7
    assert pairs["mpi", "blas"].proof is not None  # with the compiler of which they can
    assert pairs["compiler", "blas"].proof is None
    assert pairs["compiler", "blas"].alone is None


def test_the_budget_may_not_reach_and_that_is_said() -> None:
    whole = searched(multiplied).history.spent
    found = searched(multiplied, budget=whole - 20)
    assert found.joint == ()
    assert any("mpi, compiler, blas do together" in note for note in found.history.notes)


def test_a_tool_of_one_value_has_no_pair() -> None:
    space = Space((KNOBS[0], Knob("compiler", ("a",), "a"), Knob("x", (1, 2, 3), 1)))
    assert searched(lambda config: 1.0 + (config[0] == "a") + float(str(config[2])), space=space).joint == ()


def test_the_plan_keeps_what_is_told_of_in_its_journal() -> None:
    plan = SearchPlan(Space(KNOBS), (1.0,), 0.0, {"default": ("a", "a", "a")}, 1, joint=TOOLS)
    assert plan_of(plan_object(plan)) == plan
