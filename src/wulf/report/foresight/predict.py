"""What `wulf predict` found, in words and tables: run times with intervals, verdicts, and what each is worth."""

from __future__ import annotations

from wulf.core.names import capitalised
from wulf.core.units import scale_for, show, show_in, show_interval
from wulf.model.foresight.forecast import PARTS, Forecast
from wulf.model.foresight.prediction import MET, Prediction, Scaling
from wulf.model.foresight.worth import LARGEST_MISS, NetworkCandidate, Tolerance, best_of, said_gain
from wulf.report.foresight.plots import curve_plots, sensitivity_plot
from wulf.report.kit.view import Columns, Section, View
from wulf.stats.estimates import Interval

MOST_ROWS = 12
"""Of a table whose length the trace decides."""

MOST_KINDS, LEAST_DIFFERENCE = 8, 0.01
"""Of calls that differ from the traced run: how many kinds are shown, and the share of the run time from which on."""

WITH = {"": "", "itself": ", to itself", "first": ", the first"}
"""What is said behind a call of whom it is with."""

METHOD = (
    "LogGOPS (Hoefler, Schneider and Lumsdaine, HPDC 2010) replayed by wulf-replay: every message matched as it was, "
    "collectives as their algorithm's messages, computing as traced. A run time is the measured one, changed by what "
    "the replay changes. Intervals: the networks' figures are drawn within their own 95 % intervals, each draw "
    "replayed, candidate and baseline held against each other draw by draw; what the replay misses of the measured run "
    "may be gone on another network, or there twice; and runs differ. Verdicts allow for that but for the last, and "
    "for what the model does not cover, at both ends."
)


def predict_view(found: Prediction, *, plots: bool = False) -> View:
    """All of it; `plots`: with the curves, for a page."""
    sections = [_times(found), _verdicts(found), _fit(found), _differences(found), _parts(found), _coverage(found)]
    sections += [_changes(found), _tolerances(found)]
    sections += [_breakpoints(found), _path(found), _path_calls(found)]
    sections += [_scaling(one) for one in found.scaling]
    sections += [_beside_others(found)]
    if plots:
        sections += [Section(title, plot=plot) for title, plot in curve_plots(found)]
        several = sensitivity_plot(found)
        sections += [Section("Run time on each network", plot=several)] if several is not None else []
    kept = [section for section in sections if section.lines or section.table or section.plot]
    return View("wulf predict", headline(found), kept, found.notes, METHOD)


def headline(found: Prediction) -> str:
    """The best to buy; or that nothing is, or that it can't be told."""
    what = found.traced.command or found.traced.path
    subject = f"{what}, {found.program.ranks} ranks"
    if not found.candidates:
        return (
            f"{subject}: {show(found.baseline.replayed, 's')} in the replay on {found.baseline.name}, {_beside(found)}"
        )
    best = best_of(found.candidates)
    if best is not None:
        return f"{subject}: buy {best.forecast.name}, it {said_gain(best.bounds)} of the run time"
    if all(one.verdict.word == "don't" for one in found.candidates):
        return f"{subject}: don't buy: no candidate saves enough"
    return f"{subject}: no upgrade is justified; some are undecided"


def _beside(found: Prediction) -> str:
    measured, error = found.calibration.measured, found.calibration.error
    if measured is None or error is None:
        return "nothing measured beside it"
    return f"{show(measured, 's')} measured"


def calibration_line(found: Prediction) -> str:
    """The baseline's prediction beside what was measured, and the coverage: what every other figure rests on."""
    one = found.calibration
    met = (
        f", and has {percent(found.met)} of it within {percent(MET, 0)} of what it took"
        if found.met is not None
        else ""
    )
    covered = f"The model covers {percent(found.program.covered)} of the trace's time{met}"
    if one.error is None:
        return f"{covered}. The trace does not say how long the program took: how far the model is off is not known."
    off = f"{percent(abs(one.error))} too {'long' if one.error > 0 else 'short'}"
    warning = " That is too far for its other predictions to be relied on." if abs(one.error) > LARGEST_MISS else ""
    return (
        f"{covered}. On {found.baseline.name} ({found.baseline_from or 'as given'}) the replay takes "
        f"{show(one.predicted, 's', 4)}, measured were {show(one.measured, 's', 4)}: {off}.{warning}"
    )


