"""What a search did with nodes beside its runs, for terminal and page: products before, settings during."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wulf.core.names import plural
from wulf.core.units import show, show_interval
from wulf.report.kit.view import Columns, Section

Object = Mapping[str, Any]
"""`preflight` of search.json."""


def preflight_sections(found: Object | None) -> list[Section]:
    """The libraries, and what the block size does with the fastest; nothing where nothing was measured."""
    if not found:
        return []
    return [
        Section("BLAS libraries, by products before the search", _lines(found), table=_libraries(found)),
        Section("Block sizes of these products, with the fastest library", table=_sizes(found)),
    ]


def settings_lines(found: Object | None) -> list[str]:
    """What was varied of the nodes' settings, what could not be, and whether all is as before."""
    if not found:
        return []
    lines = [f"{one['name']}: {', '.join(one['tried'])}; before {', '.join(one['now'])}." for one in found["varied"]]
    lines += [one["reason"] for one in found["refused"]]
    left = found["leftovers"]
    lines += [f"not taken back: {one['node']} {one['name']} {one['place']}: {one['text']}" for one in left]
    lines += [f"differs: {one['node']} {one['name']} {one['place']}" for one in found["differ"]]
    if found["same"] and not left:
        return [*lines, "Everything was taken back: all settings are as they were."] if lines else []
    return [*lines, "Not all settings are known to be as before: `wulf tune status` shows what the nodes hold."]


def _lines(found: Object) -> list[str]:
    kept = [one["label"] for one in found["libraries"] if one["kept"]]
    rows = f"{found['rows']} x {found['rows']} x NB"
    lines = [f"{plural(found['products'], 'product')} of {rows} on all cores in {show(found['seconds'], 's')}."]
    if kept:
        lines.append(f"Searched over: {', '.join(kept)}; a library is left out if it is proven to be slower.")
    own = next((one for one in found["libraries"] if one["path"] == found["own"]), None)
    if own is not None:
        lines.append(f"The program finds {own['label']} by itself.")
    return [*lines, *map(_unusable, found["unusable"]), *found["notes"]]


def _unusable(one: Object) -> str:
    """A library and why it has no rate; some reasons name it themselves."""
    path, reason = str(one["path"]), str(one["reason"])
    return reason if reason.startswith(path) else f"{path}: {reason}"


def _libraries(found: Object) -> Columns | None:
    rows = [
        [one["label"], one["title"] or "–", str(one["nb"]), *_figures(one), "searched" if one["kept"] else "left out"]
        for one in found["libraries"]
    ]
    return Columns(["library", "says it is", "NB", "rate", "95 %", "to the fastest", ""], rows, 2) if rows else None


def _sizes(found: Object) -> Columns | None:
    rows = [[str(one["nb"]), *_figures(one), _verdict(one["against"])] for one in found["sizes"]]
    return Columns(["NB", "rate", "95 %", "to the fastest", ""], rows, 1) if rows else None


def _figures(one: Object) -> list[str]:
    """Rate, its interval, and the loss against the fastest with its own."""
    rate, against = one["rate"], one["against"]
    value = "–" if rate["value"] is None else show(rate["value"], "flop/s")
    bounds = "–" if rate["low"] is None else show_interval(rate["low"], rate["high"], "flop/s")
    return [value, bounds, _loss(against)]


def _loss(against: Object | None) -> str:
    if against is None:
        return "the fastest"
    if against["ratio"] is None:
        return "–"
    return change(against["ratio"], against["low"], against["high"])


def change(ratio: float, low: float | None, high: float | None) -> str:
    """A ratio and its interval as differences: `+36.8 % (+35.9 … +37.6 %)`."""
    text = f"{100 * (ratio - 1):+.1f} %"
    if low is None or high is None:
        return text
    return f"{text} ({100 * (low - 1):+.1f} … {100 * (high - 1):+.1f} %)"


def _verdict(against: Object | None) -> str:
    return "" if against is None else str(against["judgement"])
