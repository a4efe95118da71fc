"""A campaign's plan and outcome, the same in a terminal and on a page: sections of sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wulf.core.names import fold, plural
from wulf.core.units import show
from wulf.report.kit.view import Columns, Section, View
from wulf.tune.kept import SCREENED

Object = Mapping[str, Any]
"""As campaign.json, or --json, has it."""

KINDS = ("baseline", "level", "alone", "mixture", "leave-one-out", "combined", "control")
"""The order of a table's rows."""

CHANGED = ("faster", "slower")

METHOD = (
    "Each block measures every configuration once, in random order, and configurations are compared within blocks "
    "(Wilcoxon's signed ranks). Screened is a setting's effect in the stage that selects: the mean of what it does "
    "alone and what it does together with all others; of those selected it is too great on average. Confirmed is what "
    "a setting adds to the others kept, measured once more after all was decided. Impact is the improvement on the "
    "default: less time, or more of a rate. Intervals are of 95 % each; a setting is called faster or slower where "
    "that holds for all settings together, and not where the A/A arm differs from itself; 'by itself' a configuration "
    "differs, and not among all of its table."
)


def percent(share: float | None, digits: int = 1) -> str:
    """`+36.8 %`; a dash where there is none."""
    return "–" if share is None else f"{100 * share:+.{digits}f} %"


def interval(compared: Object | None) -> str:
    """`+35.9 – +37.6 %`."""
    if compared is None or compared["improvement_low"] is None:
        return "–"
    return f"{100 * compared['improvement_low']:+.1f} … {100 * compared['improvement_high']:+.1f} %"


def plan_view(plan: Object) -> View:
    """The dry run: what would be changed, measured, risked and written down."""
    minutes = plan["seconds"] / 60
    headline = (
        f"Nothing was changed: {plural(len(plan['settings']), 'setting')} would be tried on {fold(plan['nodes'])} "
        f"for {plan['aim']}, in about {minutes:.0f} min; --apply does it."
    )
    settings = Section("Settings", table=Columns(
        ["setting", "now", "tried"], [[one["name"], _now(one), ", ".join(one["to"])] for one in plan["settings"]], 3,
    ))  # fmt: skip
    experiment = Section("Experiment", [
        f"Measured: {plan['measured']}.",
        f"Design: {plan['design']}, {plural(plan['arms'], 'configuration')} in {plural(plan['blocks'], 'block')}, "
        f"{plural(plan['visits'], 'measurement')} in all; the order comes from seed {plan['seed']}.",
        f"First block: {', '.join(plan['order'])}.",
        "What is proven faster is confirmed on fresh data, and measured once more for its figure; "
        f"then {'it is kept' if plan['keep'] else 'all is undone'}.",
    ])  # fmt: skip
    risk = Section("Risk", plan["risks"])
    journal = Section("Written down on each node before anything is written", plan["journalled"])
    parts = [settings, experiment, risk, journal, *_omitted(plan["omitted"])]
    return View("wulf tune: plan", headline, parts, notes=plan["notes"])


def _now(one: Object) -> str:
    return "; ".join(f"{value} ({where})" if where else value for value, where in one["now"])


def _omitted(omitted: Sequence[Object]) -> list[Section]:
    if not omitted:
        return []
    return [Section("Not done here", table=Columns(["setting", "why"], [[o["name"], o["reason"]] for o in omitted], 2))]


def result_view(result: Object) -> View:
    """What a campaign found, kept and left."""
    unit = result["metric"]["unit"]
    sections = [
        Section("Alone, all but one, together", table=arms_table(_of_stage(result, "main"), unit)),
        *([Section("Values tried", table=arms_table(swept, unit))] if (swept := _of_stage(result, "sweep")) else []),
        Section("What each setting does", table=settings_table(result)),
        *_interactions(result),
        Section("How far to trust it", list(_trust(result))),
        Section("State of the nodes", list(_left(result))),
        *_omitted(result["omitted"]),
    ]
    title = f"wulf tune for {result['aim']}: {fold(result['nodes'])}"
    return View(
        title, headline(result), [s for s in sections if s.lines or s.table], notes=result["notes"], method=METHOD
    )


def headline(result: Object) -> str:
    """The outcome in a sentence."""
    if result["state"] != "complete":
        what = "was interrupted" if result["state"] == "interrupted" else "stopped early"
        return f"The campaign {what}; what was measured is below."
    if "main" in result.get("alarms", ()):
        return "The A/A arm differs from itself: nothing is claimed, and all was undone."
    faster = [one["name"] for one in result["settings"] if one["judgement"] == "faster"]
    slower = sum(one["judgement"] == "slower" for one in result["settings"])
    rest = len(result["settings"]) - len(faster) - slower
    told = f"{', '.join(faster) if faster else 'No setting'} proven faster, {slower} slower, {rest} inconclusive"
    if result["confirmation"] is None:
        return f"{told}."
    together = result["together"] if "together" in result else result["confirmation"]
    if together is None:
        return f"{told}; not confirmed on fresh data, undone."
    kept = "kept" if result["kept"] else "undone"
    return f"{told}; together {percent(together['improvement'])} ({interval(together)}) on fresh data, {kept}."