def _times(found: Prediction) -> Section:
    everyone = [found.baseline, *(one.forecast for one in found.candidates)]
    divisor, unit = scale_for(max(one.seconds for one in everyone), "s")
    gains = {one.forecast.name: one for one in found.candidates}
    covered = percent(found.program.covered)
    rows = []
    for one in everyone:
        own = gains.get(one.name)
        saved = ["", ""] if own is None else [percent(own.gain.value, sign=True), show_share(own.gain)]
        spread = one.interval
        within = f"{show_in(spread.low, divisor)}–{show_in(spread.high, divisor)}"
        rows.append([one.name, show_in(one.seconds, divisor, 4), within, *saved, covered])
    heads = ["network", f"run time [{unit}]", "95 % interval", "saved", "interval", "covered"]
    return Section("Run time", [calibration_line(found)], Columns(heads, rows))


def show_share(one: Interval) -> str:
    """`4.0 % to 6.1 %`."""
    return f"{percent(one.low)} to {percent(one.high)}"


def percent(share: float, digits: int = 1, *, sign: bool = False) -> str:
    """`4.0 %`, `+4.0 %`."""
    return f"{share * 100:{'+' if sign else ''}.{digits}f} %".replace("-", "−")


def _verdicts(found: Prediction) -> Section:
    rows, lines = [], []
    for one in found.candidates:
        rows.append([one.forecast.name, one.verdict.word, percent(one.required), *_worth(one, found.currency)])
        estimates = f" Of its figures {', '.join(one.estimates)} are estimates." if one.estimates else ""
        step = f" Next: {one.verdict.next_step}." if one.verdict.next_step else ""
        lines.append(f"{one.forecast.name}: {one.verdict.word}. {_sentence(one.verdict.why)}{estimates}{step}")
    heads = ["network", "verdict", "required", "price", "saved by 1000", "interval"]
    small = [f"{one.forecast.name}: price {one.offer.source}." for one in found.candidates if one.offer.source]
    if rows and not any(one.offer.price for one in found.candidates):
        small.append("With --price NAME=TOTAL and --machine-price, it is the gain at which a network pays off.")
    return Section("Is it worth it?", lines, Columns(heads, rows, 2) if rows else None, small=small)


def _sentence(text: str) -> str:
    return f"{capitalised(text)}."


def _worth(one: NetworkCandidate, currency: str) -> list[str]:
    by_thousand = one.saved_by_thousand
    if one.offer.price is None or by_thousand is None:
        return ["–", "–", ""]
    price = f"{currency}{one.offer.price:,.6g}"
    if one.gain.value <= 0:
        return [price, "nothing", ""]
    return [price, percent(by_thousand.value, 2, sign=True), show_share(by_thousand)]


def _fit(found: Prediction) -> Section:
    """The baseline's figures as measured and as the trace has them."""
    heading, fit = "The network as the trace's calls have it", found.fit
    if fit is None:
        return Section(heading)
    rows = [[name, _figure(name, before), *_fitted(name, after)] for name, (before, after) in fit.parts.items()]
    off = f"{percent(abs(fit.error))} too {'long' if fit.error > 0 else 'short'}"
    lines = [
        f"Fitted to half of the calls; the other half took {show(fit.held_out[0], 's')} and takes "
        f"{show(fit.held_out[1], 's')} in the replay: {off}."
    ]
    return Section(heading, lines, Columns(["figure", "measured", "fitted", "from", "to"], rows))


def _fitted(name: str, one: Interval | None) -> list[str]:
    if one is None:
        return ["as measured", "", ""]  # the calls do not tell it
    return [_figure(name, value) for value in (one.value, one.low, one.high)]


def _figure(name: str, value: float) -> str:
    return f"{show(1 / value, 'byte/s')}" if name == "byte" and value > 0 else show(value, "s")


