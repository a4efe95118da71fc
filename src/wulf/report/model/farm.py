"""What a table of workers and batches says of its farm: forms, figures, serial fraction, and two farms beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

METHOD = (
    "C, the time from one message of a worker to its next, is W·T·b/units. Forms: least squares of ln C; intervals are "
    "a figure's range over all parameters that the times allow by their likelihood ratio (95\u00a0%), and over all forms "
    f"that can't be told apart. A form is told apart where it predicts cells left out worse in {TOLD_APART:.0%} of draws."
)


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


@dataclass(frozen=True)
class Figure:
    """One of what a farm comes to.

    Attributes
    ----------
    key
        For programs.
    interval
        None: no form could be fitted.
    """

    key: str
    title: str
    unit: str
    interval: Interval | None


def figures_of(farm: Farm) -> list[Figure]:
    """A unit's time, a message's cost at worker and master, W* and METG(50 %)."""
    times = farm.times
    if times.best is None:
        return []
    workers, batches = max(times.times.workers), times.times.batches
    return [
        Figure("unit", "t, a unit at a worker", "s", times.unit()),
        Figure("message", "h, a message at a worker", "s", times.message()),
        *(Figure(f"o.{b}", f"o, a message at the master, batch {b}", "s", times.service(b)) for b in batches),
        *(Figure(f"saturation.{b}", f"W*, workers that keep it busy, batch {b}", "1", times.saturation(b))
          for b in batches),
        Figure("metg", f"METG(50 %), {workers} workers, batch 1", "s", times.metg(workers)),
    ]  # fmt: skip


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
    times = farm.times.times
    runs = plural(sum(len(each) for each in times.runs.values()), "run")
    batches = ", ".join(map(str, times.batches))
    places = plural(len(times.workers), "number of workers", "numbers of workers")
    return f"{farm.source}: {places}, {times.workers[0]} to {times.workers[-1]}; batches of {batches}; {runs}"


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
    rows = [[one.title, *_shown(one.interval, one.unit)] for one in figures_of(farm)]
    lines = [] if rows else ["o, W* and METG: not known, as no form can be fitted."]
    table = Columns(["figure", "value", "95 % interval"], rows) if rows else None
    return Section("What the times come to", lines, table)


def _fractions(farm: Farm) -> Section:
    """Karp and Flatt's fraction at the most workers, and the forms of time over workers, of each batch."""
    rows = []
    for batch, study in farm.speedups.items():
        last = study.karp_flatt[-1] if study.karp_flatt else None
        fraction = "–" if last is None else f"{last.fraction.value:.2%}"
        spread = "–" if last is None or not isfinite(last.fraction.low) else _percent(last.fraction)
        names = [TITLES[name] for name in study.alike]
        rows.append([str(batch), "–" if last is None else f"{last.workers:g}", fraction, spread, " | ".join(names) or "–"])
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
    curves = []
    for batch, mark in zip(times.times.batches, "ox+*#@%&", strict=False):
        cycle = best.form.at(best.theta, grid, np.full(GRID, float(batch)))
        curves.append(Curve(f"batch {batch}, fitted", grid.tolist(), (grid * batch / cycle).tolist(), dashed=True))
        row = times.times.row(batch)
        places = sorted(row)
        curves.append(
            Curve(f"batch {batch}", places, [1 / float(np.mean(row[n])) for n in places], points=True, mark=mark)
        )
    return Plot("farm", curves, "workers", "units a second", y_unit="Hz")


def _notes(farm: Farm) -> Iterator[str]:
    times = farm.times
    uneven = times.times.uneven()
    if uneven:
        yield (
            f"{plural(len(uneven), 'cell')} of {len(times.times.runs)} have fewer than {FEW_MESSAGES} messages a worker: "
            "one more than another has is a large part of its time, and no form knows of it; measure more units"
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
            f"W* of batch {', '.join(map(str, far))} is beyond {SUPPORTED:g} times the most workers measured ({most}): it "
            "holds only if the form does"
        )