def _of_stage(result: Object, stage: str) -> list[Object]:
    rows = [row for row in result["rows"] if row["stage"] == stage]
    return sorted(rows, key=lambda row: KINDS.index(row["kind"]))


def arms_table(rows: Sequence[Object], unit: str) -> Columns | None:
    """The papers' table 3, with intervals: mean, deviation, impact, verdict."""
    if not rows:
        return None
    found = [
        [row["name"], row["verdict"], show(row["mean"], unit), show(row["deviation"], unit),
         _improvement(row["against_default"]), interval(row["against_default"]), str(row["n"])]
        for row in rows
    ]  # fmt: skip
    return Columns(["configuration", "verdict", "mean", "σ", "impact", "95 %", "n"], found, 2)


def settings_table(result: Object) -> Columns | None:
    """A line a setting: the verdict, the effect as it was confirmed, screened, alone and with the others."""
    fresh = any(one.get("confirmed") for one in result["settings"])
    rows = [
        [one["name"], _told(one),
         *([_improvement(one["confirmed"]), interval(one["confirmed"])] if fresh else []),
         _improvement(one["effect"]), interval(one["effect"]), _improvement(one["alone"]),
         _improvement(one["in_company"]), "–" if one["p_holm"] is None else f"{one['p_holm']:.2g}"]
        for one in result["settings"]
    ]  # fmt: skip
    heads = [*(["confirmed", "95 %"] if fresh else []), "screened", "95 %", "alone", "with the others", "p (Holm)"]
    return Columns(["setting", "verdict", *heads], rows, 2) if rows else None


def _improvement(compared: Object | None) -> str:
    return "–" if compared is None else percent(compared["improvement"])


def _told(one: Object) -> str:
    """The verdict, and why it is not kept where it is faster and not worth it."""
    kept = one["worth_keeping"] or one["judgement"] != "faster"
    return str(one["verdict"]) if kept else f"{one['verdict']}; {one['why']}"


def _interactions(result: Object) -> list[Section]:
    """Pairs that the design shows; else settings that do something else together than alone."""
    pairs = [_pair(one["name"], one, "proven" if one["proven"] else "not proven") for one in result["interactions"]]
    if pairs:
        return [Section("Interactions of two", table=Columns(["pair", "on the figure", "95 %", ""], pairs, 1))]
    others = [
        _pair(one["name"], one["interaction"], "shown" if one["interaction_shown"] else "not shown")
        for one in result["settings"]
        if one["interaction"] and one["interaction"]["ratio"]
    ]
    if not others:
        return []
    table = Columns(["setting", "with the others / alone", "95 %", "interaction"], others, 1)
    return [Section("Interactions with all others", table=table)]


def _pair(name: str, one: Object, told: str) -> list[str]:
    return [name, f"× {one['ratio']:.3f}", _ratios(one["low"], one["high"]), told]


def _ratios(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"


def _trust(result: Object) -> Iterator[str]:
    control, drift = result["control"], result["drift"]
    if control is not None and control["ratio"] is not None:
        clean = control["judgement"] not in CHANGED
        yield (
            f"A/A arm (nothing changed): {percent(control['improvement'], 2)} ({interval(control)}), "
            f"{'clean' if clean else 'NOT clean: nothing is claimed'}."
        )
    if "sweep" in result.get("alarms", ()):
        yield "The A/A arm beside the values that were tried is NOT clean: of these nothing is claimed."
    if drift is not None:
        yield f"Drift from first to last: × {drift['ratio']:.3f} ({_ratios(drift['low'], drift['high'])})."
    design = result["design"] or "no design"
    yield f"{design}, {plural(result['blocks'], 'block')}, seed {result['seed']}; {result['measured']}."


def _left(result: Object) -> Iterator[str]:
    """What stays changed, what could not be taken back, and whether the rest is as before."""
    for one in result["kept"]:
        where = " ".join(filter(None, (one["place"], "on", one["nodes"])))
        yield f"kept: {one['name']} = {one['value']} (was {one['before']}) {where}{_worth(one['effect'])}"
    for one in result["leftovers"]:
        yield f"NOT taken back: {' '.join(filter(None, (one['node'], one['name'], one['place'])))}: {one['text']}"
    dumps = result.get("dumps")
    if dumps is None:
        return
    if dumps["same"] is None:
        yield f"Whether all other settings are as before is not known: {dumps['reason']}"
    elif dumps["same"]:
        kept = ", but for what was kept" if result["kept"] else ""
        yield f"Every setting of every node is as before, byte by byte{kept}: settings-before.json, -after.json."
    for one in dumps["differ"]:
        place = " ".join(filter(None, (one["node"], one["name"], one["place"])))
        yield f"DIFFERS from before: {place}: {_value(one['before'])} → {_value(one['after'])}"


def _worth(effect: Object | None) -> str:
    """`: +26.1 % (+25.9 … +26.3 %), confirmed`; what a run of old kept was screened alone."""
    if effect is None:
        return ""
    ends = interval({"improvement_low": effect["low"], "improvement_high": effect["high"]})
    return f": {percent(effect['value'])} ({ends}), {effect.get('basis', SCREENED)}"


def _value(reading: Object | None) -> str:
    return "absent" if reading is None else str(reading.get("value", reading.get("reason")))
