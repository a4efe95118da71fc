"""What a study of speedup says, in words, tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any

import numpy as np

from wulf.core.names import plural
from wulf.core.units import scale_for, show, show_in
from wulf.model.speedup.fitting import MISFIT_LEVEL, Fit
from wulf.model.speedup.forms import FORMS
from wulf.model.speedup.study import SUPPORTED, TOLD_APART, HeldOut, Study
from wulf.report.kit.view import Columns, Curve, Plot, Section, View, interval_object
from wulf.stats.estimates import Interval

GRID = 160
TITLES = {form.name: form.title for form in FORMS}

_WORDS = {
    "amdahl": {"c": ("c", "work that divides"), "a": ("a", "serial part"),
               "serial_fraction": ("a/(a+c)", "serial fraction")},
    "brown": {"c": ("Tp", "work that divides"), "a": ("Ts + Tip", "serial part"), "b": ("Tis", "communication, × N")},
    "usl": {"t1": ("T₁", "one worker"), "sigma": ("σ", "contention"), "kappa": ("κ", "coherency")},
}  # fmt: skip
_WORDS["brown2"] = {**_WORDS["brown"], "b": ("Tis", "communication, × N²")}
_APART = {"ts": ("Ts", "serial part of the program"), "tip": ("Tip", "serial part of going parallel")}
_RATIOS = {"serial_fraction", "sigma", "kappa"}


def speedup_view(study: Study, source: str, at: Sequence[float] = (), notes: Sequence[str] = ()) -> View:
    """The report of a study.

    Parameters
    ----------
    source
        Where the times came from, for people.
    at
        Numbers of workers to predict.
    """
    chosen = None if study.best is None else study.fits[study.best]
    sections = [_choice(study), *(_parameters(study.fits[name]) for name in study.alike)]
    sections += [*([] if chosen is None else [_peak(chosen)]), _points(study)]
    if at and chosen is not None:
        sections.append(_predictions(study, at))
    if chosen is not None:
        sections.append(Section("Speedup", plot=plot_of(study, at)))
    return View("wulf model speedup", _headline(study, source), sections, [*notes, *_notes(study, at)], _method(study))


def _headline(study: Study, source: str) -> str:
    t = study.times
    runs = plural(int(t.counts.sum()), "run")
    spread = "" if t.noise is None else f"; a run varies by {float(np.median(t.noise.spread)):.1%}"
    places = plural(t.workers.size, "number of workers", "numbers of workers")
    return f"{source}: {places}, {t.workers[0]:g} to {t.workers[-1]:g}, {runs}{spread}"


def _choice(study: Study) -> Section:
    rows = []
    for name, held in sorted(study.held_out.items(), key=lambda item: item[1].error):
        rows.append(
            [TITLES[name], study.fits[name].form.formula, f"{held.error:.2%}", _apart(held, name == study.best)]
        )
    lines = [f"{TITLES[name]}: {reason}" for name, reason in study.refused.items()]
    return Section(
        "Which form: error at numbers of workers that were left out", [_verdict(study), *lines],
        Columns(["form", "T(N)", "held-out error", "told apart from best"], rows, 2),
    )  # fmt: skip


def _apart(held: HeldOut, best: bool) -> str:
    if best:
        return "the best"
    return f"{'yes' if held.told_apart else 'no'} (worse in {held.worse or 0:.0%})"


def _verdict(study: Study) -> str:
    if study.best is None:
        return "No form can be fitted."
    others = [TITLES[name] for name in study.alike[1:]]
    if not others:
        return f"{TITLES[study.best]} predicts best, and better than noise explains."
    return f"{TITLES[study.best]} predicts best, but can't be told apart from {' or '.join(others)} with these data."


def _parameters(one: Fit) -> Section:
    words = _WORDS[one.form.name] | _APART
    rows = []
    for name, value in one.parameters.items():
        unit = "1" if name in _RATIOS else "s"
        rows.append([words[name][0], words[name][1], _value(value.value, unit), interval_text(value, unit)])
    lines = []
    if one.form.name.startswith("brown") and one.serial is None:
        lines.append("Ts and Tip can't be told apart without a run of the serial program: a = Ts + Tip.")
    return Section(
        f"{one.form.title}: T(N) = {one.form.formula}", lines,
        Columns(["parameter", "", "value", f"{one.confidence:.0%} interval"], rows, 2),
    )  # fmt: skip


def _peak(one: Fit) -> Section:
    most = float(one.times.workers[-1])
    shares = one.shares(most)
    costs = ", ".join(f"{share:.0%} {what}" for what, share in sorted(shares.items(), key=lambda item: -item[1]))
    lines = [f"At {most:g} workers the time is {costs}.", limit_of(one)]
    peak = one.peak
    if isfinite(peak.workers.value):
        lines.append(
            f"Fastest at N* = {_value(peak.workers.value, '1')} workers ({interval_text(peak.workers, '1')}), "
            f"S = {_value(peak.speedup.value, '1')} ({interval_text(peak.speedup, '1')})."
        )
        if peak.workers.value > SUPPORTED * most:
            lines.append("That is beyond what the data support.")
    else:
        ends = f"S stays below {_value(peak.speedup.value, '1')} ({interval_text(peak.speedup, '1')})"
        lines.append(f"No peak: more workers never make it slower in this form; {ends}.")
    return Section("What limits it", lines)


def limit_of(one: Fit) -> str:
    """What costs most at the most workers measured, beside the work that divides."""
    shares = one.shares(float(one.times.workers[-1]))
    work, others = one.form.costs[0], {k: v for k, v in shares.items() if k != one.form.costs[0]}
    what, share = max(others.items(), key=lambda item: item[1])
    if shares[work] >= 0.5:
        return "The work itself still takes most: more workers help."
    return f"Limited by {what}: {share:.0%} of the time."


def _points(study: Study) -> Section:
    t, fractions = study.times, {one.workers: one.fraction for one in study.karp_flatt}
    chosen = None if study.best is None else study.fits[study.best]
    divisor, unit = scale_for(float(np.median(t.means)), "s")
    rows = []
    for n, mean in zip(t.workers, t.means, strict=True):
        row = [f"{n:g}", show_in(mean, divisor)]
        if chosen is not None:
            fitted, gain = chosen.time(n), chosen.speedup(n)
            row += [show_in(fitted.value, divisor), interval_text(gain, "1"), f"{gain.value / n:.0%}"]
        fraction = fractions.get(n)
        row.append("–" if fraction is None else f"{fraction.value:.2%} {_spread(fraction)}".strip())
        rows.append(row)
    heads = ["workers", f"measured {unit}"]
    heads += [] if chosen is None else [f"fitted {unit}", "speedup", "efficiency"]
    lines = []
    if not fractions:
        lines.append("No Karp–Flatt fraction: it needs the time of one worker, or of the serial program.")
    elif t.noise is None:
        lines.append("The Karp–Flatt fractions have no intervals: no run was repeated.")
    return Section("At each number of workers", lines, Columns([*heads, "Karp–Flatt fraction"], rows))


def _spread(one: Interval) -> str:
    return f"({one.low:.2%} to {one.high:.2%})" if isfinite(one.low) and isfinite(one.high) else ""


def _predictions(study: Study, at: Sequence[float]) -> Section:
    rows = []
    for n in at:
        seconds, gain = study.predict(n), study.speedup(n)
        figures = [f"{n:g}", _value(seconds.value, "s"), interval_text(seconds, "s")]
        figures += [_value(gain.value, "1"), interval_text(gain, "1")]
        rows.append([*figures, "" if study.supported(n) else "! not supported by data"])
    heads = ["workers", "time", "interval", "speedup", "interval", ""]
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    names = " and ".join(TITLES[name] for name in study.alike)
    return Section("Predicted", [f"The intervals reach over {names}."], Columns(heads, rows))


def plot_of(study: Study, at: Sequence[float] = ()) -> Plot:
    """Speedup over workers: the measured, every form that can't be told apart, and the linear."""
    assert study.best is not None  # noqa: S101 - the caller has a form
    t, best = study.times, study.fits[study.best]
    ends = float(t.workers[0]), max([float(t.workers[-1]), *at])
    grid = np.geomspace(ends[0], max(ends[1], ends[0] * 2), GRID)
    curves = [Curve("linear", grid.tolist(), grid.tolist(), dashed=True, mark="/")]
    # The best last, over the others.
    for name, mark in reversed(list(zip(study.alike, "·+x~", strict=False))):
        one = study.fits[name]
        gains = [one.speedup(float(n)) for n in grid]
        band = name == study.best
        curves.append(
            Curve(TITLES[name], grid.tolist(), [g.value for g in gains],
                  [g.low for g in gains] if band else (), [_finite(g.high, g.value) for g in gains] if band else (),
                  mark=mark)
        )  # fmt: skip
    base = best.speedup(1.0).value * best.at(1.0)
    curves.append(Curve("measured", t.workers.tolist(), (base / t.means).tolist(), points=True, mark="o"))
    return Plot("speedup", curves, "workers", "speedup")


