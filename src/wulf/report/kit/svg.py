"""Charts of pages as SVG: what stands in a notebook or a paper, where there is no script and no plotly.js.

A page's chart (`charts`, `page`) is drawn from the same plain data, without the colours of a reader's theme: ink is
what surrounds it. What is beside the pointer on a page is a title here, which browsers show alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wulf.core.units import show
from wulf.report.kit.charts import Chart

WIDTH = 640.0
FONT = 'font-family="system-ui, sans-serif" font-size="11"'

CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""As report.js draws them: told apart with every kind of colour vision."""

CELL = 44.0
"""Pixels of a heat map's cell, at most; from half of that on its figure stands in it."""

BAR = 240.0
"""Pixels of a colour bar, at least: five numbers stand below it."""

LETTER = 6.2
"""Pixels of a letter, about."""

LEFT, TOP, RIGHT, BOTTOM = 88.0, 12.0, 16.0, 42.0
"""Around curves: their axes' texts."""

HEIGHT = 300.0

LEGEND = 3
"""Names of curves side by side."""

Place = Callable[[float], float]
"""Where a value stands, in pixels."""


def as_svg(chart: Chart) -> str | None:
    """The chart as one SVG element; None where it is of a kind that pages alone draw.

    Parameters
    ----------
    chart
        As a page has it. Its texts are escaped for HTML already.
    """
    draw = KINDS.get(chart["kind"])
    return draw(chart) if draw is not None else None


def _heat(chart: Chart) -> str:
    nodes, z = chart["nodes"], chart["z"]
    count, longest = len(nodes), LETTER * max(map(len, nodes), default=0)
    left = longest + 10
    cell = min(CELL, (WIDTH - left) / max(1, count))
    upright = longest + 4 > cell
    top = longest + 8 if upright else 18.0
    every = max(1, math.ceil(12 / cell))
    parts = []
    for i, name in enumerate(nodes):
        if i % every == 0:
            middle = (i + 0.5) * cell
            turned = f' transform="rotate(-90 {left + middle + 4:.1f} {top - 6:.1f})"' if upright else ""
            parts += [
                _text(left - 6, top + middle + 4, name, "end"),
                _text(left + middle + (4 if upright else 0), top - 6, name, "start" if upright else "middle", turned),
            ]
    for i in range(count):
        for j in range(count):
            if chart["hover"][i][j]:
                parts.append(_cell(chart, i, j, (left + j * cell, top + i * cell, cell), z[i][j]))
    parts.append(_colour_bar(chart, left, top + count * cell + 12, max(BAR, count * cell)))
    return _svg(left + max(BAR, count * cell) + 16, top + count * cell + 52, parts)


def _cell(chart: Chart, i: int, j: int, place: tuple[float, float, float], value: float | None) -> str:
    """One pair: its colour, or a dashed frame where it has no value; its figure where there is room."""
    x, y, size = place
    gap = 1.0 if size > 8 else 0.0
    frame = f'x="{x:.1f}" y="{y:.1f}" width="{size - gap:.1f}" height="{size - gap:.1f}"'
    ink = "currentColor"
    if value is None:
        shape = f'<rect {frame} fill="none" stroke="currentColor" stroke-opacity="0.4" stroke-dasharray="2 2"/>'
    else:
        colour, light = _colour(chart, value)
        shape, ink = f'<rect {frame} fill="{colour}"/>', "#000" if light else "#fff"
    text = chart["text"][i][j]
    fits = size >= CELL / 2 and LETTER * len(text) <= size + 4
    figure = _text(x + size / 2, y + size / 2 + 4, text, "middle", f' fill="{ink}"') if fits else ""
    return f"<g>{_title(chart['hover'][i][j])}{shape}{figure}</g>"


