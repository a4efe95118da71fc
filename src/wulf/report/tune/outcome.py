"""A campaign's outcome as a page: the tables, and the effects with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.outcomes import Outcome, percentage
from wulf.report.tune.campaign import interval, percent, result_view

SERIES = (("confirmed", "confirmed"), ("effect", "screened"), ("alone", "alone"), ("in_company", "with the others"))
"""Key of a setting, and what people call it."""


def effects_chart(result: Mapping[str, Any]) -> Chart:
    """Every setting's improvement: confirmed where it was, screened, alone, with the others; the A/A arm beside."""
    settings = [one for one in result["settings"] if one["effect"] and one["effect"]["ratio"] is not None]
    control = result["control"]
    rows: list[tuple[str, Mapping[str, Any]]] = [(one["name"], one) for one in settings]
    if control is not None and control["ratio"] is not None:
        rows.append(("A/A: nothing changed", {"effect": control}))
    series = [_series(name, key, rows) for key, name in SERIES]
    return {
        "names": [label(name, 34) for name, _ in rows], "series": [one for one in series if one["x"]],
        "xTitle": "improvement on the default [%]",
    }  # fmt: skip


def _series(name: str, key: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Chart:
    found = [(place, row, one[key]) for place, (row, one) in enumerate(rows) if one.get(key) and one[key]["ratio"]]
    return {
        "name": name,
        "row": [place for place, _, _ in found],
        "x": [percentage(one["improvement"]) for _, _, one in found],
        "low": [percentage(one["improvement_low"]) for _, _, one in found],
        "high": [percentage(one["improvement_high"]) for _, _, one in found],
        "hover": [
            hover(f"{row}, {name}", [percent(one["improvement"], 2), interval(one), str(one["judgement"])])
            for _, row, one in found
        ],
    }


OUTCOME = Outcome(
    file="campaign.json",
    rescue="the run's records are kept: records.jsonl",
    view=result_view,
    chart=effects_chart,
    about="improvement on the default of each setting, with its interval",
)
