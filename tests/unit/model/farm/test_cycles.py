"""The forms of a worker's cycle: their formulas, and that known ones are found again in noisy tables."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.draws import known
from wulf.model.farm.costs import metg_waiting, saturation
from wulf.model.farm.cycle_fit import TooFewCellsError, fit
from wulf.model.farm.cycles import BUSY, FORMS, FREE, IN_TURN, QUEUE, CycleForm, alone, service
from wulf.model.farm.times import FarmTimes, TimesStudy, metg_of, times_study
from wulf.stats.samples import Floats

TRUTH = np.array([2e-4, 2e-5, 4e-5, 2e-6])
"""t, h, a, c in seconds: 19 workers keep this master busy with single units."""

WORKERS, BATCHES = (1, 3, 7, 19), (1, 2, 4, 10, 100)

ONE = np.array([1.0])


def theta_of(form: CycleForm, shares: float = 1.0) -> Floats:
    """The truth of a form; `shares` of the master's time."""
    theta: Floats = TRUTH * np.array([1, 1, shares, shares])
    return theta[: len(form.parameters)]


def farm(form: CycleForm, seed: int, runs: int = 5, spread: float = 0.02, shares: float = 1.0) -> FarmTimes:
    random = np.random.default_rng(seed)
    theta, found = theta_of(form, shares), {}
    for workers in WORKERS:
        for batch in BATCHES:
            cycle = form.at(theta, np.array([float(workers)]), np.array([float(batch)]))[0]
            noise = 1 + spread * random.standard_normal(runs)
            found[workers, batch] = [float(one) for one in cycle / (workers * batch) * noise]
    return FarmTimes(found, 1_000_000)


def cycle(form: CycleForm, workers: float) -> float:
    return float(form.at(theta_of(form), np.array([workers]), ONE)[0])


def test_cycles_are_their_formulas() -> None:
    z, o = 2.2e-4, 4.2e-5
    assert cycle(FREE, 19) == pytest.approx(z)
    assert cycle(IN_TURN, 3) == pytest.approx(z + 3 * o)
    assert (cycle(BUSY, 3), cycle(BUSY, 19)) == pytest.approx((z, 19 * o))
    assert cycle(QUEUE, 1) == pytest.approx(z), "a single worker waits for nobody"
    waited = cycle(QUEUE, 7) - (z - o)
    assert waited * (waited + (z - o) - 7 * o) == pytest.approx(o * (z - o))
    assert cycle(QUEUE, 1e4) == pytest.approx(1e4 * o, rel=1e-3)


def test_what_follows_from_a_form_is_what_the_live_farm_computes() -> None:
    z, o = float(alone(TRUTH, ONE)[0]), float(service(TRUTH, ONE)[0])
    assert saturation(known(TRUTH[0]), 1, known(TRUTH[1]), known(0.0), known(o)).value == pytest.approx(z / o)
    for workers in (1, 19):
        claim = metg_waiting(workers, known(TRUTH[1]), known(0.0), known(o)).value
        assert float(metg_of(BUSY, TRUTH, workers, 1)) == pytest.approx(claim)
    assert float(metg_of(IN_TURN, TRUTH, 7, 1)) == pytest.approx(TRUTH[1] + 7 * o)
    assert float(metg_of(FREE, np.array([1e-4, 0.0]), 7, 1)) == 0.0


def held(study: TimesStudy, form: CycleForm, shares: float = 1.0) -> dict[str, bool]:
    """Whether the truth is within each interval."""
    theta = theta_of(form, shares)
    truths = {"t": (study.unit(), theta[0]), "h": (study.message(), theta[1])}
    truths["metg"] = (study.metg(19), float(metg_of(form, theta, 19, 1)))
    if form is not FREE:
        o = float(service(theta, ONE)[0])
        truths["o"] = (study.service(1), o)
        truths["W*"] = (study.saturation(1), float(alone(theta, ONE)[0]) / o)
    return {name: one.low <= truth <= one.high for name, (one, truth) in truths.items()}


@pytest.mark.parametrize("form", [IN_TURN, BUSY, QUEUE], ids=lambda form: form.name)
def test_a_saturated_farms_form_is_told_apart(form: CycleForm) -> None:
    study = times_study(farm(form, seed=1))
    assert study.alike == (form.name,)
    assert all(held(study, form).values())
    assert study.service(1).high / study.service(1).low < 1.15


def test_a_master_for_whom_nobody_waits_is_bounded_from_above_alone() -> None:
    study = times_study(farm(FREE, seed=2))
    assert "free" in study.alike and len(study.alike) > 1
    assert study.service(1).low == 0.0
    assert study.saturation(1).high == np.inf
    assert study.saturation(1).low < 19, "o may be so much that 19 workers are nearly enough"
    assert study.unit().low <= TRUTH[0] <= study.unit().high


@pytest.mark.full
@pytest.mark.parametrize(("runs", "shares"), [(5, 1.0), (1, 0.2)])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_intervals_hold_the_truth_and_the_true_form_is_not_dismissed(form: CycleForm, runs: int, shares: float) -> None:
    missed, dismissed = dict[str, int](), 0
    for seed in range(12):
        study = times_study(farm(form, seed, runs, shares=shares), seed=seed)
        dismissed += form.name not in study.alike
        for name, ok in held(study, form, shares).items():
            missed[name] = missed.get(name, 0) + (not ok)
    assert max(missed.values()) <= 3, "P(more than 3 of 12 at 5 %) is 0.2 %"
    assert dismissed <= 3


def test_a_form_that_is_not_the_farms_is_said_to_miss() -> None:
    cycles = farm(BUSY, seed=3, spread=0.002).cycles()
    assert fit(FREE, cycles).misfits
    assert not fit(BUSY, cycles).misfits


def test_too_few_cells_are_refused() -> None:
    few = FarmTimes({(w, b): [1e-4 / w] for w in (1, 2) for b in (1, 2)})
    with pytest.raises(TooFewCellsError, match="Queue has 4 parameters and needs 5 cells; there are 4"):
        fit(QUEUE, few.cycles())
    study = times_study(few)
    assert set(study.fits) == {"free"} and set(study.refused) == {"turn", "busy", "queue"}
    one = times_study(FarmTimes({(w, 1): [1e-4 / w] for w in (1, 2, 3)}))
    assert one.best is None and "two numbers of workers and two batches" in one.refused["free"]
    with pytest.raises(ValueError, match="no form could be fitted"):
        one.service(1)