def _finite(value: float, other: float) -> float:
    return value if isfinite(value) else other


def _notes(study: Study, at: Sequence[float]) -> list[str]:
    notes = []
    far = [f"{n:g}" for n in at if not study.supported(n)]
    if far:
        most = study.times.workers[-1]
        notes.append(
            f"{', '.join(far)} workers: more than {SUPPORTED:g} times the most measured ({most:g}); "
            "the intervals hold only if the form does, and no data say so"
        )
    chosen = None if study.best is None else study.fits[study.best]
    if chosen is not None and chosen.misfits:
        notes.append(
            f"the means miss {chosen.form.title}'s curve by {chosen.beyond:.1f} times what their runs' noise explains: "
            "it is not this program's form, or launches differ from each other by more than runs do; the intervals are "
            "as wide as that asks, and several launches at each number of workers would tell which it is"
        )
    if {"brown", "usl"} <= set(study.alike):
        notes.append("Brown's form with N and USL are the same curves wherever σ ≥ κ: no times can tell them apart")
    if study.times.uneven:
        notes.append("the runs' relative spread differs between numbers of workers: each has its own weight")
    return notes


def _method(study: Study) -> str:
    source = "repeated runs" if study.times.noise is not None else "the fit's residuals, as no run was repeated"
    return (
        "Weighted non-negative least squares; intervals by bootstrap of relative errors, from "
        f"{source}, and of what launches may add; they cover in 93 % of simulated campaigns or more "
        f"(docs/how-to/models.md). A form is told apart where it is worse in {TOLD_APART:.0%} of draws; means miss it "
        f"where the runs' noise does as much in {MISFIT_LEVEL:.0%}."
    )


