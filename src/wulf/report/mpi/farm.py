"""The farm's tables beside those of 2007, and what the models make of them: for the report, and the finding."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from wulf.core.names import plural
from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.measure.mpi.farm import FARM, KINDS, METG, NETWORK, points_of
from wulf.model.draws import Uncertain
from wulf.model.farm.costs import MasterCost, refuted
from wulf.model.farm.pelikan import published
from wulf.model.farm.study import FarmStudy, farm_study
from wulf.report.kit.figures import interval_text, usable, value_text
from wulf.report.kit.view import Columns, Element, Fold, Note, Section, SideBySide
from wulf.report.mpi.farm_charts import farm_charts
from wulf.report.mpi.farm_kinds import kinds_section, kinds_sentences
from wulf.report.mpi.farm_networks import network_section, network_sentences
from wulf.report.mpi.farm_tables import farm_tables
from wulf.report.mpi.operations import figure_table
from wulf.stats.estimates import Interval
from wulf.store.run import Run

PHASES = (FARM, METG, KINDS)
METRICS = ("seconds", "message_time", "efficiency")
"""Of the table of all figures."""

STUDY = "farm"
"""What a run's `derived` calls it."""


def studies_of(run: Run) -> dict[str, FarmStudy]:
    """The run's farms, studied once: network → farm, "" where it has one over one network alone."""
    if STUDY not in run.derived:
        points, seed = points_of(run.plan, run.replicates), int(run.plan.get("seed") or 0)
        studied = {
            network: farm_study([point for point in points if point.network == network], seed)
            for network in dict.fromkeys(point.network for point in points)
        }
        run.derived[STUDY] = {network: study for network, study in studied.items() if study is not None}
    found: dict[str, FarmStudy] = run.derived[STUDY]
    return found


def farm_section(run: Run) -> list[Section]:
    """Charts, and the tables with those of 2007 below ours where they have the same number of workers; of two networks
    what the second makes of it, then each by itself.
    """
    studies, drawn = studies_of(run), farm_charts(run)
    if not studies:
        return []
    theirs = published()
    told = any(finding.kind == "farm" for finding in run.findings)
    body: list[Element | str] = [SideBySide([chart.section() for chart in drawn], "two")] if drawn else []
    body += [*network_section(run), *kinds_section(run)]
    for network, study in studies.items():
        over = f" over {network}" if network else ""
        body += [Note(f"2007: {theirs.source}; single runs. Here{over}: {study.tables.units:,} units, {study.style}.")]
        body += [*near_section(study), *farm_tables(study.tables, theirs)]
    figures = [(_name(r), r) for r in run.records if r.phase in PHASES and r.metric in METRICS]
    body += [Fold("All figures with their intervals", [figure_table(figures)], printed=False)] if figures else []
    return [Section("Farm", () if told else study_lines(run), key="farm", link="Farm", body=body)]


def fastest(run: Run) -> str:
    """`fastest with 21 workers and batches of 10: …, 8.1 times as fast as the serial run`; empty without a farm."""
    timed = [one for one in run.records if one.phase == FARM and one.metric == "seconds" and one.value and usable(one)]
    if not timed:
        return ""
    best = min(timed, key=lambda one: one.value or 0.0)
    network = str(best.params.get(NETWORK) or "")
    study = studies_of(run).get(network)
    serial = study.serial.interval().value if study is not None and study.serial is not None else None
    than = f", {serial / (best.value or 1.0):.1f} times as fast as the serial run" if serial else ""
    how = f"{plural(int(str(best.params['workers'])), 'worker')} and batches of {best.params['batch']}"
    how += f" over {network}" if network else ""
    return f"Fastest with {how}: {value_text(best)} ({interval_text(best)}){than}."


def _name(record: Record) -> str:
    spin = f", units of {show(record.number('spin_seconds'), 's')}" if record.phase == METG else ""
    kinds = f", units of {record.text('kinds')}" if record.phase == KINDS else ""
    over = f" over {record.text(NETWORK)}" if NETWORK in record.params else ""
    return f"{record.text('workers')} workers, batch {record.text('batch')}{spin}{kinds}{over}"


def near_section(study: FarmStudy) -> list[Section]:
    """What a message costs by where its worker is; none where no run said so."""
    rows = [
        (place, str(workers), *_cells(trip), *_cells(overhead))
        for place, (workers, trip, overhead) in study.near.items()
    ]
    if not rows:
        return []
    heads = ["from the master", "workers", "round trip", "95 % interval", "o_w", "95 % interval"]
    small = [
        "Round trip: of an empty batch. o_w: a worker's time a message that is neither work nor waiting. The master's "
        "own time isn't split: it reads no clock for each message."
    ]
    if len(rows) == 1:
        small.insert(0, "All workers are equally near.")
    return [Section("By the place of the worker", table=Columns(heads, rows), small=small)]


def _cells(figure: Uncertain) -> tuple[str, str]:
    one = figure.interval()
    return show(one.value, "s"), show_interval(one.low, one.high, "s")


