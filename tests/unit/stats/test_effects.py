"""Planted effects are found, drift and reboots are not taken for effects, and what cannot be told apart is not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import linregress, ttest_ind

from tests.wording import Wording, lacking
from wulf.stats.comparison import holm
from wulf.stats.designs import (
    CONTROL,
    Design,
    ablation,
    fractional_factorial,
    full_factorial,
    one_at_a_time,
    order,
    plackett_burman,
    replicate,
    split_plot,
    with_control,
)
from wulf.stats.effects import Analysis, Basis, Effect, analyse, lenth_error

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


def campaign(seed: int = 1, noise: float = 0.01, drift: float = 0.0) -> tuple[Design, np.ndarray, np.ndarray]:
    """48 runs of 2^(5-1) with planted effects."""
    random = np.random.default_rng(seed)
    design = replicate(fractional_factorial(KNOBS), 3)
    levels = design.runs[order(design, random)]
    y = planted(design.names, levels, MAIN, SHARED) + noise * random.normal(size=len(levels))
    return design, levels, np.exp(y + np.log1p(drift) * np.linspace(0, 1, len(levels)))


def test_planted_effects_are_recovered() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values)
    assert len(found.effects) == 15 and found.left_out == () and found.notes == ()
    truth = {name: MAIN.get(name, 0.0) for name in KNOBS} | {
        f"{i} × {j}": SHARED.get((i, j), 0.0) for i in KNOBS for j in KNOBS if i < j
    }
    outside = [e.name for e in found.effects if not e.contrast.low <= np.exp(truth[e.name]) <= e.contrast.high]
    assert len(outside) <= 1, "one in 20 at 95 %"
    claimed = {e.name for e in found.effects if e.holm < 0.05}  # type: ignore[operator]
    assert claimed == {"a", "b", "c", "a × b", "c × d"}
    assert effect(found, "a").contrast.value == pytest.approx(np.exp(0.10), rel=0.01)
    assert effect(found, "a").contrast.basis is Basis.RESIDUAL
    assert found.sigma == pytest.approx(0.01, rel=0.3)
    assert [e.holm for e in found.effects] == holm([e.contrast.p for e in found.effects])  # type: ignore[misc]


def test_intervals_cover_as_often_as_they_say() -> None:
    random, hits = np.random.default_rng(1), 0
    design = replicate(fractional_factorial(KNOBS), 2)
    for _ in range(150):
        levels = design.runs[order(design, random)]
        noise = 0.02 * random.normal(size=len(levels)) + np.linspace(0, 0.2, len(levels))
        found = analyse(design.names, levels, np.exp(noise))
        hits += sum(e.contrast.low <= 1 <= e.contrast.high for e in found.effects)  # type: ignore[operator]
    assert 0.93 < hits / (150 * 15) < 0.97


def test_attribution_is_alone_and_half_of_what_is_shared_and_sums_up_to_the_total() -> None:
    design = full_factorial(KNOBS[:4])
    y = planted(design.names, design.runs, MAIN, SHARED)
    found = analyse(design.names, design.runs, np.exp(y), trend=0)
    assert found.total is not None
    on, off = y[-1], y[0]
    assert found.total.change == pytest.approx(on - off)
    assert sum(a.share.change for a in found.attribution) == pytest.approx(on - off)
    assert np.prod([a.share.value for a in found.attribution]) == pytest.approx(np.exp(on - off))
    for i, a in enumerate(found.attribution):
        alone = y[np.flatnonzero((design.runs == np.where(np.arange(4) == i, 1, -1)).all(axis=1))[0]] - off
        assert a.alone is not None and a.shared is not None
        assert a.alone.change == pytest.approx(alone)
        assert a.alone.change + a.shared.change == pytest.approx(a.share.change)


def test_attribution_sums_up_with_noise_drift_and_whole_plots_too() -> None:
    design, levels, values = campaign(drift=0.2)
    plots = np.repeat(np.arange(8), 7)[: len(levels)]
    levels = np.column_stack([levels, np.where(plots % 2, 1, -1)])
    for labels in (None, plots):
        found = analyse((*design.names, "w"), levels, values, plots=labels)
        assert found.total is not None
        assert sum(a.share.change for a in found.attribution) == pytest.approx(found.total.change)


def test_an_ablation_attributes_what_it_cannot_see_by_itself() -> None:
    design = ablation(KNOBS)
    y = planted(design.names, design.runs, MAIN, SHARED)
    found = analyse(design.names, design.runs, np.exp(y), trend=0)
    assert [a.share.change for a in found.attribution] == pytest.approx([MAIN.get(name, 0.0) for name in KNOBS])
    assert len(found.left_out) == 10 and "cannot tell 10 interactions" in found.notes[0]
    assert found.attribution[0].alone is None and "not all seen" in str(found.attribution[0].reason)
    assert all(e.partly == () for e in found.effects)


def test_drift_is_no_effect_where_the_order_is_random_and_drift_is_modelled() -> None:
    random, drift = np.random.default_rng(7), np.log(1.2)
    noise = 0.005 * random.normal(size=48)
    y = drift * np.linspace(0, 1, 48) + noise
    naive = y.reshape(6, 8).mean(axis=1)  # the baseline eight times, then each of five knobs eight times
    assert naive[5] - naive[0] == pytest.approx(5 / 6 * drift, abs=0.01), "16 % out of nothing"

    design = replicate(fractional_factorial(KNOBS), 3)
    levels = design.runs[order(design, random)]
    found = analyse(design.names, levels, np.exp(y))
    assert all(abs(e.contrast.change) < 0.005 and e.holm > 0.05 for e in found.effects)  # type: ignore[operator]
    assert found.drift is not None and found.drift.low is not None and found.drift.high is not None
    assert found.drift.low <= 1.2 <= found.drift.high and found.drift.p is not None and found.drift.p < 1e-9
    blind = analyse(design.names, levels, np.exp(y), trend=0)
    assert blind.sigma is not None and found.sigma is not None
    assert blind.sigma > 5 * found.sigma, "what is not modelled is noise"
    assert blind.drift is None


def test_a_curved_drift_takes_the_second_degree() -> None:
    design, levels, values = campaign(noise=0.0)
    time = np.linspace(-1, 1, len(values))
    bent = values * np.exp(0.1 * time - 0.2 * time**2)
    found = analyse(design.names, levels, bent, trend=2)
    assert effect(found, "a").contrast.change == pytest.approx(0.10)
    assert found.drift is not None and found.drift.change == pytest.approx(0.2)
    assert analyse(design.names, levels, bent, trend=1).sigma > 0.01  # type: ignore[operator]


def test_with_nothing_else_the_drift_is_the_regression_on_time() -> None:
    random = np.random.default_rng(1)
    levels = np.where(np.arange(20) % 2, 1, -1)
    y = random.normal(size=20)
    found = analyse(["a"], levels[:, None], y, log=False, trend=1)
    time = np.arange(20) - 19 / 2
    centred = levels - linregress(time, levels).slope * time
    slope = linregress(centred, y - linregress(time, y).slope * time).slope
    assert effect(found, "a").contrast.value == pytest.approx(2 * slope)
    assert found.drift is not None
    rest = y - levels * slope
    assert found.drift.value == pytest.approx(19 * linregress(time, rest).slope)


FILTRATION = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]
"""Montgomery, example 6.2: a 2^4 factorial in standard order."""


def test_the_textbook_example() -> None:
    design = full_factorial(["A", "B", "C", "D"])
    found = analyse(design.names, design.runs, FILTRATION, log=False, trend=0)
    assert [e.contrast.value for e in found.effects] == pytest.approx(
        [21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375, -0.375, -1.125]
    )
    assert effect(found, "A").contrast.df == 5


def test_lenth_of_the_textbook_example() -> None:
    effects = [21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375, -0.375, -1.125, 1.875, 4.125, -1.625]
    assert lenth_error([*effects, -2.625, 1.375]) == pytest.approx(2.625)
    with pytest.raises(ValueError, match="no contrasts"):
        lenth_error([])


def test_where_nothing_is_left_over_lenth_is_used_and_it_says_so() -> None:
    design = fractional_factorial(KNOBS)
    random = np.random.default_rng(1)
    y = planted(design.names, design.runs, {"a": 0.1, "b": -0.08}, {}) + 0.01 * random.normal(size=16)
    found = analyse(design.names, design.runs, np.exp(y), trend=0)
    assert {e.contrast.basis for e in found.effects} == {Basis.LENTH}
    assert {e.contrast.df for e in found.effects} == {5.0}
    assert {e.name for e in found.effects if e.contrast.p < 0.05} == {"a", "b"}  # type: ignore[operator]
    error = lenth_error([e.contrast.change for e in found.effects])
    assert effect(found, "c").contrast.error == pytest.approx(error)
    assert found.sigma is None


def test_too_few_effects_for_lenth_have_no_interval_but_a_reason() -> None:
    found = analyse(["a"], [[-1], [1]], [1.0, 2.0], trend=0)
    contrast = effect(found, "a").contrast
    assert contrast.value == pytest.approx(2.0)
    assert (contrast.low, contrast.high, contrast.p, contrast.error) == (None, None, None, None)
    assert contrast.basis is Basis.NONE and "one replicate more" in str(contrast.reason)
    assert effect(found, "a").holm is None and found.notes == (contrast.reason,)


def test_drift_that_would_leave_no_room_for_interactions_leaves_them_out_and_says_so(wording: Wording) -> None:
    design = fractional_factorial(KNOBS)
    levels = design.runs[order(design, np.random.default_rng(1))]
    found = analyse(design.names, levels, np.arange(1.0, 17.0) ** 0.1)
    assert len(found.left_out) == 10 and lacking(found.notes[0], "10 interactions", "drift") == []
    wording(found.notes[0])
    assert all(e.partly == () for e in found.effects), "resolution V"


def test_drift_that_looks_like_the_effects_is_not_modelled_and_it_says_so(wording: Wording) -> None:
    design = full_factorial(KNOBS[:3])
    found = analyse(design.names, design.runs, np.arange(1.0, 9.0))
    assert found.drift is None
    (note,) = found.notes
    assert lacking(note, "drift", "not modelled", "random order") == []
    wording(note)


def test_aliases_are_one_effect_with_all_names() -> None:
    design = replicate(fractional_factorial(KNOBS[:4], 4), 2)
    levels = design.runs[order(design, np.random.default_rng(1))]
    y = planted(design.names, levels, {"a": 0.1}, {("a", "b"): 0.02, ("c", "d"): 0.03})
    found = analyse(design.names, levels, np.exp(y))
    assert [e.name for e in found.effects][4:] == ["a × b + c × d", "a × c + b × d", "a × d + b × c"]
    assert effect(found, "a × b + c × d").contrast.change == pytest.approx(0.05)
    assert effect(found, "a × b + c × d").names == ("a × b", "c × d")
    assert found.attribution[0].share.change == pytest.approx(0.1), "main effects are clear in resolution IV"
    assert found.attribution[0].alone is None


def test_an_alias_with_the_opposite_sign_shows_it() -> None:
    design = replicate(plackett_burman(list("abcdefg"), 8), 2)
    y = planted(design.names, design.runs, {"a": 0.1}, {("c", "d"): 0.04})
    found = analyse(design.names, design.runs, np.exp(y), trend=0)
    first = found.effects[0]
    assert first.names[0] == "a" and "−c × d" in first.names and first.name.startswith("a − ")
    assert first.contrast.change == pytest.approx(0.06), "a - c × d"
    assert len(found.effects) == 7


def test_partial_aliases_are_named() -> None:
    design = plackett_burman(list("abcdefgh"))
    found = analyse(design.names, design.runs, np.arange(1.0, 13.0), trend=0)
    assert len(found.left_out) == 28
    assert "b × c" in found.effects[0].partly and "a × b" not in found.effects[0].partly


def test_factors_always_changed_together_are_one() -> None:
    found = analyse(["a", "b"], [[-1, -1], [1, 1]] * 4, [1.0, 2.0] * 4)
    assert [e.names for e in found.effects] == [("a", "b")]
    assert [a.names for a in found.attribution] == [("a", "b")]
    assert found.left_out == ("a × b",)
    assert found.total is not None and found.total.value == pytest.approx(2.0)


@pytest.fixture(scope="module")
def reboots() -> dict[str, float]:
    """Share of 300 campaigns without any effect in which p < .05, whole-plot noise 3 %, run noise 1 %."""
    random = np.random.default_rng(3)
    design = replicate(split_plot(["w"], ["a", "b"]), 4)
    false = dict.fromkeys(["w", "a", "w × a", "total", "naive w"], 0.0)
    for _ in range(300):
        sequence = order(design, random)
        levels, plots = design.runs[sequence], design.plots[sequence]
        assert plots is not None
        y = 0.01 * random.normal(size=len(levels)) + 0.03 * random.normal(size=design.reboots)[plots]
        found = analyse(design.names, levels, np.exp(y), plots=plots, trend=0)
        naive = analyse(design.names, levels, np.exp(y), trend=0, interactions=False)
        p = {e.name: e.contrast.p for e in found.effects}
        p |= {"total": found.total.p if found.total else None, "naive w": naive.effects[0].contrast.p}
        for name in false:
            false[name] += (p[name] < 0.05) / 300  # type: ignore[operator]
    return false


def test_whole_plot_noise_fools_the_naive_analysis_and_not_this_one(reboots: dict[str, float]) -> None:
    assert reboots["naive w"] > 0.25
    for name in ("w", "a", "w × a", "total"):  # five binomial standard deviations are .063
        assert reboots[name] < 0.113, name
    for name in ("w", "a", "w × a"):
        assert reboots[name] > 0.01, name


def test_a_whole_plot_factor_is_judged_by_the_plots_means() -> None:
    design = replicate(split_plot(["w"], ["a"]), 3)
    y = np.random.default_rng(1).normal(size=12)
    found = analyse(design.names, design.runs, y, plots=design.plots, trend=0, log=False)
    means = y.reshape(6, 2).mean(axis=1)
    expected = ttest_ind(means[1::2], means[::2])
    whole = effect(found, "w").contrast
    assert (whole.p, whole.df, whole.basis) == (pytest.approx(expected.pvalue), 4, Basis.BETWEEN)
    assert (whole.low, whole.high) == pytest.approx(tuple(expected.confidence_interval()))
    assert effect(found, "a").contrast.basis is Basis.WITHIN
    assert effect(found, "w × a").contrast.basis is Basis.WITHIN
    assert found.total is not None and found.total.basis is Basis.COMBINED and found.total.df == 4


def test_interactions_of_whole_plot_factors_are_judged_by_whole_plots_too() -> None:
    design = replicate(split_plot(["w", "x"], ["a", "b"]), 2)
    found = analyse(design.names, design.runs, np.exp(np.random.default_rng(1).normal(size=32)), plots=design.plots)
    between = {e.name for e in found.effects if e.contrast.basis is Basis.BETWEEN}
    assert between == {"w", "x", "w × x"}


def test_too_few_whole_plots_have_no_interval_and_it_says_how_many_are_needed() -> None:
    random = np.random.default_rng(1)
    once = split_plot(["w"], ["a", "b", "c"])
    few = analyse(once.names, once.runs, np.exp(random.normal(size=16)), plots=once.plots, trend=0)
    whole = effect(few, "w").contrast
    assert whole.low is None and whole.p is None and "3 are needed" in str(whole.reason)
    assert few.total is not None and few.total.low is None
    assert effect(few, "a").contrast.low is not None
    drifting = analyse(once.names, once.runs, np.exp(random.normal(size=16)), plots=once.plots, trend=1)
    assert "4 are needed" in str(effect(drifting, "w").contrast.reason), "the drift takes one more"
    assert any("drift between whole plots" in note for note in drifting.notes)
    twice = replicate(once, 2)
    enough = analyse(twice.names, twice.runs, np.exp(random.normal(size=32)), plots=twice.plots, trend=1)
    assert effect(enough, "w").contrast.low is not None


def test_drift_between_and_within_whole_plots_is_no_effect() -> None:
    random = np.random.default_rng(1)
    design = replicate(split_plot(["w"], ["a", "b"]), 4)
    sequence = order(design, random)
    levels = design.runs[sequence]
    y = planted(design.names, levels, {"w": 0.1, "a": 0.05}, {("w", "a"): 0.02}) + np.linspace(0, 0.3, len(levels))
    found = analyse(design.names, levels, np.exp(y), plots=design.plots[sequence])
    changes = {e.name: e.contrast.change for e in found.effects}
    assert changes == pytest.approx({"w": 0.1, "a": 0.05, "b": 0, "w × a": 0.02, "w × b": 0, "a × b": 0}, abs=1e-9)


def test_the_control_has_no_claim_no_interactions_and_no_share() -> None:
    random = np.random.default_rng(2)
    design = replicate(full_factorial(with_control(["a", "b"])), 4)
    levels = design.runs[order(design, random)]
    values = np.exp(planted(design.names, levels, {"a": 0.1}, {}) + 0.01 * random.normal(size=32))
    found = analyse(design.names, levels, values)
    assert [e.name for e in found.effects] == ["a", "b", CONTROL, "a × b"]
    assert found.control is not None and found.control.control and found.control.holm is None
    assert found.control_alarm is False
    assert [a.names for a in found.attribution] == [("a",), ("b",)]
    skewed = analyse(design.names, levels, values * np.exp(0.05 * levels[:, 2]))
    assert skewed.control_alarm is True, "a method that sees an effect of nothing"
    only = analyse([CONTROL], levels[:, [2]], values)
    assert only.total is None and only.attribution == ()


def test_without_a_control_there_is_no_alarm_and_an_aliased_one_is_pointed_out() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values)
    assert (found.control, found.control_alarm) == (None, None)
    screened = replicate(plackett_burman(with_control(list("abcdef")), 8), 2)
    notes = analyse(screened.names, screened.runs, np.arange(1.0, 17.0), trend=0).notes
    assert any("control A/A is aliased" in note for note in notes)


def test_the_order_of_the_runs_does_not_matter_where_their_times_go_with_them() -> None:
    design, levels, values = campaign(drift=0.2)
    times = np.arange(len(values)) * 3.0 + 1e9
    plain, timed = analyse(design.names, levels, values), analyse(design.names, levels, values, times=times)
    mixed = np.random.default_rng(1).permutation(len(values))
    shuffled = analyse(design.names, levels[mixed], values[mixed], times=times[mixed])
    for other in (timed, shuffled):
        for a, b in zip(plain.effects, other.effects, strict=True):
            assert (b.name, b.contrast.low, b.contrast.high) == (
                a.name, pytest.approx(a.contrast.low), pytest.approx(a.contrast.high)
            )  # fmt: skip
        assert other.drift is not None and plain.drift is not None
        assert other.drift.change == pytest.approx(plain.drift.change)


def test_whole_plots_may_have_any_labels_in_any_order() -> None:
    random = np.random.default_rng(1)
    design = replicate(split_plot(["w"], ["a", "b"]), 2)
    values, mixed = np.exp(random.normal(size=16)), random.permutation(16)
    assert design.plots is not None
    plain = analyse(design.names, design.runs, values, plots=design.plots, trend=0)
    other = analyse(design.names, design.runs[mixed], values[mixed], plots=100 - 7 * design.plots[mixed], trend=0)
    for a, b in zip(plain.effects, other.effects, strict=True):
        assert (b.contrast.change, b.contrast.p) == (pytest.approx(a.contrast.change), pytest.approx(a.contrast.p))


def test_scaling_leaves_ratios_and_scales_differences() -> None:
    design, levels, values = campaign()
    ratios, scaled = analyse(design.names, levels, values), analyse(design.names, levels, values * 1e6)
    for a, b in zip(ratios.effects, scaled.effects, strict=True):
        assert (b.contrast.value, b.contrast.low) == (pytest.approx(a.contrast.value), pytest.approx(a.contrast.low))
    plain = analyse(design.names, levels, values, log=False)
    larger = analyse(design.names, levels, values * 1e6, log=False)
    for a, b in zip(plain.effects, larger.effects, strict=True):
        assert b.contrast.value == pytest.approx(1e6 * a.contrast.value)
        assert b.contrast.p == pytest.approx(a.contrast.p)


def test_a_rate_is_a_time_upside_down() -> None:
    design, levels, values = campaign()
    for a, b in zip(
        analyse(design.names, levels, values).effects, analyse(design.names, levels, 1 / values).effects, strict=True
    ):
        assert (b.contrast.value, b.contrast.p) == (pytest.approx(1 / a.contrast.value), pytest.approx(a.contrast.p))


def test_small_values_are_not_taken_for_rounding() -> None:
    design, levels, values = campaign()
    plain = analyse(design.names, levels, values, log=False)
    tiny = analyse(design.names, levels, values * 1e-12, log=False)
    assert tiny.effects[0].contrast.p == pytest.approx(plain.effects[0].contrast.p)


def test_constants_have_no_effect() -> None:
    design = replicate(full_factorial(["a", "b"]), 2)
    for e in analyse(design.names, design.runs, [0.3] * 8).effects:
        assert (e.contrast.value, e.contrast.low, e.contrast.high, e.contrast.p) == (1.0, 1.0, 1.0, 1.0)


def test_one_at_a_time_names_what_goes_into_its_effects() -> None:
    design = one_at_a_time(KNOBS)
    found = analyse(design.names, design.runs, np.arange(1.0, 8.0), trend=0)
    assert len(found.left_out) == 10 and found.effects[0].partly


def test_main_effects_only() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values, interactions=False)
    assert [e.name for e in found.effects] == KNOBS and found.left_out == ()
    assert found.attribution[0].alone is None and found.attribution[0].reason == "interactions were not asked for"


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
        analyse(["a", "b"], full_factorial(["a", "b"]).runs, values)


def test_zero_and_less_are_fine_without_logarithm() -> None:
    found = analyse(["a"], [[-1], [1], [-1], [1]], [0, 1, 0, 1], log=False, trend=0)
    assert found.effects[0].contrast.value == pytest.approx(1.0)


def test_what_else_is_refused() -> None:
    runs, values = full_factorial(["a", "b"]).runs, [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="names must differ"):
        analyse(["a", "a"], runs, values)
    with pytest.raises(ValueError, match="b is 0 in run 1"):
        analyse(["a", "b"], [[-1, -1], [1, 0], [-1, 1], [1, 1]], values)
    with pytest.raises(ValueError, match="b never changed over 4 runs"):
        analyse(["a", "b"], [[-1, -1], [1, -1], [-1, -1], [1, -1]], values)
    with pytest.raises(ValueError, match="a was on exactly when b was off"):
        analyse(["a", "b"], [[-1, 1], [1, -1]] * 2, values)
    with pytest.raises(ValueError, match="4 runs cannot tell 3 main effects apart"):
        analyse(["a", "b", "c"], [[-1, -1, -1], [1, 1, -1], [1, -1, 1], [1, 1, -1]], values)
    with pytest.raises(ValueError, match=r"3 whole plots .* 3 main effects"):
        whole = np.repeat([[-1, -1, -1], [1, -1, 1], [-1, 1, 1]], 2, axis=0)
        analyse(["w", "x", "y", "a"], np.column_stack([whole, [-1, 1] * 3]), range(1, 7), plots=np.repeat([0, 1, 2], 2))
    with pytest.raises(ValueError, match="3 whole-plot labels for 4 runs"):
        analyse(["a", "b"], runs, values, plots=[0, 0, 1])
    with pytest.raises(ValueError, match="trend of degree 3"):
        analyse(["a", "b"], runs, values, trend=3)
    with pytest.raises(ValueError, match="3 times for 4 runs"):
        analyse(["a", "b"], runs, values, times=[1, 2, 3])
    with pytest.raises(ValueError, match="at one time"):
        analyse(["a", "b"], runs, values, times=[1, 1, 1, 1])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        analyse(["a", "b"], runs, values, confidence=95)


def test_an_analysis_is_a_value() -> None:
    design, levels, values = campaign()
    found = analyse(design.names, levels, values)
    assert found == analyse(design.names, levels, values)
    assert replace(found, n=1) != found
