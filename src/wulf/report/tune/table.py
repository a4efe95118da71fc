"""A table of a tuning experiment, analysed: the same in a terminal and on a page, and as JSON holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from wulf.core.names import plural
from wulf.core.units import show
from wulf.report.kit.view import Columns, Section, View
from wulf.report.tune.campaign import arms_table, interval, percent
from wulf.tune.campaign.wording import comparison_object, least_visible
from wulf.tune.table.arms import SettingTable
from wulf.tune.table.effects import ALPHA, TableAnalysis, TableEffect, Together
from wulf.tune.table.limits import design_name, limits

Object = Mapping[str, Any]
"""As --json has it."""

METHOD = (
    "Impact is the improvement on the arm with nothing changed: less time, or more of a rate. {how} A setting's effect "
    "is the mean over all pairs of arms that differ in it alone; where there are none, it is by least squares, as if "
    "there were no interactions. Intervals are of 95 % each; a difference is called faster or slower where that holds "
    "for all of its table together (Holm), and 'by itself' where it does not. An interaction is what settings do "
    "together over the product of what each does alone: 1, where they don't act on each other."
)

WELCH = (
    "Ratios of means are compared by their logarithms, each arm with its own deviation (Welch's t, Satterthwaite's "
    "degrees of freedom)."
)
BLOCKS = "Logarithms are compared within blocks, which takes out what drifted from one to the next (Student's t)."

HEADS = {
    "baseline": "Baseline", "alone": "Beside others", "interactions": "Interactions", "which": "Which interact",
    "order": "Drift", "trend": "Drift", "replication": "Intervals", "aliased": "Aliased", "inseparable": "Inseparable",
    "means": "Means", "unequal": "Numbers",
}  # fmt: skip
"""Kind of limit → its heading."""


def table_object(table: SettingTable, found: TableAnalysis) -> dict[str, Any]:
    """All that a table says, and all that it can't."""
    lower = table.lower_is_better
    against = dict(found.arms)
    return {
        "source": table.source, "metric": {"unit": table.unit, "lower_is_better": lower}, "alpha": ALPHA,
        "design": design_name(table), "blocks": len(table.blocks), "measurements": len(table.rows) or None,
        "arms": [
            {"name": table.name(arm), "settings": sorted(arm, key=table.factors.index), **asdict(moments),
             **_effect(against.get(arm), table, "against_default")}
            for arm, moments in table.arms.items()
        ],
        "settings": [
            {"name": one.name, **_effect(one.effect, table, "effect"),
             "alone": comparison_object(one.alone.compared, lower_is_better=lower) if one.alone else None}
            for one in found.settings
        ],
        "together": [_together(one, table) for one in found.together],
        "interactions": [_ratio(one) for one in found.pairs],
        "unseen": [list(pair) for pair in found.unseen],
        "aliased": [list(names) for names in found.aliased],
        "limits": [asdict(one) for one in limits(table, found)],
    }  # fmt: skip


def _effect(one: TableEffect | None, table: SettingTable, name: str) -> dict[str, Any]:
    """A comparison by name, with what is to be said of it."""
    compared = None if one is None else comparison_object(one.compared, lower_is_better=table.lower_is_better)
    return {
        name: compared, "p_holm": one.holm if one else None, "proven": one.proven if one else False,
        "verdict": _verdict(one, table) if one else "",
    }  # fmt: skip


def _verdict(one: TableEffect, table: SettingTable) -> str:
    if one.compared.low is None:
        return f"not told: {one.compared.reason}"
    if one.compared.changed:
        return f"{one.compared.judgement}{'' if one.proven else ' by itself'}"
    base = table.baseline
    seen = least_visible(one.compared, base.mean if base else None, table.unit)
    return f"no detectable effect{f'; {seen}' if seen else ''}"


def _ratio(one: TableEffect) -> dict[str, Any]:
    """An interaction: neither better nor worse."""
    compared = one.compared
    return {
        "name": one.name, "ratio": compared.ratio, "low": compared.low, "high": compared.high, "p": compared.p,
        "p_holm": one.holm, "proven": one.proven,
    }  # fmt: skip