def study_lines(run: Run) -> list[str]:
    """What the models say, in sentences; of two networks how they differ, and o of each. Empty without a farm."""
    studies = studies_of(run)
    if set(studies) <= {""}:
        return [*(line for study in studies.values() for line in sentences(study)), *kinds_sentences(run)]
    own = [f"Over {name}: {_cost_sentence(one.cost, one.workers)}" for name, one in studies.items() if one.cost]
    return [*network_sentences(run), *own]


def sentences(study: FarmStudy) -> list[str]:
    """What the models say, each with its interval, and what could not be had, and why."""
    return list(_sentences(study))


def _sentences(study: FarmStudy) -> Iterator[str]:
    if study.cost is not None:
        yield _cost_sentence(study.cost, study.workers)
    yield from _times_sentences(study)
    if study.rtt is not None and study.overhead is not None:
        yield (
            f"An empty batch goes there and back in {_with(study.rtt, 's')}; a worker spends "
            f"{_with(study.overhead, 's')} a message on neither work nor waiting."
        )
    for batch, workers in list(study.saturation.items())[:1]:
        yield f"With batches of {batch} the master is busy all the time from W* = {_with(workers, '1')} workers on."
    yield from _metg_sentences(study)
    yield from _speedup_sentences(study)
    for lack in study.lacks:
        yield f"Not known: {lack}."


def _cost_sentence(cost: MasterCost, workers: int) -> str:
    a, c = (_not_negative(one.interval()) for one in (cost.a, cost.c))
    text = (
        f"A message of b units takes the master o = a + c·b with {workers} workers: a = {_interval(a, 's')}, "
        f"c = {_interval(c, 's')}."
    )
    if cost.misfit is not None and cost.misfit > MISFIT:
        text += (
            f" The line misses the means by {cost.misfit**0.5:.1f} times their error: the intervals are as much wider."
        )
    return text


def _times_sentences(study: FarmStudy) -> Iterator[str]:
    """The master's time by the seconds of all cells, which its own clock can refute."""
    times = study.times
    if times is None or times.best is None:
        return
    batch = times.times.batches[0]
    found = times.service(batch)
    titles = " or ".join(repr(times.fits[name].form.title) for name in times.alike)
    text = f"By the times of all runs alone o is {_interval(found, 's')} with batches of {batch} (form: {titles})"
    if study.cost is None:
        yield f"{text}."
        return
    if refuted(_not_negative(study.cost.at(batch).interval()), found):
        yield f"{text}, which the master's clock refutes: workers wait for something else, too."
    else:
        yield f"{text}, which the master's clock does not refute."


def _not_negative(one: Interval) -> Interval:
    """Of a time: what the fit's noise left below zero is zero."""
    return Interval(max(0.0, one.value), max(0.0, one.low), max(0.0, one.high))


MISFIT = 4.0
"""χ² by degrees of freedom above which the line's miss is worth a word."""


def _metg_sentences(study: FarmStudy) -> Iterator[str]:
    claims = {name: claim.interval() for name, claim in study.predicted.items()}
    if study.metg is None or study.metg.value is None:
        if study.metg is not None:
            side = "above" if study.metg.below is None else "below"
            yield f"METG(50 %) was not reached: every unit's efficiency was {side} 50 %."
        for name, claim in claims.items():
            how = "" if study.metg else "; --metg measures it"
            yield f"METG(50 %) by {name} would be {_interval(claim, 's')}{how}."
        return
    measured = study.metg.value.interval()
    yield (
        f"METG(50 %) with {study.workers} workers is {_interval(measured, 's')}, between units of "
        f"{show(study.metg.below, 's')} and {show(study.metg.above, 's')}."
    )
    for name, claim in claims.items():
        verdict = "is refuted by it" if refuted(measured, claim) else "is not refuted by it"
        yield f"{name} = {_interval(claim, 's')} {verdict}."


def _speedup_sentences(study: FarmStudy) -> Iterator[str]:
    if study.serial is not None:
        yield f"The serial run takes {_with(study.serial, 's')}."
    models = study.speedup
    if models is None:
        return
    for one in models.karp_flatt:
        yield (
            f"Karp–Flatt's serial fraction with {one.workers:.0f} workers and batches of {study.speedup_batch} is "
            f"{_interval(one.fraction, '1')}."
        )
    usl = models.fits.get("usl")
    if usl is not None:
        sigma, kappa = usl.parameters["sigma"], usl.parameters["kappa"]
        yield f"USL: σ = {_interval(sigma, '1')}, κ = {_interval(kappa, '1')}."
    elif "usl" in models.refused:
        yield f"USL was not fitted: {models.refused['usl']}."


def _with(figure: Uncertain, unit: str) -> str:
    return _interval(figure.interval(), unit)


def _interval(one: Interval, unit: str) -> str:
    """`18.5 µs (18.3–18.8 µs)`."""
    if not isfinite(one.high):
        return f"{_figure(one.value, unit)} (at least {_figure(one.low, unit)})" if isfinite(one.value) else "unbounded"
    return f"{_figure(one.value, unit)} ({show_interval(one.low, one.high, unit)})"


def _figure(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == "1" else show(value, unit)
