"""Planted effects are found, drift is not taken for an effect, and what cannot be told apart is not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import linregress

from tests.wording import Wording, lacking
from wulf.stats.comparison import holm
from wulf.stats.designs import (
    CONTROL,
    Design,
    ablation,
    fractional_factorial,
    full_factorial,
    order,
    plackett_burman,
    replicate,
    with_control,
)
from wulf.stats.effects import Analysis, Effect, analyse

KNOBS = ["a", "b", "c", "d", "e"]
MAIN = {"a": 0.10, "b": -0.05, "c": 0.02}
SHARED = {("a", "b"): 0.04, ("c", "d"): -0.03}


def planted(
    names: tuple[str, ...], levels: np.ndarray, main: dict[str, float], shared: dict[tuple[str, str], float]
) -> np.ndarray:
    """Logarithms with these full changes."""
    at = {name: levels[:, i] / 1.0 for i, name in enumerate(names)}
    y = sum((change / 2 * at[name] for name, change in main.items()), np.zeros(len(levels)))
    return y + sum((change / 2 * at[i] * at[j] for (i, j), change in shared.items()), np.zeros(len(levels)))


def effect(analysis: Analysis, name: str) -> Effect:
    return next(effect for effect in analysis.effects if effect.name == name)


def change(one: Effect) -> float:
    return float(np.log(one.contrast.value))


def evenly(values: np.ndarray | list[float]) -> np.ndarray:
    """Times of runs that were measured one after the other."""
    return np.arange(len(values))


def at_random(design: Design, seed: int = 1) -> np.ndarray:
    return design.runs[order(design, np.random.default_rng(seed))]


def campaign(seed: int = 1, noise: float = 0.01, drift: float = 0.0) -> tuple[Design, np.ndarray, np.ndarray]:
    """48 runs of 2^(5-1) with planted effects."""
    random = np.random.default_rng(seed)
    design = replicate(fractional_factorial(KNOBS), 3)
    levels = design.runs[order(design, random)]
    y = planted(design.names, levels, MAIN, SHARED) + noise * random.normal(size=len(levels))
    return design, levels, np.exp(y + np.log1p(drift) * np.linspace(0, 1, len(levels)))


def test_planted_effects_are_recovered() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values, times=evenly(values))
    assert len(found.effects) == 15 and found.notes == ()
    truth = {name: MAIN.get(name, 0.0) for name in KNOBS} | {
        f"{i} × {j}": SHARED.get((i, j), 0.0) for i in KNOBS for j in KNOBS if i < j
    }
    outside = [e.name for e in found.effects if not e.contrast.low <= np.exp(truth[e.name]) <= e.contrast.high]
    assert len(outside) <= 1, "one in 20 at 95 %"
    claimed = {e.name for e in found.effects if e.holm < 0.05}  # type: ignore[operator]
    assert claimed == {"a", "b", "c", "a × b", "c × d"}
    assert effect(found, "a").contrast.value == pytest.approx(np.exp(0.10), rel=0.01)
    assert [e.holm for e in found.effects] == holm([e.contrast.p for e in found.effects])  # type: ignore[misc]


def test_intervals_cover_as_often_as_they_say() -> None:
    random, hits = np.random.default_rng(1), 0
    design = replicate(fractional_factorial(KNOBS), 2)
    for _ in range(150):
        levels = design.runs[order(design, random)]
        noise = 0.02 * random.normal(size=len(levels)) + np.linspace(0, 0.2, len(levels))
        found = analyse(design.names, levels, np.exp(noise), times=evenly(levels))
        hits += sum(e.contrast.low <= 1 <= e.contrast.high for e in found.effects)  # type: ignore[operator]
    assert 0.93 < hits / (150 * 15) < 0.97


def test_drift_is_no_effect_where_the_order_is_random() -> None:
    random, drift = np.random.default_rng(7), np.log(1.2)
    noise = 0.005 * random.normal(size=48)
    y = drift * np.linspace(0, 1, 48) + noise
    naive = y.reshape(6, 8).mean(axis=1)  # the baseline eight times, then each of five knobs eight times
    assert naive[5] - naive[0] == pytest.approx(5 / 6 * drift, abs=0.01), "16 % out of nothing"

    design = replicate(fractional_factorial(KNOBS), 3)
    found = analyse(design.names, design.runs[order(design, random)], np.exp(y), times=evenly(y))
    assert all(abs(change(e)) < 0.005 and e.holm > 0.05 for e in found.effects)  # type: ignore[operator]
    assert found.drift is not None and found.drift.low is not None and found.drift.high is not None
    assert found.drift.low <= 1.2 <= found.drift.high and found.drift.p is not None and found.drift.p < 1e-9


def test_with_nothing_else_the_drift_is_the_regression_on_time() -> None:
    random = np.random.default_rng(1)
    levels = np.where(np.arange(20) % 2, 1, -1)
    y = random.normal(size=20)
    found = analyse(["a"], levels[:, None], np.exp(y), times=evenly(y))
    time = np.arange(20) - 19 / 2
    centred = levels - linregress(time, levels).slope * time
    slope = linregress(centred, y - linregress(time, y).slope * time).slope
    assert change(effect(found, "a")) == pytest.approx(2 * slope)
    assert found.drift is not None
    rest = y - levels * slope
    assert np.log(found.drift.value) == pytest.approx(19 * linregress(time, rest).slope)


FILTRATION = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]
"""Montgomery, example 6.2: a 2^4 factorial in standard order."""


def test_the_textbook_example() -> None:
    design = full_factorial(["A", "B", "C", "D"])
    twice, values = (
        np.concatenate([design.runs, design.runs[::-1]]),
        np.exp(np.array(FILTRATION + FILTRATION[::-1]) / 99),
    )
    found = analyse(design.names, twice, values, times=evenly(values))
    assert [99 * change(e) for e in found.effects] == pytest.approx(
        [21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375, -0.375, -1.125]
    ), "there and back: no drift"
    assert found.drift is not None and found.drift.value == pytest.approx(1.0)


def test_where_nothing_is_left_over_there_is_no_interval_but_a_reason() -> None:
    found = analyse(["a"], [[-1], [1], [-1]], [1.0, 2.0, 1.0], times=[0, 1, 2])
    contrast = effect(found, "a").contrast
    assert contrast.value == pytest.approx(2.0)
    assert (contrast.low, contrast.high, contrast.p) == (None, None, None)
    assert effect(found, "a").holm is None and "one replicate more" in found.notes[0]


def test_drift_that_would_leave_no_room_for_interactions_leaves_them_out_and_says_so(wording: Wording) -> None:
    design = fractional_factorial(KNOBS)
    values = np.arange(1.0, 17.0) ** 0.1
    found = analyse(design.names, at_random(design), values, times=evenly(values))
    assert [e.name for e in found.effects] == KNOBS
    assert lacking(found.notes[0], "10 interactions", "drift") == []
    wording(found.notes[0])


def test_drift_that_looks_like_the_effects_is_not_modelled_and_it_says_so(wording: Wording) -> None:
    design = full_factorial(KNOBS[:3])
    found = analyse(design.names, design.runs, np.arange(1.0, 9.0), times=range(8))
    assert found.drift is None
    (note,) = found.notes
    assert lacking(note, "drift", "not modelled", "random order") == []
    wording(note)


def test_aliases_are_one_effect_with_all_names() -> None:
    design = replicate(fractional_factorial(KNOBS[:4], 4), 2)
    levels = at_random(design)
    y = planted(design.names, levels, {"a": 0.1}, {("a", "b"): 0.02, ("c", "d"): 0.03})
    found = analyse(design.names, levels, np.exp(y), times=evenly(y))
    assert [e.name for e in found.effects][4:] == ["a × b + c × d", "a × c + b × d", "a × d + b × c"]
    assert change(effect(found, "a × b + c × d")) == pytest.approx(0.05)
    assert effect(found, "a × b + c × d").names == ("a × b", "c × d")
    assert change(effect(found, "a")) == pytest.approx(0.1), "main effects are clear in resolution IV"


def test_an_alias_with_the_opposite_sign_shows_it() -> None:
    design = replicate(plackett_burman(list("abcdefg"), 8), 2)
    levels = at_random(design)
    y = planted(design.names, levels, {"a": 0.1}, {("c", "d"): 0.04})
    found = analyse(design.names, levels, np.exp(y), times=evenly(y))
    first = found.effects[0]
    assert first.names[0] == "a" and "−c × d" in first.names and first.name.startswith("a − ")
    assert change(first) == pytest.approx(0.06), "a - c × d"
    assert len(found.effects) == 7


def test_factors_always_changed_together_are_one() -> None:
    found = analyse(["a", "b"], [[-1, -1], [1, 1], [1, 1], [-1, -1]] * 2, [1.0, 2.0, 2.0, 1.0] * 2, times=range(8))
    assert [e.names for e in found.effects] == [("a", "b")]


def test_the_control_has_no_claim_and_no_interactions() -> None:
    random = np.random.default_rng(2)
    design = replicate(full_factorial(with_control(["a", "b"])), 4)
    levels = design.runs[order(design, random)]
    values = np.exp(planted(design.names, levels, {"a": 0.1}, {}) + 0.01 * random.normal(size=32))
    found = analyse(design.names, levels, values, times=evenly(values))
    assert [e.name for e in found.effects] == ["a", "b", CONTROL, "a × b"]
    assert [e.control for e in found.effects] == [False, False, True, False]
    assert effect(found, CONTROL).holm is None and effect(found, "a").holm is not None


def test_an_aliased_control_is_pointed_out() -> None:
    screened = replicate(plackett_burman(with_control(list("abcdef")), 8), 2)
    notes = analyse(screened.names, at_random(screened), np.arange(1.0, 17.0), times=range(16)).notes
    assert any("control A/A is aliased" in note for note in notes)


def test_the_order_of_the_runs_does_not_matter_where_their_times_go_with_them() -> None:
    design, levels, values = campaign(drift=0.2)
    times = np.arange(len(values)) * 3.0 + 1e9
    plain = analyse(design.names, levels, values, times=evenly(values))
    timed = analyse(design.names, levels, values, times=times)
    mixed = np.random.default_rng(1).permutation(len(values))
    shuffled = analyse(design.names, levels[mixed], values[mixed], times=times[mixed])
    for other in (timed, shuffled):
        for a, b in zip(plain.effects, other.effects, strict=True):
            assert (b.name, b.contrast.low, b.contrast.high) == (
                a.name, pytest.approx(a.contrast.low), pytest.approx(a.contrast.high)
            )  # fmt: skip
        assert other.drift is not None and plain.drift is not None
        assert other.drift.value == pytest.approx(plain.drift.value)


@pytest.mark.parametrize("factor", [1e6, 1e-12])
def test_scaling_leaves_ratios(factor: float) -> None:
    design, levels, values = campaign()
    plain, scaled = (analyse(design.names, levels, values * x, times=evenly(values)) for x in (1.0, factor))
    for a, b in zip(plain.effects, scaled.effects, strict=True):
        assert (b.contrast.value, b.contrast.low) == (pytest.approx(a.contrast.value), pytest.approx(a.contrast.low))


def test_a_rate_is_a_time_upside_down() -> None:
    design, levels, values = campaign()
    times, rates = (analyse(design.names, levels, x, times=evenly(values)).effects for x in (values, 1 / values))
    for a, b in zip(times, rates, strict=True):
        assert (b.contrast.value, b.contrast.p) == (pytest.approx(1 / a.contrast.value), pytest.approx(a.contrast.p))


def test_constants_have_no_effect() -> None:
    design = replicate(full_factorial(["a", "b"]), 2)
    for e in analyse(design.names, at_random(design), [0.3] * 8, times=range(8)).effects:
        assert (e.contrast.value, e.contrast.low, e.contrast.high, e.contrast.p) == (1.0, 1.0, 1.0, 1.0)


def test_main_effects_only() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values, times=evenly(values), interactions=False)
    assert [e.name for e in found.effects] == KNOBS and found.notes == ()


def test_an_ablation_shows_main_effects_clear_of_interactions_of_two() -> None:
    design = replicate(ablation(KNOBS), 2)
    levels = at_random(design)
    y = planted(design.names, levels, MAIN, SHARED)
    found = analyse(design.names, levels, np.exp(y), times=evenly(y), interactions=False)
    assert [change(e) for e in found.effects] == pytest.approx([MAIN.get(name, 0.0) for name in KNOBS], abs=0.01)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2, 3, float("nan")], "must be finite"),
        ([1, 2, 3, float("inf")], "must be finite"),
        ([1, 2, 3, 0], "above zero"),
        ([1, 2, 3, -1], "above zero"),
        ([], "0 runs"),
        ([1, 2, 3], "levels have shape"),
    ],
)
def test_values_that_cannot_be_analysed(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        analyse(["a", "b"], full_factorial(["a", "b"]).runs, values, times=evenly(values))


def test_what_else_is_refused() -> None:
    runs, values, times = full_factorial(["a", "b"]).runs, [1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]
    with pytest.raises(ValueError, match="names must differ"):
        analyse(["a", "a"], runs, values, times=times)
    with pytest.raises(ValueError, match="b is 0 in run 1"):
        analyse(["a", "b"], [[-1, -1], [1, 0], [-1, 1], [1, 1]], values, times=times)
    with pytest.raises(ValueError, match="b never changed over 4 runs"):
        analyse(["a", "b"], [[-1, -1], [1, -1], [-1, -1], [1, -1]], values, times=times)
    with pytest.raises(ValueError, match="a was on exactly when b was off"):
        analyse(["a", "b"], [[-1, 1], [1, -1]] * 2, values, times=times)
    with pytest.raises(ValueError, match="4 runs cannot tell 3 main effects apart"):
        analyse(["a", "b", "c"], [[-1, -1, -1], [1, 1, -1], [1, -1, 1], [1, 1, -1]], values, times=times)
    with pytest.raises(ValueError, match="3 times for 4 runs"):
        analyse(["a", "b"], runs, values, times=[1, 2, 3])
    with pytest.raises(ValueError, match="at one time"):
        analyse(["a", "b"], runs, values, times=[1, 1, 1, 1])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        analyse(["a", "b"], runs, values, times=times, confidence=95)


def test_an_analysis_is_a_value() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values, times=evenly(values))
    assert found == analyse(design.names, levels, values, times=evenly(values))
    assert replace(found, confidence=0.9) != found
