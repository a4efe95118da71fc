"""What a search found, the same in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.names import plural
from wulf.core.units import show, show_interval
from wulf.report.kit.view import Columns, Section, View
from wulf.report.search.building import TOGETHER, building_sections, not_built
from wulf.report.search.preflight import change, preflight_sections, settings_lines
from wulf.report.search.worth import step_name, worth_line, worth_table
from wulf.search.space import configuration_text

Object = Mapping[str, Any]
"""As search.json, or --json, has it."""

METHOD = (
    "Configurations are run small first; from all runs so far a Gaussian process over knobs, pairs of knobs and 1/N "
    "extrapolates each to the full size; those that look best there are run larger. It chooses what is run, and "
    "nothing is claimed from it. Winner and default are compared on fresh runs in blocks of random order (Wilcoxon's "
    "signed ranks). So is each step of the path, and the pair of knobs most likely to interact; 'proven' is corrected "
    "for all of these (Holm), intervals are each at 95 %."
)


def search_view(result: Object) -> View:
    """The whole outcome."""
    sections = [
        Section("Best configuration", _best_lines(result)),
        Section("Fastest at the full size", table=_fastest(result)),
        Section(f"Path to it, at size {_size(result, 'path')}", _path_lines(result), table=_path(result)),
        Section(f"What each step makes of the machine, at size {_size(result, 'path')}", table=worth_table(result)),
        Section("Other baselines", table=_others(result)),
        Section("Two knobs together", _together(result)),
        *building_sections(result),
        *preflight_sections(result.get("preflight")),
        Section("Failed", table=_failed(result)),
        Section("Settings of nodes", settings_lines(result.get("settings"))),
        Section("Cost of the search", _cost(result)),
    ]
    kept = [one for one in sections if one.lines or one.table]
    method = METHOD + (TOGETHER if result.get("joint") else "")
    return View(f"wulf search {result['name']}", headline(result), kept, notes=result["notes"], method=method)


def headline(result: Object) -> str:
    """The outcome in a sentence."""
    if result["winner"] is None:
        return (
            f"No configuration of {result['name']} ran right at size {result['sizes'][-1]:g}: nothing is recommended."
        )
    value = _value(result["value"], result["unit"])
    compared = result["confirmation"]
    if compared is None:
        return f"{value}: nothing is faster than what there is."
    against = result["against"]
    if compared["judgement"] == "faster":
        return f"{value}, {_gain(compared)} on {against}, on fresh runs."
    told = {"equivalent": "no faster than", "slower": "slower than"}.get(
        compared["judgement"], "not proven faster than"
    )
    return f"{value}, but {told} {against} on fresh runs ({_gain(compared)})."


def _value(one: Object | None, unit: str) -> str:
    if one is None or one["value"] is None:
        return "no figure"
    text = show(one["value"], unit)
    return text if one["low"] is None else f"{text} ({show_interval(one['low'], one['high'], unit)})"


def _gain(compared: Object | None) -> str:
    """`+36.8 % (+35.9 … +37.6 %)`: how much more in the same time."""
    if compared is None or compared["speedup"] is None:
        return "–"
    return change(compared["speedup"], compared["speedup_low"], compared["speedup_high"])


def _best_lines(result: Object) -> list[str]:
    if result["winner"] is None:
        return []
    lines = [configuration_text(result["winner"])]
    confirmed = result["confirmed"]
    if confirmed is not None:
        lines.append(
            f"Fresh runs at size {confirmed['size']:g}, {plural(result['confirmation']['n'], 'block')}: "
            f"{_value(confirmed['winner'], result['unit'])}, {result['against']} "
            f"{_value(confirmed['baseline'], result['unit'])}: {_gain(result['confirmation'])}, "
            f"{result['confirmation']['judgement']}."
        )
    lines += worth_line(result)
    return lines + [f"written: {path}" for path in result["files"]]


def _size(result: Object, what: str) -> str:
    sizes = result["sizes"]
    return f"{sizes[max(0, len(sizes) - 2)]:g}" if what == "path" and len(sizes) > 1 else f"{sizes[-1]:g}"


def _fastest(result: Object) -> Columns | None:
    unit = result["unit"]
    rows = [
        [_short(one["configuration"], result), show(one["figures"][len(one["figures"]) // 2], unit),
         str(len(one["figures"]))]
        for one in result["best"]
    ]  # fmt: skip
    return Columns(["configuration", result["figure"], "runs"], rows, 1) if rows else None


def _short(values: Object, result: Object) -> str:
    """What differs from the winner; the winner as such."""
    winner = result["winner"] or {}
    differing = {name: value for name, value in values.items() if winner.get(name) != value}
    return configuration_text(differing) if differing else "the best configuration"


def _path(result: Object) -> Columns | None:
    if not result["path"] or "figure" not in result["path"][0]:
        return None
    unit, rows = result["unit"], []
    for number, one in enumerate(result["path"]):
        changed = step_name(result, number)
        step = one.get("step")
        told = "" if step is None else _told(step)
        rows.append([changed, show(one["figure"]["value"], unit) if one["figure"]["value"] else "–",
                     "" if step is None else _gain(step), told,
                     "" if step is None else _gain({**one["total"], "speedup_low": None})])  # fmt: skip
    return Columns(["change", result["figure"], "step, 95 %", "", "in all"], rows, 1)


def _path_lines(result: Object) -> list[str]:
    """What did not matter of it; the steps as modelled where none was run."""
    if len(result["path"]) < 2:
        return []
    if "figure" not in result["path"][0]:
        return [
            f"{number}. {configuration_text(one['changed'])}" for number, one in enumerate(result["path"]) if number
        ]
    idle = [", ".join(one["changed"]) for one in result["path"][1:] if not one["step"]["proven"]]
    return [f"Changed, and not proven to matter: {', '.join(idle)}."] if idle else []


def _told(step: Object) -> str:
    """What a step's runs say, all of the path's together considered."""
    if step["proven"]:
        return "proven"
    return "equivalent" if step["judgement"] == "equivalent" else "not proven"


def _others(result: Object) -> Columns | None:
    rows = [[one["name"], f"{one['size']:g}", _value(one["figure"], result["unit"]), _gain(one["comparison"])]
            for one in result["others"]]  # fmt: skip
    return Columns(["baseline", "size", result["figure"], "the best is faster by"], rows, 1) if rows else None


def _together(result: Object) -> list[str]:
    """Of the one pair that was tested."""
    one = result["together"]
    if result["winner"] is None or len(result["path"]) < 3:
        return []
    if one is None or one["ratio"] is None:
        return [
            "None was tested: the model expects of no pair more than each does by itself, or no run was left for it."
        ]
    span = "" if one["low"] is None else f" ({one['low']:.3f} … {one['high']:.3f})"
    return [
        f"{' and '.join(one['names'])} together cost × {one['ratio']:.3f}{span} of what they do one by one: "
        f"{_told(one)}. Of all pairs this one looked the likeliest; no other was tested."
    ]


def _failed(result: Object) -> Columns | None:
    rows = [[one["configuration"], one["verdict"], one["reason"]] for one in result["failed"]]
    rows += not_built(result.get("builds", []))
    return Columns(["configuration", "verdict", "why"], rows, 3) if rows else None


def _cost(result: Object) -> list[str]:
    cost = result["cost"]
    verdicts = ", ".join(f"{count} {name}" for name, count in cost["verdicts"].items())
    lines = [f"{plural(cost['runs'], 'run')} in {show(cost['seconds'], 's')}: {verdicts}; seed {result['seed']}."]
    stages = [f"{name} {one['runs']} in {show(one['seconds'], 's')}" for name, one in cost["stages"].items()]
    lines.append("; ".join(stages) + ".")
    if cost["grid_seconds"]:
        share = 100 * cost["seconds"] / cost["grid_seconds"]
        lines.append(f"All {result['configurations']:,} configurations at the full size would take about "
                     f"{show(cost['grid_seconds'], 's')}: the search took {share:.2g} % of that.")  # fmt: skip
    drift = result["drift"]
    if drift is not None and drift["ratio"] is not None:
        told = "it drifted" if drift["found"] else "no drift is proven"
        lines.append(f"{plural(drift['anchors'], 'anchor')}: cost × {drift['ratio']:.3f} from first to last, {told}; "
                     f"one run at the smallest size is uncertain by {100 * drift['spread']:.1f} %.")  # fmt: skip
    return lines


def steps_of(result: Object) -> Sequence[Object]:
    """The path's steps that were run, for a chart."""
    return [one for one in result["path"] if one.get("total") and one["total"]["speedup"] is not None]
