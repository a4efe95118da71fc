"""What a table of workers and batches says of its farm: forms, figures, serial fraction; and two farms together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np

from wulf.core.names import plural
from wulf.core.units import show
from wulf.model.farm.pelikan import Published
from wulf.model.farm.study import TABLE, FarmStudy
from wulf.model.farm.times import FEW_MESSAGES, TimesStudy, ratio
from wulf.model.speedup.study import SUPPORTED, TOLD_APART
from wulf.model.speedup.study import Study as Speedup
from wulf.report.kit.view import Columns, Curve, Plot, Section, View, interval_object
from wulf.report.model.speedup import TITLES
from wulf.report.mpi.farm import near_section, sentences
from wulf.report.mpi.farm_tables import farm_tables
from wulf.stats.estimates import Interval

GRID = 80

MARKS = "·+x~*#@%&="
"""Of the curves of as many batches: a picture of more could not be read."""

LEGEND = (
    "t and h at a worker that waits for nobody, o at the master: what a unit and a message cost them. From W* workers "
    "on the master is busy all the time. METG(50 %): the unit, one a message, at which half of the workers' time is "
    "lost, were t alone another."
)

METHOD = (
    "C, the time from one message of a worker to its next, is W·T·b/units. Forms: least squares of ln C; intervals are "
    "a figure's range over all parameters that the times allow by their likelihood ratio (95 %), and over all "
    "forms that can't be told apart. A form is told apart where it predicts cells left out worse in "
    f"{TOLD_APART:.0%} of draws."
)


@dataclass(frozen=True)
class FarmFigure:
    """One of what a farm comes to; `key` is for programs."""

    key: str
    title: str
    unit: str
    interval: Interval


@dataclass(frozen=True)
class Farm:
    """A farm's table with what it says.

    Attributes
    ----------
    rates
        Whether there are rates alone, without the length of runs.
    speedups
        Batch → models of seconds over workers.
    theirs
        The report of 2007, where this is its table.
    """

    source: str
    study: FarmStudy
    speedups: Mapping[int, Speedup]
    rates: bool = False
    theirs: Published | None = None

    @property
    def times(self) -> TimesStudy:
        """What the times alone say; no table comes without its units."""
        assert self.study.times is not None  # noqa: S101 - see FarmStudy
        return self.study.times

    @cached_property
    def figures(self) -> list[FarmFigure]:
        """A unit's time, a message's cost at worker and master, W* and METG(50 %), as far as they are known."""
        return [*self._by_times(), *self._by_clock()]

    def _by_times(self) -> Iterator[FarmFigure]:
        times = self.times
        if times.best is None:
            return
        workers, batches = max(times.times.workers), times.times.batches
        yield FarmFigure("unit", "t, a unit", "s", times.unit())
        yield FarmFigure("message", "h, a message", "s", times.message())
        for batch in batches:
            yield FarmFigure(f"o.{batch}", f"o, batch {batch}", "s", times.service(batch))
        for batch in batches:
            yield FarmFigure(f"saturation.{batch}", f"W*, batch {batch}", "1", times.saturation(batch))
        yield FarmFigure("metg", f"METG(50 %), {workers} workers", "s", times.metg(workers))

    def _by_clock(self) -> Iterator[FarmFigure]:
        """What the ranks of a live farm measured themselves."""
        study = self.study
        if study.rtt is not None:
            yield FarmFigure("clock.rtt", "round trip, measured", "s", study.rtt.interval())
        for batch, workers in study.saturation.items():
            if study.cost is not None:
                yield FarmFigure(f"clock.o.{batch}", f"o measured, batch {batch}", "s", study.cost.at(batch).interval())
            yield FarmFigure(f"clock.saturation.{batch}", f"W* measured, batch {batch}", "1", workers.interval())
        if study.metg is not None and study.metg.value is not None:
            title = f"METG(50 %) measured, {study.workers} workers"
            yield FarmFigure("clock.metg", title, "s", study.metg.value.interval())


def farm_view(farm: Farm) -> View:
    """The report of one farm."""
    study = farm.study
    sections = [_choice(farm.times), _figures(farm), _fractions(farm)]
    if study.cost is not None:
        sections += [Section("By the master's own clock", sentences(study)), *near_section(study)]
    sections += farm_tables(study.tables, farm.theirs, rates=farm.rates)
    if farm.times.best is not None:
        sections.append(Section("Units a second over workers", plot=_plot(farm)))
    lacks = study.lacks if study.cost is None else ()
    return View("wulf model farm", _headline(farm), sections, [*_notes(farm), *lacks], METHOD)


def _headline(farm: Farm) -> str:
    """The fastest of its cells beside the least workers, and of what table that is."""
    times = farm.times.times
    mean = {cell: sum(each) / len(each) for cell, each in times.runs.items()}
    (workers, batch), least = min(mean.items(), key=lambda item: item[1])
    first = min(seconds for (count, _), seconds in mean.items() if count == times.workers[0])
    gain = f", {first / least:.1f} times as fast as with {times.workers[0]}" if workers > times.workers[0] else ""
    fastest = f"fastest with {plural(workers, 'worker')} and batches of {batch}{gain}"
    runs = plural(sum(len(each) for each in times.runs.values()), "run")
    batches = ", ".join(map(str, times.batches))
    places = plural(len(times.workers), "number of workers", "numbers of workers")
    held = f"{places}, {times.workers[0]} to {times.workers[-1]}; batches of {batches}; {runs}"
    return f"{farm.source}: {fastest}. It has {held}."


def _choice(times: TimesStudy) -> Section:
    rows = []
    for name, held in sorted(times.held_out.items(), key=lambda item: item[1].error):
        form = times.fits[name].form
        answer = "the best" if held.worse is None else f"{'yes' if held.told_apart else 'no'} ({held.worse:.0%})"
        rows.append([form.title, form.formula, f"{held.error:.2%}", answer])
    refused = sorted(set(times.refused.values()))
    table = Columns(["form", "C", "error", "told apart (worse in)"], rows, 2) if rows else None
    small = ["C is a worker's cycle, Z = t·b + h what it needs by itself, o = a + c·b what the master needs."]
    return Section(
        "Which form: error at cells that were left out", [_verdict(times), *refused], table, small=small if rows else ()
    )


def _verdict(times: TimesStudy) -> str:
    if times.best is None:
        return "No form can be fitted."
    titles = [times.fits[name].form.title for name in times.alike]
    if len(titles) == 1:
        return f"{titles[0]!r} predicts best, and better than noise explains."
    return f"{titles[0]!r} predicts best, but can't be told apart from {' or '.join(map(repr, titles[1:]))}."


def _figures(farm: Farm) -> Section:
    rows = [[one.title, *_shown(one.interval, one.unit)] for one in farm.figures]
    lines = [] if rows else ["o, W* and METG: not known, as no form can be fitted."]
    table = Columns(["figure", "value", "95 % interval"], rows) if rows else None
    return Section("What it comes to", lines, table, small=[LEGEND] if rows else ())


def _fractions(farm: Farm) -> Section:
    """Karp and Flatt's fraction at the most workers, and the forms of time over workers, of each batch."""
    rows = []
    for batch, study in farm.speedups.items():
        last = study.karp_flatt[-1] if study.karp_flatt else None
        fraction = "–" if last is None else f"{last.fraction.value:.2%}"
        spread = "–" if last is None or not isfinite(last.fraction.low) else _percent(last.fraction)
        names = [TITLES[name] for name in study.alike]
        rows.append(
            [str(batch), "–" if last is None else f"{last.workers:g}", fraction, spread, " | ".join(names) or "–"]
        )
    lines = []
    if not rows:
        lines.append("Not known: no batch has times of several numbers of workers.")
    elif all(row[2] == "–" for row in rows):
        lines.append("No serial fraction: it needs the time of one worker, or rows of the serial program.")
    elif all(row[3] == "–" for row in rows):
        lines.append("The serial fractions have no intervals: too few runs were repeated.")
    lines += [f"Batch {batch}: {why}" for batch, s in farm.speedups.items() for why in s.refused.values() if not s.fits]
    heads = ["batch", "workers", "serial fraction", "95 % interval", "forms over workers, best first"]
    return Section("Serial fraction (Karp–Flatt)", lines, Columns(heads, rows, tail=1) if rows else None)


