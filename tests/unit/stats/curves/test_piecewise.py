"""Planted lines and bends are found, straight data gets one line, and held-out sizes are judged with their noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from wulf.stats.curves.piecewise import PiecewiseCurve, fit, next_sizes, unexplained

SIZES = sorted({int(2 ** (k / 2)) for k in range(45)})


def bent(n: float) -> float:
    if n <= 2048:
        return 20e-6 + n / 1e9
    return 26e-6 + n / 2e9 if n <= 65536 else 60e-6 + n / 1.5e9


def straight(n: float) -> float:
    return 20e-6 + n / 1e9


def measured(truth: Callable[[float], float], cv: float, seed: int, n: int = 11) -> dict[float, list[float]]:
    random = np.random.default_rng(seed)
    return {size: (truth(size) * np.exp(cv * random.normal(size=n))).tolist() for size in SIZES}


def test_planted_lines_and_bends() -> None:
    curve = fit(measured(bent, 0.01, 1))
    assert [(line.first, line.last) for line in curve.lines] == [(1, 2048), (2896, 65536), (92681, 4194304)]
    for line, alpha, rate in zip(curve.lines, (20e-6, 26e-6, 60e-6), (1e9, 2e9, 1.5e9), strict=True):
        assert line.alpha.value == pytest.approx(alpha, rel=0.05)
        assert 1 / line.beta.value == pytest.approx(rate, rel=0.15)
    assert curve.lines[1].half_size == pytest.approx(52e3, rel=0.1)
    for (low, high), bend in zip(curve.switches, (2048, 65536), strict=True):
        assert low <= bend < high


@pytest.mark.full
@pytest.mark.parametrize("truth", [straight, bent])
def test_intervals_cover_and_straight_data_is_not_bent(truth: Callable[[float], float]) -> None:
    covered, bends = 0, 0
    for seed in range(30):
        curve = fit(measured(truth, 0.02, seed))
        covered += curve.lines[0].alpha.low <= 20e-6 <= curve.lines[0].alpha.high
        bends += len(curve.lines) > (1 if truth is straight else 3)
    assert covered >= 25
    assert bends <= 3


def test_scale_and_unit_do_not_matter() -> None:
    times = measured(bent, 0.01, 1)
    plain, scaled = fit(times), fit({size: [1e6 * t for t in values] for size, values in times.items()})
    assert [line.last for line in plain.lines] == [line.last for line in scaled.lines]
    assert scaled.lines[0].alpha.value == pytest.approx(1e6 * plain.lines[0].alpha.value)


def test_the_order_of_replicates_hardly_matters() -> None:
    times = measured(bent, 0.01, 1)
    turned = fit({size: values[::-1] for size, values in times.items()})
    plain = fit(times)
    assert [line.alpha.value for line in plain.lines] == pytest.approx([line.alpha.value for line in turned.lines])


def held(
    curve: PiecewiseCurve, *sizes: float, off: float = 0.0, half: float = 0.01
) -> dict[float, tuple[float, float]]:
    return {n: (bent(n) * (1 + off) * (1 - half), bent(n) * (1 + off) * (1 + half)) for n in sizes}


def test_held_out_sizes_are_judged_with_their_intervals() -> None:
    curve = fit(measured(bent, 0.005, 1))
    assert unexplained(curve, held(curve, 100, 10_000, 1_000_000), 0.05) == []
    assert unexplained(curve, held(curve, 100, 10_000, off=0.2), 0.05) == [100, 10_000]
    assert unexplained(curve, held(curve, 100, off=0.2, half=0.3), 0.05) == [], "noise is not held against it"


def test_it_looks_next_in_lines_and_bends() -> None:
    curve = fit(measured(bent, 0.005, 1))
    wanted = next_sizes(curve, SIZES)
    assert any(2048 < size < 2896 for size in wanted)
    assert any(65536 < size < 92681 for size in wanted)
    assert any(1 < size < 2048 for size in wanted)
    assert not set(wanted) & set(SIZES)
    dense = fit({size: [1e-5, 1.1e-5] for size in range(1, 9)})
    assert next_sizes(dense, range(1, 9)) == []


def test_a_curve_predicts_everywhere() -> None:
    curve = fit(measured(bent, 0.005, 1))
    for size in (1, 777, 3000, 50_000, 80_000, 4_000_000):
        assert curve.at(size) == pytest.approx(bent(size), rel=0.1)


@pytest.mark.parametrize(
    ("replicates", "message"),
    [
        ({1: [1.0, 1.0], 2: [1.0, 1.0]}, "2 sizes"),
        ({1: [1.0], 2: [1.0, 1.0], 3: [1.0, 1.0]}, "size 1 has 1 replicates"),
        ({1: [1.0, 0.0], 2: [1.0, 1.0], 3: [1.0, 1.0]}, "above zero"),
        ({1: [1.0, float("nan")], 2: [1.0, 1.0], 3: [1.0, 1.0]}, "nan"),
        ({-1: [1.0, 1.0], 2: [1.0, 1.0], 3: [1.0, 1.0]}, "not negative"),
        ({}, "0 sizes"),
    ],
)
def test_what_makes_no_line_is_refused(replicates: dict[float, list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(replicates)


def test_equal_times_are_one_flat_line() -> None:
    curve = fit({size: [1e-5] * 4 for size in SIZES})
    assert len(curve.lines) == 1
    assert curve.lines[0].half_size is None or curve.lines[0].beta.value == pytest.approx(0, abs=1e-15)
