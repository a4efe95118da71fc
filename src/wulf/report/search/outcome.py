"""A search's outcome as a page: the tables, and the path to the best configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.outcomes import Outcome
from wulf.report.search.found import search_view, steps_of
from wulf.search.space import configuration_text


def path_chart(result: Mapping[str, Any]) -> Chart:
    """The gain on the start after each step."""
    steps = steps_of(result)
    names = [configuration_text(one["changed"]) for one in steps]
    totals = [one["total"] for one in steps]
    series = {
        "name": "gain on the start",
        "row": list(range(len(steps))),
        "x": [_gain(one["speedup"]) for one in totals],
        "low": [_gain(one["speedup_low"]) for one in totals],
        "high": [_gain(one["speedup_high"]) for one in totals],
        "hover": [hover(name, [f"{_gain(one['speedup'])} %"]) for name, one in zip(names, totals, strict=True)],
    }
    return {
        "names": [label(name, 34) for name in names], "series": [series] if steps else [],
        "xTitle": "gain on the first baseline [%]",
    }  # fmt: skip


def _gain(ratio: float | None) -> float | None:
    return None if ratio is None else round(100 * (ratio - 1), 3)


OUTCOME = Outcome(
    file="search.json",
    rescue="`wulf search resume` makes it from the journal",
    view=search_view,
    chart=path_chart,
    about="gain on the first baseline after each step, with its interval",
    heading="Path",
)