def _percent(one: Interval) -> str:
    return f"{one.low:.2%} to {one.high:.2%}"


def _plot(farm: Farm) -> Plot:
    times = farm.times
    best = times.fits[times.best or ""]
    crowd = times.times.workers
    grid = np.geomspace(crowd[0], 1.5 * crowd[-1], GRID)
    curves, measured = [], []
    for batch, mark in zip(times.times.batches, MARKS, strict=False):
        cycle = best.form.at(best.theta, grid, np.full(GRID, float(batch)))
        curves.append(Curve(f"batch {batch}", grid.tolist(), (grid * batch / cycle).tolist(), mark=mark))
        measured += [(n, 1 / float(np.mean(each))) for n, each in sorted(times.times.row(batch).items())]
    crowds, rates = zip(*measured, strict=True)
    curves.append(Curve("measured", crowds, rates, points=True, mark="o"))
    return Plot("farm", curves, "workers", f"units a second ({best.form.title})", y_unit="Hz")


def _notes(farm: Farm) -> Iterator[str]:
    times = farm.times
    uneven = times.times.uneven()
    if uneven:
        yield (
            f"{plural(len(uneven), 'cell')} of {len(times.times.runs)} have fewer than {FEW_MESSAGES} messages a "
            "worker: one more than another has is a large part of its time, and no form knows of it; measure more units"
        )
    if times.best is None:
        return
    best = times.fits[times.best]
    if best.misfits:
        yield f"the means miss {best.form.title!r} by more than their runs' noise explains: it is not this farm's form"
    elif best.misfit is None:
        yield (
            f"no run was repeated: the intervals are of what the form misses the times by, {best.spread:.1%} as a "
            "standard deviation, which is all put down to noise"
        )
    most = max(times.times.workers)
    far = [batch for batch in times.times.batches if times.saturation(batch).value > SUPPORTED * most]
    if far:
        yield (
            f"W* of batch {', '.join(map(str, far))} is beyond {SUPPORTED:g} times the most workers measured ({most}): "
            "it holds only if the form does"
        )


