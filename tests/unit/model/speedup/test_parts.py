"""Brown's times from what ranks compute and what is left: those that were planted, or why they can't be told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from wulf.model.speedup.parts import TracedParts, TracedTimes, parts_of

TRUTH = {"ts": 1.0, "tp": 10.0, "tip": 0.1, "tis": 0.02}


def traced(
    ranks: Sequence[int], runs: int = 1, noise: float = 0.0, growth: int = 1, seed: int = 0
) -> list[TracedTimes]:
    """Runs of a program whose times are those of `TRUTH`; one rank does the serial part."""
    random, found = np.random.default_rng(seed), []
    for n in np.repeat(ranks, runs).tolist():
        slow = np.exp(noise * random.normal(size=2))
        computing = (TRUTH["ts"] + TRUTH["tp"] / n) * slow[0]
        left = (TRUTH["tip"] + TRUTH["tis"] * n**growth) * slow[1] if n > 1 else 1e-6
        found.append(TracedTimes(n, computing + left, computing, TRUTH["ts"] + TRUTH["tp"]))
    return found


def test_exact_times_give_all_four_and_the_speedup_of_their_sum() -> None:
    found = parts_of(traced([1, 2, 4, 8, 16], runs=2))
    assert {name: one.value for name, one in found.parameters.items()} == pytest.approx(TRUTH, rel=1e-6)
    assert found.refused == {}
    assert found.study is not None
    assert found.study.best == "brown"
    assert found.study.fits["brown"].parameters["ts"].value == pytest.approx(1.0, rel=1e-6)
    assert found.study.fits["brown"].parameters["tip"].value == pytest.approx(0.1, rel=1e-6)
    # S = (Ts + Tp)/(Ts + Tip + N·Tis + Tp/N)
    assert found.study.speedup(20).value == pytest.approx(11 / (1 + 0.1 + 0.4 + 0.5), rel=1e-6)
    assert found.study.fits["brown"].peak.workers.value == pytest.approx(500**0.5, rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize(("growth", "name"), [(1, "brown"), (2, "brown2")])
def test_noisy_times_have_intervals_that_hold_the_truth(runs: int, growth: int, name: str) -> None:
    found = parts_of(traced([1, 2, 4, 8, 16], runs, noise=0.02, growth=growth, seed=1))
    assert found.study is not None
    assert found.study.best == name
    for key, one in found.parameters.items():
        assert one.low <= TRUTH[key] <= one.high
        assert one.high - one.low > 0.01 * one.value


def untold(found: TracedParts) -> set[str]:
    return set(found.refused)


def test_one_number_of_ranks_tells_sums_alone() -> None:
    found = parts_of(traced([4], runs=3))
    assert untold(found) == {"ts", "tp", "tip", "tis"}
    assert found.parameters == {}
    assert found.study is None
    assert found.refused["ts"].startswith("traces of 4 ranks tell Ts + Tp/N, their sum")
    assert found.refused["tis"].startswith("traces of 4 ranks tell Tip + N·Tis, their sum")


def test_a_rank_alone_says_nothing_of_communication() -> None:
    found = parts_of(traced([1, 2, 4]))
    assert set(found.parameters) == {"ts", "tp"}
    assert untold(found) == {"tip", "tis"}
    assert "traces of 2, 4 ranks" in found.refused["tip"]
    assert found.study is None


def test_ranks_that_say_nothing_to_each_other_have_no_communication() -> None:
    silent = [TracedTimes(n, 1 + 10 / n, 1 + 10 / n, 11) for n in (2, 4, 8)]
    found = parts_of(silent)
    assert set(found.parameters) == {"ts", "tp"}
    assert "no communication was traced" in found.refused["tis"]


def test_no_trace_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no run"):
        parts_of([])