def _shown(one: Interval | None, unit: str) -> tuple[str, str]:
    """A value and its interval; where the times bound it on one side alone, that side."""
    if one is None:
        return "–", "–"
    value = "no bound" if one.value == inf else _figure(one.value, unit)
    if one.high == inf:
        return value, f"at least {_figure(one.low, unit)}" if one.low > 0 else "none"
    return value, f"at most {_figure(one.high, unit)}" if one.low <= 0 else f"{_figure(one.low, unit)} to {_figure(one.high, unit)}"


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
            one.key: {"title": one.title, "unit": one.unit, **_interval_object(one.interval)} for one in figures_of(farm)
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


def _interval_object(one: Interval | None) -> dict[str, float | None]:
    return dict.fromkeys(("value", "low", "high")) if one is None else interval_object(one)


def _form_object(times: TimesStudy, name: str) -> dict[str, Any]:
    one, held = times.fits[name], times.held_out[name]
    return {
        "formula": one.form.formula,
        "parameters": {
            parameter: interval_object(one.interval(lambda theta, i=i: theta[..., i]))
            for i, parameter in enumerate(one.form.parameters)
        },
        "held_out_error": held.error,
        "told_apart": held.told_apart,
        "spread": one.spread,
        "misfit_p": one.misfit,
    }


def pair_view(first: Farm, second: Farm) -> View:
    """Two farms, as of two networks, beside each other."""
    rows, verdicts = [], []
    for one, other, quotient in _pairs(first, second):
        answer = _differs(quotient)
        rows.append([one.title, _both(one), _both(other), *_shown(_known(quotient), "1"), answer])
        if answer not in ("no", "–"):
            verdicts.append(f"{one.title}: {_shown(quotient, '1')[0]} times ({_shown(quotient, '1')[1]}) that of the first.")
    lines = [f"First: {_headline(first)}.", f"Second: {_headline(second)}."]
    lines += [f"{'First' if farm is first else 'Second'}: {_verdict(farm.times)}" for farm in (first, second)]
    heads = ["figure", "first", "second", "second/first", "95 % interval", "differs"]
    sections = [
        Section("The two", lines),
        Section("Beside each other", verdicts or ["No figure differs by more than the times explain."],
                Columns(heads, rows, tail=1)),
    ]  # fmt: skip
    notes = [f"{farm.source}: {note}" for farm in (first, second) for note in _notes(farm)]
    return View("wulf model farm", f"{first.source} and {second.source}", sections, notes, f"{METHOD} {RATIOS}")


RATIOS = "Intervals of ratios are recovered from those of both (Zou & Donner 2008)."


def _pairs(first: Farm, second: Farm) -> Iterator[tuple[Figure, Figure, Interval | None]]:
    """Figures that both have; W* and METG of as many workers alone."""
    others = {(one.key, one.title): one for one in figures_of(second)}
    for one in figures_of(first):
        other = others.get((one.key, one.title))
        if other is not None and one.interval is not None and other.interval is not None:
            yield one, other, ratio(other.interval, one.interval)


def _known(quotient: Interval | None) -> Interval | None:
    return None if quotient is None or not isfinite(quotient.value) else quotient


def _both(one: Figure) -> str:
    value, interval = _shown(one.interval, one.unit)
    return f"{value} ({interval})"


def _differs(quotient: Interval | None) -> str:
    known = _known(quotient)
    if known is None:
        return "–"
    return "more" if known.low > 1 else "less" if known.high < 1 else "no"


def pair_object(first: Farm, second: Farm) -> dict[str, Any]:
    """Both for programs, and their ratios."""
    return {
        "first": farm_object(first),
        "second": farm_object(second),
        "ratios": {one.key: _interval_object(_known(quotient)) for one, _, quotient in _pairs(first, second)},
    }