def _value(value: float, unit: str) -> str:
    return "∞" if value == inf else show(value, unit)


def interval_text(one: Interval, unit: str) -> str:
    """Both ends; an end without bound is told as such."""
    if one.high == inf:
        return "no bound" if one.low == inf else f"over {show(one.low, unit)}"
    divisor, name = scale_for(one.high, unit)
    return f"{show(one.low / divisor, '')}–{show(one.high / divisor, '')} {name}".strip()


def speedup_object(study: Study, source: str, at: Sequence[float] = ()) -> dict[str, Any]:
    """All of it for programs; what is unbounded is null."""
    return {
        "source": source,
        "workers": study.times.workers.tolist(),
        "seconds": study.times.means.tolist(),
        "runs": study.times.counts.astype(int).tolist(),
        "best": study.best,
        "alike": list(study.alike),
        "refused": dict(study.refused),
        "forms": {name: _fit_object(one, study.held_out[name]) for name, one in study.fits.items()},
        "karp_flatt": [{"workers": one.workers, **interval_object(one.fraction)} for one in study.karp_flatt],
        "predictions": [_prediction_object(study, n) for n in at] if study.best is not None else [],
    }


def _fit_object(one: Fit, held: HeldOut) -> dict[str, Any]:
    return {
        "formula": one.form.formula,
        "parameters": {name: interval_object(value) for name, value in one.parameters.items()},
        "held_out_error": held.error,
        "told_apart": held.told_apart,
        "peak": {"workers": interval_object(one.peak.workers), "speedup": interval_object(one.peak.speedup)},
        "shares": one.shares(float(one.times.workers[-1])),
        "misfit_p": one.misfit,
        "beyond_noise": one.beyond,
        "confidence": one.confidence,
    }


def _prediction_object(study: Study, workers: float) -> dict[str, Any]:
    return {
        "workers": workers,
        "seconds": interval_object(study.predict(workers)),
        "speedup": interval_object(study.speedup(workers)),
        "supported": study.supported(workers),
    }