def _shown(one: Interval, unit: str) -> tuple[str, str]:
    """A value and its interval; where the times bound it on one side alone, that side."""
    value = "no bound" if one.value == inf else _figure(one.value, unit)
    if one.high == inf:
        return value, f"at least {_figure(one.low, unit)}" if one.low > 0 else "none"
    return (
        value,
        f"at most {_figure(one.high, unit)}"
        if one.low <= 0
        else f"{_figure(one.low, unit)} to {_figure(one.high, unit)}",
    )


def _figure(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == "1" else show(value, unit)


def farm_object(farm: Farm) -> dict[str, Any]:
    """All of it for programs; what is unbounded or not known is null, and `reasons` says why."""
    times = farm.times
    return {
        "source": farm.source,
        "workers": times.times.workers,
        "batches": times.times.batches,
        "units": None if farm.rates else times.times.units,
        "best": times.best,
        "alike": list(times.alike),
        "told_apart": times.best is not None and len(times.alike) == 1,
        "refused": dict(times.refused),
        "forms": {name: _form_object(times, name) for name in times.fits},
        "figures": {
            one.key: {"title": one.title, "unit": one.unit, **interval_object(one.interval)} for one in farm.figures
        },
        "serial_fraction": [
            {"batch": batch, "workers": one.workers, **interval_object(one.fraction)}
            for batch, study in farm.speedups.items()
            for one in study.karp_flatt
        ],
        "speedup_forms": {
            str(batch): {"best": study.best, "alike": list(study.alike), "refused": dict(study.refused)}
            for batch, study in farm.speedups.items()
        },
        "by_the_clock": sentences(farm.study) if farm.study.style != TABLE else [],
        "reasons": [*farm.study.lacks, *_notes(farm)],
    }


def _form_object(times: TimesStudy, name: str) -> dict[str, Any]:
    one, held = times.fits[name], times.held_out[name]
    return {
        "formula": one.form.formula,
        "parameters": {name: interval_object(value) for name, value in one.parameters.items()},
        "held_out_error": held.error,
        "told_apart": held.told_apart,
        "spread": one.spread,
        "misfit_p": one.misfit,
    }


def pair_view(first: Farm, second: Farm) -> View:
    """Two farms, as of two networks, beside each other."""
    rows, ratios = [], []
    for one, other, quotient in _pairs(first, second):
        answer = _differs(quotient)
        value, interval = _shown(quotient, "1") if answer else ("–", "–")
        both = _shown(one.interval, one.unit), _shown(other.interval, other.unit)
        rows.append([one.title, *both[0], *both[1]])
        ratios.append([one.title, value, interval, answer or "–"])
    lines = [f"First: {_headline(first)}. {_verdict(first.times)}"]
    lines += [f"Second: {_headline(second)}. {_verdict(second.times)}"]
    sections = [
        Section("The two", lines),
        Section("Second by first", table=Columns(["figure", "ratio", "95 % interval", "differs"], ratios, tail=1)),
        Section("Beside each other",
                table=Columns(["figure", "first", "95 % interval", "second", "95 % interval"], rows), small=[LEGEND]),
    ]  # fmt: skip
    notes = [f"{farm.source}: {note}" for farm in (first, second) for note in _notes(farm)]
    return View("wulf model farm", f"{first.source} and {second.source}", sections, notes, f"{METHOD} {RATIOS}")


RATIOS = "Intervals of ratios are recovered from those of both (Zou & Donner 2008)."


def _pairs(first: Farm, second: Farm) -> Iterator[tuple[FarmFigure, FarmFigure, Interval]]:
    """Figures that both have, and second/first; METG of as many workers alone."""
    others = {one.title: one for one in second.figures}
    for one in first.figures:
        if one.title in others:
            yield one, others[one.title], ratio(others[one.title].interval, one.interval)


def _differs(quotient: Interval) -> str:
    """`more`, `less` or `no`; empty where one of the two may be zero or has no bound, so that there is no ratio."""
    if not isfinite(quotient.value):
        return ""
    return "more" if quotient.low > 1 else "less" if quotient.high < 1 else "no"


def pair_object(first: Farm, second: Farm) -> dict[str, Any]:
    """Both for programs, and their ratios; null where one of two figures may be zero or has no bound."""
    return {
        "first": farm_object(first),
        "second": farm_object(second),
        "ratios": {one.key: interval_object(quotient) for one, _, quotient in _pairs(first, second)},
    }