def _differences(found: Prediction) -> Section:
    """Which calls the replay has otherwise than they were traced: what a miss of the whole is made of."""
    heading, ranks = "Where the replay differs from the traced run", max(1, found.program.ranks)
    whole, own = (found.calibration.measured or 0.0) * ranks, found.differences
    shown = [one for one in own.largest if abs(one.difference) > LEAST_DIFFERENCE * whole][:MOST_KINDS]
    if not whole or not shown:
        return Section(heading)
    rows = [
        [
            f"{one.call}{WITH[one.peer]}", show(one.up_to, "byte") if one.up_to else "–", f"{one.calls:,}",
            show(one.traced, "s"), show(one.replayed, "s"), percent(one.difference / whole, sign=True),
        ]
        for one in shown
    ]  # fmt: skip
    lines = [
        f"MPI took {show(own.traced / ranks, 's')} of a rank's time as traced and {show(own.replayed / ranks, 's')} in "
        f"the replay. By kinds of calls, those that differ by more than {percent(LEAST_DIFFERENCE, 0)} of the run time:"
    ]
    rank, record, traced, replayed = shown[0].worst
    small = [
        f"The {shown[0].call} that differs most is record {record:,} of rank {rank}: {show(traced, 's')} as traced, "
        f"{show(replayed, 's')} in the replay."
    ]
    heads = ["call", "up to", "calls", "traced", "replayed", "of the run"]
    return Section(heading, lines, Columns(heads, rows), small=small)


def _parts(found: Prediction) -> Section:
    everyone = [one for one in (found.baseline, *(c.forecast for c in found.candidates)) if one.parts]
    rows = [
        [one.name, *(_share_of(each, one) for each in (*(one.parts[part] for part in PARTS), one.lacking))]
        for one in everyone
    ]
    lines = [
        "Of the time along the critical path; waiting is for an adapter that is busy with other messages; unexplained "
        "is what the replay lacks of the measured run."
    ]
    heads = ["network", *PARTS, "unexplained"]
    return Section("Where the time goes", lines if rows else [], Columns(heads, rows) if rows else None)


def _share_of(seconds: float, one: Forecast) -> str:
    return percent(seconds / one.seconds) if one.seconds > 0 else "–"


def _coverage(found: Prediction) -> Section:
    left = sorted(found.program.left_out, key=lambda one: -one.seconds)
    if not left:
        return Section("What is left out", ["Nothing: every call of the trace is modelled."])
    rows = [[one.what, one.why, f"{one.calls:,}", show(one.seconds, "s")] for one in left[:MOST_ROWS]]
    more = [f"And {len(left) - MOST_ROWS} more."] if len(left) > MOST_ROWS else []
    share = f"{percent(1 - found.program.covered)} of the trace's time are not modelled: every verdict allows for that."
    return Section("What is left out", [share], Columns(["", "why", "calls", "time"], rows, 2), small=more)


def _changes(found: Prediction) -> Section:
    rows = [[one.what, show(one.forecast.seconds, "s", 4), percent(one.gain.value, sign=True), show_share(one.gain)]
            for one in found.changes]  # fmt: skip
    lines = ["What tuning this network could buy, if it came to so much; the last line bounds what any network can."]
    heads = [found.baseline.name, "run time", "saved", "interval"]
    return Section("What tuning could buy", lines if rows else [], Columns(heads, rows) if rows else None)


def _tolerances(found: Prediction) -> Section:
    rows = [
        [name, *(cell for one in some for cell in _tolerance(one, found.bytes_times[name]))]
        for name, some in found.tolerances.items() if some
    ]  # fmt: skip
    shares = next((some for some in found.tolerances.values() if some), ())
    heads = [
        "network",
        *(head for one in shares for head in (f"latency +, {percent(one.share, 0, sign=True)}", "bandwidth to")),
    ]
    lines = ["How much more latency a message may take, or to what the bandwidth may fall, until the run takes as much "
             "longer as the column says."]  # fmt: skip
    return Section("Tolerance", lines if rows else [], Columns(heads, rows) if rows else None)


