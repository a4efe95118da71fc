"""The choice of a form by held-out error, and what can't be told apart."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.speedup.forms import FORMS
from wulf.model.speedup.study import karp_flatt, study
from wulf.model.speedup.times import gather
from wulf.selftest.models import PLANTED
from wulf.stats.samples import Floats

N = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
BY_NAME = {form.name: form for form in FORMS}


def noisy(name: str, noise: float = 0.01, runs: int = 5, seed: int = 1) -> dict[float, Floats]:
    random = np.random.default_rng(seed)
    seconds = BY_NAME[name].columns(np.array(N)) @ PLANTED[name]
    return {n: t * np.exp(noise * random.normal(size=runs)) for n, t in zip(N, seconds, strict=True)}


def test_the_form_of_the_data_is_found() -> None:
    found = study(noisy("brown2"))
    assert found.best == "brown2"
    assert found.alike == ("brown2",)
    assert found.held_out["amdahl"].told_apart
    assert found.held_out["amdahl"].error > 5 * found.held_out["brown2"].error


@pytest.mark.parametrize("name", ["brown", "usl"])
def test_brown_and_usl_are_never_told_apart_where_both_can_be(name: str) -> None:
    assert {"brown", "usl"} <= set(study(noisy("brown")).alike)
    assert name in study(noisy("brown")).alike


def test_usl_is_told_apart_where_browns_serial_part_would_be_negative() -> None:
    random = np.random.default_rng(1)
    seconds = BY_NAME["usl"].columns(np.array(N)) @ np.array([100.0, 0.0, 20.0])
    found = study({n: t * np.exp(0.01 * random.normal(size=5)) for n, t in zip(N, seconds, strict=True)})
    assert found.best == "usl"
    assert found.held_out["brown"].told_apart


def test_noise_that_hides_the_form_is_admitted() -> None:
    found = study(noisy("brown", noise=0.5))
    assert len(found.alike) == 4


def test_predictions_reach_over_all_that_are_alike() -> None:
    found = study(noisy("amdahl"))
    assert len(found.alike) > 1
    wide = found.predict(128)
    for name in found.alike:
        own = found.fits[name].time(128)
        assert wide.low <= own.low <= own.high <= wide.high
    assert wide.value == found.fits[found.best or ""].at(128)


def test_data_support_twice_the_most_workers() -> None:
    found = study(noisy("amdahl"))
    assert found.supported(128)
    assert not found.supported(129)


def test_too_few_points_are_refused_form_by_form() -> None:
    found = study({n: [1 / n] for n in (1.0, 2.0, 4.0)})
    assert set(found.fits) == {"amdahl"}
    assert "Brown, N·Tis has 3 parameters and needs 4" in found.refused["brown"]
    none = study({1.0: [1.0], 2.0: [0.5]})
    assert none.best is None
    with pytest.raises(ValueError, match="Amdahl has 2 parameters"):
        none.predict(4)


def test_karp_and_flatt_find_amdahls_fraction() -> None:
    data = {n: [95 / n + 5] * 3 for n in N}
    found = karp_flatt(gather(data))
    assert [one.workers for one in found] == list(N[1:])
    assert [one.fraction.value for one in found] == pytest.approx([0.05] * 6)


def test_karp_and_flatts_fraction_grows_with_overhead() -> None:
    data = {n: [95 / n + 5 + 0.1 * (n - 1)] * 3 for n in N}
    fractions = [one.fraction.value for one in karp_flatt(gather(data))]
    assert fractions == sorted(fractions)
    assert fractions[-1] > 2 * fractions[0]


def test_karp_and_flatt_by_hand_and_over_a_serial_run() -> None:
    # Pelikán 2007: 19 workers, 11.7 s, against 203.3 s of one.
    speedup = 203.3 / 11.7
    (one,) = karp_flatt(gather({1: [203.3], 19: [11.7]}))
    assert one.fraction.value == pytest.approx((1 / speedup - 1 / 19) / (1 - 1 / 19))
    assert one.fraction.low == -np.inf
    (two,) = karp_flatt(gather({19: [11.7]}), serial=[203.3])
    assert two.fraction.value == one.fraction.value
    assert karp_flatt(gather({19: [11.7]})) == ()


def test_karp_and_flatts_intervals_cover() -> None:
    inside = 0
    for seed in range(60):
        at = {one.workers: one.fraction for one in karp_flatt(gather(noisy("amdahl", seed=seed)), seed=seed)}
        inside += at[16].low <= 5 / 105 <= at[16].high
    assert inside >= 52  # fewer of 60 at 95 % are one chance in a thousand
