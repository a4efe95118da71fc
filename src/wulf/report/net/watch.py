"""A watch as text: a view of 80 columns, or one line a second where there is no terminal."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.core.names import plural, printable, subject_text
from wulf.core.units import show, show_interval
from wulf.measure.net.watching import QUANTILES, RATE, Moment, Watching
from wulf.report.kit.figures import quantile_name
from wulf.stats.estimates import Estimate

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 79
"""One column less than a terminal has at least: some wrap a line that fills it."""

MAX_VERDICT = 4


def sparkline(values: Sequence[float | None]) -> str:
    """One character a value, from the least to the greatest; a dot where there is none."""
    present = [value for value in values if value is not None]
    if not present:
        return "·" * len(values)
    low, high = min(present), max(present)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join("·" if value is None else BARS[round((value - low) / step)] for value in values)


def elapsed(seconds: float) -> str:
    """`41 s`, `3 min 20 s`, `2 h 5 min`."""
    minutes, rest = divmod(int(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _interval(found: Estimate, unit: str) -> str:
    return show_interval(found.low, found.high, unit)


def _round_trips(watching: Watching) -> list[str]:
    """Three quantiles: the last replicate's, and the median over all with its interval."""
    last = watching.latest.get("pingpong")
    lines = [f"  {'round trip':<12}{'now':>10}{'overall':>12}   95 % at all times"]
    for name in QUANTILES:
        now = show(last.quantiles.get(name) if last else None, "s")
        found = watching.overall(name)
        lines.append(f"  {quantile_name(name):<12}{now:>10}{show(found.value, 's'):>12}   {_interval(found, 's')}")
    return lines


def _last_minute(watching: Watching) -> list[str]:
    values = watching.history()
    present = [value for value in values if value is not None]
    spread = show_interval(min(present), max(present), "s") if present else "none"
    return [f"  {'last minute':<12}  {sparkline(values)}", f"  {'':<12}  p50 {spread}"]


def _rate(watching: Watching) -> list[str]:
    last = watching.latest.get("stream")
    if last is None:
        return []
    found = watching.overall(RATE)
    now = show(last.rate, "B/s")
    return [f"  {'rate':<10}{now:>12}{show(found.value, 'B/s'):>12}   {_interval(found, 'B/s')}".rstrip()]


def _busy(moment: Moment, watching: Watching) -> str:
    nodes = dict(zip(("client", "server"), watching.subject.split(">"), strict=False))
    parts = [
        f"{printable(nodes.get(end, end))} {busy.mean:.0%} (busiest CPU {busy.busiest:.0%})"
        for end, busy in moment.busy.items()
    ]
    return f"  {'CPU busy':<14}{', '.join(parts) or '–'}"


def view(watching: Watching, moment: Moment, *, going_on: bool = True) -> list[str]:
    """The lines of the live view; the last of them says how to end it, as long as it goes on."""
    counts = [plural(watching.replicates, "replicate"), *([f"{watching.failed} failed"] if watching.failed else [])]
    lines = [
        f"{subject_text(watching.subject)}   {elapsed(watching.seconds)}, {', '.join(counts)}",
        "",
        *_round_trips(watching),
        *_last_minute(watching),
        *_rate(watching),
        f"  {'retransmits':<14}{moment.retransmits} now, {watching.retransmits:,} in all",
        _busy(moment, watching),
        *(f"  ! {printable(text)}" for text in moment.verdict[:MAX_VERDICT]),
        *([f"  × {printable(moment.error)}"] if moment.error else []),
        *(["", "Ctrl-C ends it; what was measured is kept."] if going_on else []),
    ]
    return [fitted(line) for line in lines]


def fitted(line: str) -> str:
    """The line, cut to the width where it is longer."""
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1].rstrip()}…"


def one_line(watching: Watching, moment: Moment) -> str:
    """The moment in one line of at most 79 columns, for a log or a pipe."""
    head = f"{elapsed(watching.seconds):>10}"
    if moment.error:
        return fitted(f"{head}  × {printable(moment.error)}")
    if moment.rate is not None:
        found, unit = watching.overall(RATE), "B/s"
        body = f"rate {show(moment.rate, unit)}"
    else:
        found, unit = watching.overall("0.5"), "s"
        body = f"p50 {show(moment.quantiles.get('0.5'), unit)}  p99 {show(moment.quantiles.get('0.99'), unit)}"
    if found.value is not None:
        body += f"  overall {show(found.value, unit)} ({_interval(found, unit)})"
    again = f"  retransmits {moment.retransmits}" if moment.retransmits else ""
    said = "".join(f"  ! {printable(text)}" for text in moment.verdict)
    return fitted(f"{head}  {body}{again}{said}")