def _colour(chart: Chart, value: float) -> tuple[str, bool]:
    """Of a value on the colour scale, and whether dark letters are read on it; yellow is slower."""
    low, high = chart["range"]
    share = 0.5 if low is None or high is None or high <= low else min(1.0, max(0.0, (value - low) / (high - low)))
    share = share if chart["yellowHigh"] else 1.0 - share
    place = share * (len(CIVIDIS) - 1)
    first = min(int(place), len(CIVIDIS) - 2)
    ends = [[int(CIVIDIS[k][at : at + 2], 16) for at in (1, 3, 5)] for k in (first, first + 1)]
    mixed = [round(a + (b - a) * (place - first)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed), share > 0.55


def _colour_bar(chart: Chart, left: float, top: float, width: float) -> str:
    low, high = chart["range"]
    if low is None or high is None:
        return ""
    steps = 24
    bars = [
        f'<rect x="{left + k * width / steps:.1f}" y="{top:.1f}" width="{width / steps + 0.5:.1f}" height="8" '
        f'fill="{_colour(chart, low + (k + 0.5) * (high - low) / steps)[0]}"/>'
        for k in range(steps)
    ]
    ticks = chart["ticks"] or [[low, show(low, "")], [high, show(high, "")]]
    texts = [_text(left + width * (at - low) / (high - low), top + 20, text, "middle") for at, text in ticks]
    return "".join([*bars, *texts, _text(left + width / 2, top + 34, chart["unit"], "middle")])


def _curves(chart: Chart) -> str:
    """Lines, points and bands over two logarithmic axes."""
    xs = _positive(one["x"] for one in chart["series"])
    drawn = _plotted(chart, xs, {}) if xs else []
    return _svg(WIDTH, HEIGHT, drawn) if drawn else _empty()


def _panels(chart: Chart) -> str:
    """Curves below each other over one axis, with marks through all of them: where caches end."""
    xs = _positive(one["x"] for panel in chart["panels"] for one in panel["series"])
    marks = {mark["x"]: mark["name"] for mark in chart["marks"] if mark["found"]}
    parts = []
    for number, panel in enumerate(chart["panels"]):
        own = {"xTicks": chart["xTicks"], "xTitle": chart["xTitle"], "yTicks": panel["ticks"], "yTitle": panel["title"]}
        drawn = _plotted({**own, "series": panel["series"]}, xs, marks)
        parts.append(f'<g transform="translate(0 {number * HEIGHT:.0f})">{"".join(drawn)}</g>')
    return _svg(WIDTH, HEIGHT * len(parts), parts) if parts else _empty()


def _plotted(chart: Chart, xs: Sequence[float], marks: Mapping[float, str]) -> list[str]:
    """Both axes, and all curves; nothing where there is no value.

    Parameters
    ----------
    xs
        What the horizontal axis has to hold.
    marks
        Where a line stands, and its name.
    """
    series = chart["series"]
    ys = _positive(one.get(name) or () for one in series for name in ("y", "low", "high", "tail"))
    if not ys:
        return []
    rows = math.ceil(len(series) / LEGEND) if len(series) > 1 else 0
    top = TOP + 16 * rows + 12 * bool(marks)
    x, y = _log_axis(xs, LEFT, WIDTH - RIGHT), _log_axis(ys, HEIGHT - BOTTOM, top)
    parts = [_frame(chart, x, y, top, chart["xTicks"])]
    for at, name in marks.items():
        ends = f'x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{top:.1f}" y2="{HEIGHT - BOTTOM:.1f}"'
        parts += [f'<line {ends} stroke="currentColor" stroke-opacity="0.5"/>', _text(x(at), top - 2, name, "middle")]
    for number, one in enumerate(series):
        colour = SERIES[one.get("colour", number) % len(SERIES)]
        parts += [_band(one, x, y, colour), _line(one["x"], one.get("tail") or [], x, y, colour, dashed=True)]
        if not _scattered(one):
            parts.append(_line(one["x"], one["y"], x, y, colour, dashed=one.get("dashed", False)))
        parts.append(_points(one, x, y, colour))
        if rows:
            at, row = LEFT + (number % LEGEND) * (WIDTH - LEFT) / LEGEND, 12 + 16 * (number // LEGEND)
            parts.append(f'<rect x="{at:.1f}" y="{row - 8:.1f}" width="10" height="8" fill="{colour}"/>')
            parts.append(_text(at + 14, row, one["name"], "start"))
    return parts


def _scattered(one: Chart) -> bool:
    """Whether it is points by themselves, with a bar each, and no line."""
    return bool(one.get("points")) and "noisy" not in one


def _empty() -> str:
    return _svg(WIDTH, 30, [_text(LEFT, 20, "nothing to draw", "start")])


def _strip(chart: Chart) -> str:
    """A point for each node, in their order."""
    ys = _positive([chart["y"]])
    if not ys:
        return _empty()
    last = max(chart["x"], default=0) or 1
    y = _log_axis(ys, HEIGHT - BOTTOM, TOP)

    def x(value: float) -> float:
        return LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * value / last

    points = {"x": chart["x"], "y": chart["y"], "hover": chart["hover"], "points": True}
    return _svg(WIDTH, HEIGHT, [_frame(chart, x, y, TOP, ()), _points(points, x, y, SERIES[0])])


def _frame(chart: Chart, x: Place, y: Place, top: float, x_ticks: Sequence[Sequence[Any]]) -> str:
    """Both axes, their ticks, and what they are."""
    rule = 'stroke="currentColor" stroke-opacity="0.15"'
    parts = [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}" {rule}/>']
    for value, text in chart["yTicks"]:
        if top - 1 <= y(value) <= HEIGHT - BOTTOM + 1:
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" {rule}/>')
            parts.append(_text(LEFT - 6, y(value) + 4, text, "end"))
    inside = [(x(value), text) for value, text in x_ticks if LEFT - 1 <= x(value) <= WIDTH - RIGHT + 1]
    parts += [_text(at, HEIGHT - BOTTOM + 14, text, "middle") for at, text in inside]
    parts.append(_text((LEFT + WIDTH) / 2, HEIGHT - 8, chart["xTitle"], "middle"))
    middle = (top + HEIGHT - BOTTOM) / 2
    parts.append(_text(12, middle, chart["yTitle"], "middle", f' transform="rotate(-90 12 {middle:.1f})"'))
    return "".join(parts)


def _band(one: Chart, x: Place, y: Place, colour: str) -> str:
    """The intervals of a line, in pieces wherever one is missing; of points a bar each."""
    low, high = one.get("low") or [], one.get("high") or []
    known = [k for k in range(min(len(low), len(high))) if low[k] and high[k] and one["x"][k]]
    if _scattered(one):
        bars = [(x(one["x"][k]), y(low[k]), y(high[k])) for k in known]
        return "".join(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{a:.1f}" y2="{b:.1f}" stroke="{colour}"/>' for at, a, b in bars
        )
    pieces: list[list[int]] = []
    for k in known:
        if pieces and pieces[-1][-1] == k - 1:
            pieces[-1].append(k)
        else:
            pieces.append([k])
    drawn = []
    for piece in pieces:
        edge = [(x(one["x"][k]), y(high[k])) for k in piece] + [(x(one["x"][k]), y(low[k])) for k in reversed(piece)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in edge)
        drawn.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.25" stroke="{colour}" '
                     'stroke-width="0.5"/>')  # fmt: skip
    return "".join(drawn)


def _line(xs: Sequence[float], ys: Sequence[float | None], x: Place, y: Place, colour: str, *, dashed: bool) -> str:
    """A line with gaps where a value is missing."""
    path, down = [], False
    for a, b in zip(xs, ys, strict=False):
        if a and b:
            path.append(f"{'L' if down else 'M'}{x(a):.1f} {y(b):.1f}")
        down = bool(a and b)
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="1.3"{dash}/>' if path else ""


def _points(one: Chart, x: Place, y: Place, colour: str) -> str:
    """What was measured, as points; those that are noisy are hollow."""
    noisy = one.get("noisy")
    if noisy is None and not one.get("points"):
        return ""
    drawn = []
    for k, (a, b) in enumerate(zip(one["x"], one["y"], strict=True)):
        if b is not None and b > 0:
            fill = "none" if noisy and noisy[k] else colour
            drawn.append(
                f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{fill}" stroke="{colour}">'
                f"{_title(one['hover'][k])}</circle>"
            )
    return "".join(drawn)


def _log_axis(values: Sequence[float], start: float, end: float) -> Place:
    """From the least value at `start` to the greatest at `end`, with a little room around them."""
    low, high = math.log(min(values)), math.log(max(values))
    room = 0.04 * (high - low) or 0.1
    low, high = low - room, high + room
    return lambda value: start + (end - start) * (math.log(value) - low) / (high - low)


def _positive(several: Any) -> list[float]:
    return [value for values in several for value in values if value is not None and value > 0]


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    fill = "" if "fill=" in more else ' fill="currentColor"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{fill}{more}>{text}</text>'


def _title(hover: str) -> str:
    """What is beside the pointer: the page's text without its markup, a line each."""
    return f"<title>{re.sub('</?b>', '', hover).replace('<br>', chr(10))}</title>"


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT}>{"".join(parts)}</svg>'


KINDS: dict[str, Callable[[Chart], str]] = {
    "heat": _heat, "strip": _strip, "sweep": _curves, "plot": _curves, "panels": _panels,
}  # fmt: skip
"""Kind of a page's chart → what draws it here."""
