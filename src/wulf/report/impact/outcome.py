"""An impact as a page: the tables, and all improvements with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wulf.report.impact.effects import impact_view
from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.outcomes import Outcome, percentage
from wulf.report.tune.campaign import interval, percent


def improvements(result: Mapping[str, Any]) -> Chart:
    """The application's improvement beside the network's own; where it has several figures, those of its parts."""
    main = result["rows"][0]["name"]
    parts = [one for one in result.get("figures", ()) if one["leading"] and main != f"application, {one['name']}"]
    named = [{**one, "name": one["title"]} for one in parts]
    rows = [row for row in [*result["rows"], *named] if row["compared"]["ratio"] is not None]
    numbers = {key: [percentage(row["compared"][key]) for row in rows]
               for key in ("improvement", "improvement_low", "improvement_high")}  # fmt: skip
    series = {
        "name": "after against before", "row": list(range(len(rows))), "x": numbers["improvement"],
        "low": numbers["improvement_low"], "high": numbers["improvement_high"],
        "hover": [
            hover(row["name"], [percent(row["compared"]["improvement"], 2), interval(row["compared"])]) for row in rows
        ],
    }  # fmt: skip
    return {
        "names": [label(row["name"], 34) for row in rows], "series": [series] if rows else [],
        "xTitle": "improvement on before [%]",
    }  # fmt: skip


OUTCOME = Outcome(
    file="impact.json",
    rescue="the run's records are kept: records.jsonl",
    view=impact_view,
    chart=improvements,
    about="improvement of each figure, with its interval",
)