def _tolerance(one: Tolerance, byte: float) -> list[str]:
    bandwidth = one.least_bandwidth(byte)
    return [
        "any" if one.latency is None else show(one.latency, "s"),
        "any" if bandwidth is None else show(bandwidth, "byte/s"),
    ]


def _breakpoints(found: Prediction) -> Section:
    latency = next((one for one in found.curves if one.over == "latency"), None)
    if latency is None or not latency.slopes:
        return Section("Latencies on the critical path")
    rows = [
        [f"{show(low, 's')} to {show(high, 's')}", f"{slope:,.0f}"]
        for low, high, slope in zip(latency.x, latency.x[1:], latency.slopes, strict=False)
    ]
    thinned = rows if len(rows) <= MOST_ROWS else [rows[round(i * (len(rows) - 1) / (MOST_ROWS - 1))]
                                                   for i in range(MOST_ROWS)]  # fmt: skip
    lines = [f"The run time over latency is straight in {len(rows)} stretches; by so many latencies it grows in each."]
    return Section("Latencies on the critical path", lines, Columns(["latency", "on the path"], thinned))


def _path(found: Prediction) -> Section:
    """The path by rank, over all of it."""
    path = found.path
    whole = sum(sum(parts.values()) for parts in path.ranks.values())
    if not whole:
        return Section("Critical path by rank")
    rows = []
    for rank, parts in list(path.ranks.items())[:MOST_ROWS]:
        own = sum(parts.values())
        rows.append(
            [str(rank), show(own, "s"), percent(own / whole), *(percent(parts[name] / own, 0) for name in PARTS)]
        )
    lines = [f"It has {path.count:,} steps and leads over {len(path.ranks)} ranks: those with the most time on it."]
    heads = ["rank", "time", "of the path", *PARTS]
    return Section("Critical path by rank", lines, Columns(heads, rows))


def _path_calls(found: Prediction) -> Section:
    """The path by call and kind, over the steps that are known."""
    path = found.path
    known = sum(one.seconds for one in path.steps)
    if not known:
        return Section("Critical path by call")
    named = any(one.call for one in path.steps)
    sums = path.by(*(("call", "kind") if named else ("kind",)))
    rows = [[*(str(part) or "–" for part in key), show(seconds, "s"), percent(seconds / known)]
            for key, seconds in list(sums.items())[:MOST_ROWS]]  # fmt: skip
    which = "All its steps." if path.whole else f"Its {len(path.steps):,} longest steps of {path.count:,}."
    heads = [*(("call", "what") if named else ("what",)), "time", "share"]
    return Section("Critical path by call", [which], Columns(heads, rows, len(heads) - 2))


def _beside_others(found: Prediction) -> Section:
    """What the other jobs cost the program, and it them."""
    rows = [
        [one.network, job, show(alone, "s", 4), show(together, "s", 4), percent(together / alone - 1, sign=True)]
        for one in found.beside
        for job, alone, together in zip(one.jobs, one.alone, one.together, strict=True)
        if alone > 0
    ]
    lines = ["Replayed, all begun at one time, each job on hosts of its own. The first job is the one predicted."]
    heads = ["network", "job", "alone", "together", "longer"]
    return Section("Beside other jobs", lines if rows else [], Columns(heads, rows, 2) if rows else None)


def _scaling(one: Scaling) -> Section:
    heading = f"Other numbers of ranks on {one.network}"
    lines = [f"{one.refused}."] if one.refused else []
    if one.study is None or one.study.best is None:
        return Section(heading, lines)
    held = one.study.held_out[one.study.best]
    counts = ", ".join(f"{count:g}" for count in one.study.times.workers)
    lines.append(
        f"By {one.study.best}, from traces of {counts} ranks; each left out in turn: {percent(held.error)} off."
    )
    rows = [[str(count), show(at.value, "s"), show_interval(at.low, at.high, "s")] for count, at in one.at.items()]
    return Section(heading, lines, Columns(["ranks", "run time", "95 % interval"], rows) if rows else None)
