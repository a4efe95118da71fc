"""Peaks of a sweep's scatter: found where they are, none made up; and what else than a cache makes one."""

from __future__ import annotations

import numpy as np
import pytest
from bench.edges import sigma

from wulf.stats.curves.edges import Edge
from wulf.stats.curves.sigma_peak import Peak, find_sigma_peaks, marks
from wulf.stats.estimates import Interval

SIZES = 2048 * 2.0 ** (np.arange(61) / 4)


def scatter(peak: float | None, height: float = 8.0, seed: int = 1, n: int = 8) -> dict[float, list[float]]:
    random = np.random.default_rng(seed)
    bump = [0.0 if peak is None else np.log(height) * np.exp(-(np.log2(s / peak) ** 2) / 0.25) for s in SIZES]
    return {
        float(s): (0.01 * np.exp(b + 0.1 * random.normal(size=n))).tolist() for s, b in zip(SIZES, bump, strict=True)
    }


def resolved(swept: dict[float, list[float]]) -> list[Peak]:
    return [peak for peak in find_sigma_peaks(swept, random=np.random.default_rng(2)) if peak.resolved]


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_peak_is_found_in_its_place(seed: int) -> None:
    (peak,) = resolved(scatter(1 << 20, seed=seed))
    assert peak.size.low <= 1 << 20 <= peak.size.high
    assert peak.height == pytest.approx(8, rel=0.3)
    assert peak.scatter == pytest.approx(0.08, rel=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_peak(seed: int) -> None:
    assert resolved(scatter(None, seed=seed)) == []


def test_one_replicate_makes_no_peak() -> None:
    swept = scatter(None)
    swept[float(SIZES[30])][0] = 10.0
    assert resolved(swept) == []


def test_a_rise_without_fall_is_no_peak() -> None:
    swept = {float(s): [0.01 * (s / 2048) ** 0.3] * 8 for s in SIZES}
    assert find_sigma_peaks(swept, random=np.random.default_rng(1)) == ()


@pytest.mark.parametrize(("low", "high", "said"), [(90.0, 120.0, True), (10.0, 50.0, False), (170.0, 200.0, False)])
def test_a_peak_marks_an_edge_where_the_two_overlap(low: float, high: float, said: bool) -> None:
    edge = Edge(Interval(100.0, 90.0, 110.0), Interval(140.0, 130.0, 160.0), 1.0, 4.0, 1.0, None)
    assert marks(Peak(Interval((low * high) ** 0.5, low, high), 0.1, 5.0, 1.0), edge) is said


def test_too_few_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="1 of 2 sizes"):
        find_sigma_peaks({1.0: [0.1] * 3, 2.0: [0.1]}, random=np.random.default_rng(1))


def test_luck_at_the_edge_alone_makes_the_peak_that_brown_saw() -> None:
    machine = sigma.CASES[0]
    (peak,) = sigma.peaks(np.random.default_rng(3), machine)
    assert machine.cache / 2 <= peak.size.value <= 2 * machine.cache


def test_interruptions_make_a_peak_where_there_is_no_cache() -> None:
    machine = sigma.Machine("no cache", float(1 << 40), 0.0, ((100.0, 4e-3),))
    highest = sigma.peaks(np.random.default_rng(3), machine)[0]
    first_met = 8 * np.log(2) / (sigma.RUNS * 100.0 * sigma.ELEMENT)
    assert first_met / 4 <= highest.size.value <= first_met * 4, "whose hundred runs meet an interruption in one of two"
