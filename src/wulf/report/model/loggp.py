"""What LogGP says of a pair, in words, tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wulf.core.units import scale_for, show
from wulf.model.network.loggp import Check, LogGP
from wulf.model.network.patterns import IN_ORDER, PATTERNS, PROGRESS
from wulf.report.kit.view import Columns, Curve, Plot, Section, View, interval_object
from wulf.stats.curves.piecewise import PiecewiseCurve
from wulf.stats.estimates import Interval

NAMES = {
    "latency": "L, latency", "send": "o, overhead of sending", "receive": "o, overhead of receiving",
    "gap": "g, gap between messages",
}  # fmt: skip

LINES = ("per_byte", "eager", "progress", "in_order")
"""What is told beside those, or why it is not."""


def loggp_view(
    found: LogGP, subject: str, times: Mapping[float, Sequence[float]], cautions: Sequence[str] = ()
) -> View:
    """The report of a pair.

    Parameters
    ----------
    times
        Bytes → seconds of a message, as measured, for the plot.
    cautions
        What LogGP has no parameter for.
    """
    sections = [_parameters(found), _lines("Time of a message: straight lines", found.times)]
    if found.gaps is not None:
        sections.append(_lines("Gap between messages: straight lines", found.gaps))
    if len(found.overheads) > 1:
        rows = [
            [show(size, "B"), *(cell for one in both for cell in (_value(one), _range(one)))]
            for size, both in found.overheads.items()
        ]
        heads = ["bytes", "sending", "95% interval", "receiving", "95% interval"]
        sections.append(Section("Overheads", (), Columns(heads, rows)))
    if found.hidden:
        rows = [[show(size, "B"), f"{one.value:.0%}", f"{one.low:.0%} to {one.high:.0%}"]
                for size, one in sorted(found.hidden.items())]  # fmt: skip
        heads = ["bytes", "share", "95% interval"]
        sections.append(Section("What of an exchange hides behind computing as long", (), Columns(heads, rows)))
    sections += [_checks(found.checks), Section("Time of a message", plot=plot_of(found, times))]
    notes = [*cautions, *(why for name, why in found.reasons.items() if name not in (*NAMES, *LINES))]
    method = (
        "g + s·G from trains of messages, PRTT(n, 0, s) by Netgauge's method; o is what the calls take, of messages "
        "with pauses between them, at both ends; L = RTT/2 less both. Lines and their bends by least squares and "
        "Schwarz's criterion; intervals by bootstrap of the replicates. Every third size was held out of the lines "
        "that are checked."
    )
    return View("wulf model loggp", f"{subject}: {_headline(found)}", sections, notes, method)


def _headline(found: LogGP) -> str:
    known = [
        f"{short} {_value(one) if one.low > 0 else 'not identifiable here'}"
        for short, one in _short(found) if one is not None
    ]  # fmt: skip
    return ", ".join([*known, f"1/G {_rate(found.per_byte)}"])


def _short(found: LogGP) -> list[tuple[str, Interval | None]]:
    return [("L", found.latency), ("o", found.send), ("g", found.gap)]


def _parameters(found: LogGP) -> Section:
    rows = []
    for name, title in NAMES.items():
        one = getattr(found, name)
        known = ["–", found.reasons.get(name, "")] if one is None else [_value(one), _range(one)]
        rows.append([title, *known])
    heading = "Parameters"
    lines = [f"{title}: none, {found.reasons[name]}." for name, title in NAMES.items() if getattr(found, name) is None]
    per_byte, eager = found.per_byte, found.eager
    if "per_byte" not in found.reasons:
        rows.append(["G, time of a byte", f"{show(per_byte.value, 's')}/B", f"{_range(per_byte)}/B"])
        rows.append(["1/G", _rate(per_byte), _range(Interval(0, *_inverse(per_byte)), "byte/s")])
    else:
        lines.append(f"G, time of a byte: none, {found.reasons['per_byte']} ({_range(per_byte)}/B).")
    if eager is not None:
        rows.append(["eager limit", show(eager.value, "B"), _range(eager, "B")])
        if (own := found.eager_byte) is not None:
            rows.append(["G up to the eager limit", f"{show(own.value, 's')}/B", f"{_range(own)}/B"])
    else:
        lines.append(f"Eager limit: none, {found.reasons['eager']}.")
    if found.progress is not None:
        lines.append(PROGRESS[found.progress])
    elif "progress" in found.reasons:
        lines.append(f"Whether large messages get on while a rank computes: not told, {found.reasons['progress']}.")
    if found.in_order is not None:
        lines.append(IN_ORDER[found.in_order])
    elif "in_order" in found.reasons:
        lines.append(f"Whether requests and answers wait behind data: not told, {found.reasons['in_order']}.")
    rows = [row for row in rows if row[1] != "–"]
    return Section(heading, lines, Columns(["", "value", "95% interval"], rows))


def _inverse(one: Interval) -> tuple[float, float]:
    """Bytes by second at both ends."""
    return (1 / one.high if one.high > 0 else 0.0), (1 / one.low if one.low > 0 else float("inf"))


def _rate(per_byte: Interval) -> str:
    return show(1 / per_byte.value, "byte/s") if per_byte.value > 0 else "none"


def _lines(heading: str, curve: PiecewiseCurve) -> Section:
    rows = []
    for line in curve.lines:
        sizes = f"{show(line.first, 'B')} to {show(line.last, 'B')}"
        rows.append([sizes, _value(line.alpha), _range(line.alpha), _rate(line.beta)])
    edges = [f"between {show(low, 'B')} and {show(high, 'B')}" for low, high in curve.switches]
    said = f"The protocol changes {', '.join(edges)}." if edges else "No change of protocol was found."
    return Section(heading, [said], Columns(["sizes", "at 0 B", "95% interval", "1/slope"], rows))


def _checks(checks: Sequence[Check]) -> Section:
    if not checks:
        return Section("Sizes held out", ["Too few sizes to hold any out."])
    rows = []
    for one in checks:
        spread = f"{one.error.low:+.1%} to {one.error.high:+.1%}"
        known = [show(one.predicted, "s"), _value(one.measured), f"{one.error.value:+.1%}", spread]
        rows.append([one.what, show(one.bytes, "B"), *known, "at an edge" if one.at_edge else ""])
    heads = ["", "bytes", "predicted", "measured", "error", "interval", ""]
    sizes = [one for one in checks if one.what not in PATTERNS]
    parts = {
        "On the lines": [one for one in sizes if not one.at_edge],
        "Between two lines, where the protocol changes, predictions are guesses": [one for one in sizes if one.at_edge],
        **{said: [one for one in checks if one.what == pattern] for pattern, said in PATTERNS.items()},
    }
    lines = [_errors(where, some) for where, some in parts.items() if some]
    return Section("Sizes and patterns held out of the lines, and predicted", lines, Columns(heads, rows))


def _errors(where: str, some: Sequence[Check]) -> str:
    """How far off the predictions are."""
    worst = max(some, key=lambda one: abs(one.error.value))
    typical = float(np.median([abs(one.error.value) for one in some]))
    return (
        f"{where}: {typical:.1%} off (median of {len(some)}); at worst {abs(worst.error.value):.1%}, "
        f"{worst.what} at {show(worst.bytes, 'B')}."
    )


def plot_of(found: LogGP, times: Mapping[float, Sequence[float]]) -> Plot:
    """Measured times, and the lines through them."""
    sizes = sorted(size for size in times if size > 0)
    grid = np.geomspace(sizes[0], sizes[-1], 120).tolist()
    measured = [float(np.median(times[size])) for size in sizes]
    low, high = ([float(np.quantile(times[size], q)) for size in sizes] for q in (0.25, 0.75))
    curves = [
        Curve("lines", grid, [found.time(size) for size in grid], mark="·"),
        Curve("measured", [float(size) for size in sizes], measured, low, high, points=True, mark="o"),
    ]
    return Plot("loggp", curves, "message size", "time of a message", "B", "s")


def _value(one: Interval) -> str:
    return show(one.value, "s")


def _range(one: Interval, unit: str = "s") -> str:
    if one.high == float("inf"):
        return f"over {show(one.low, unit)}"
    divisor, name = scale_for(max(abs(one.low), abs(one.high)), unit)
    return f"{show(one.low / divisor, '')} to {show(one.high / divisor, '')} {name}".strip()


def loggp_object(found: LogGP, subject: str, cautions: Sequence[str] = ()) -> dict[str, Any]:
    """All of it for programs."""
    return {
        "subject": subject,
        "cautions": list(cautions),
        **{name: _known(found, name) for name in NAMES},
        "per_byte": interval_object(found.per_byte)
        | ({"value": None, "reason": found.reasons["per_byte"]} if "per_byte" in found.reasons else {}),
        "eager": _known(found, "eager"),
        "eager_byte": None if found.eager_byte is None else interval_object(found.eager_byte),
        "overheads": [
            {"bytes": size, "send": interval_object(send), "receive": interval_object(receive)}
            for size, (send, receive) in found.overheads.items()
        ],
        "hidden": [{"bytes": size, **interval_object(one)} for size, one in sorted(found.hidden.items())],
        "progress": found.progress,
        "in_order": found.in_order,
        "edges": [list(edge) for edge in found.edges],
        "times": _curve_object(found.times),
        "gaps": None if found.gaps is None else _curve_object(found.gaps),
        "checks": [
            {
                "what": one.what, "bytes": one.bytes, "predicted": one.predicted,
                "measured": interval_object(one.measured), "error": interval_object(one.error), "at_edge": one.at_edge,
            }
            for one in found.checks
        ],
    }  # fmt: skip


def _known(found: LogGP, name: str) -> dict[str, Any]:
    one = getattr(found, name)
    reason = {"reason": found.reasons[name]} if name in found.reasons else {}
    return {"value": None, **reason} if one is None else {**interval_object(one), **reason}


def _curve_object(curve: PiecewiseCurve) -> list[dict[str, Any]]:
    return [
        {
            "first": line.first,
            "last": line.last,
            "alpha": interval_object(line.alpha),
            "beta": interval_object(line.beta),
        }
        for line in curve.lines
    ]