def _together(one: Together, table: SettingTable) -> dict[str, Any]:
    return {
        **_ratio(one.over_product), "name": table.name(one.arm), "mean": table.arms[one.arm].mean,
        "product": one.product, "sum": one.sum,
        "over_sum": {"value": one.over_sum, "low": one.low, "high": one.high},
    }  # fmt: skip


def table_view(result: Object) -> View:
    """What a table says, and what it can't."""
    unit = result["metric"]["unit"]
    effects = _settings(result)
    sections = [
        Section("What was measured", table=arms_table([one | {"n": one["n"] or "–"} for one in result["arms"]], unit)),
        *([Section("What each setting does", table=effects)] if effects else []),
        *_combinations(result, unit),
        *_pairs(result),
        Section("What this table can't tell", [f"{HEADS[one['kind']]}: {one['text']}" for one in result["limits"]]),
    ]
    method = METHOD.format(how=BLOCKS if result["blocks"] else WELCH)
    shown = [one for one in sections if one.lines or one.table]
    return View(f"wulf tune import: {result['source']}", headline(result), shown, method=method)


def headline(result: Object) -> str:
    """The outcome in a sentence."""
    changed = [one for one in result["settings"] if one["proven"]]
    faster = [one for one in changed if one["effect"]["judgement"] == "faster"]
    slower = [one for one in changed if one["effect"]["judgement"] == "slower"]
    rest = len(result["settings"]) - len(faster) - len(slower)
    told = ", ".join(f"{one['name']} {percent(one['effect']['improvement'])}" for one in faster)
    return (
        f"{plural(len(result['settings']), 'setting')}, {result['design']}: {told or 'none'} faster, {len(slower)} "
        f"slower, {rest} not told from noise."
    )


def _settings(result: Object) -> Columns | None:
    """A line a setting; none where each was measured alone and no other way: the arms say it."""
    settings = result["settings"]
    if all(one["alone"] is not None and one["alone"] == one["effect"] for one in settings):
        return None
    rows = [
        [one["name"], one["verdict"] or "not told", *_improvement(one["effect"]), *_improvement(one["alone"]),
         "–" if one["p_holm"] is None else f"{one['p_holm']:.2g}"]
        for one in settings
    ]  # fmt: skip
    heads = ["setting", "verdict", "averaged", "95 %", "alone", "95 %", "p (Holm)"]
    return Columns(heads, rows, 2, unprinted=(len(heads) - 1,))


def _improvement(compared: Object | None) -> list[str]:
    return ["–", "–"] if compared is None else [percent(compared["improvement"]), interval(compared)]


def _combinations(result: Object, unit: str) -> Iterator[Section]:
    """Arms of several settings beside the product and the sum of what each does alone."""
    if not result["together"]:
        return
    rows = [
        [one["name"], show(one["mean"], unit), show(one["product"], unit), _times(one), show(one["sum"], unit),
         _difference(one["over_sum"], unit), _shown(one)]
        for one in result["together"]
    ]  # fmt: skip
    heads = ["together", "measured", "by product", "measured / it", "by sum", "measured − it", "interaction"]
    yield Section("Together, and what each alone would make of it", table=Columns(heads, rows, 1, tail=1))


def _pairs(result: Object) -> Iterator[Section]:
    """Interactions of two; not where each is an arm of `together` and nothing else."""
    ratios = {one["ratio"] for one in result["together"]}
    if all(one["ratio"] in ratios for one in result["interactions"]):
        return
    rows = [[one["name"], _times(one), _shown(one)] for one in result["interactions"]]
    table = Columns(["pair", "ratio", "interaction"], rows, 1, tail=1)
    yield Section("Interactions of two, over all else", table=table)


def _times(one: Object) -> str:
    ends = "" if one["low"] is None else f" ({one['low']:.3f} … {one['high']:.3f})"
    return f"× {one['ratio']:.3f}{ends}"


def _difference(one: Object, unit: str) -> str:
    value = f"{'−' if one['value'] < 0 else '+'}{show(abs(one['value']), unit)}"
    if one["low"] is None:
        return value
    low, high = (f"{'−' if end < 0 else '+'}{show(abs(end), unit)}" for end in (one["low"], one["high"]))
    return f"{value} ({low} … {high})"


def _shown(one: Object) -> str:
    if one["low"] is None:
        return "not told: no interval"
    return "shown" if one["proven"] else "not shown"
