"""A trace as a page: what `wulf trace show` says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wulf.report.kit.charts import Chart
from wulf.report.kit.outcomes import Outcome
from wulf.report.trace import trace_view


def _no_chart(_: Mapping[str, Any]) -> Chart:
    """Its tables say all: calls and pairs are counted, not estimated."""
    return {"series": []}


OUTCOME = Outcome(
    file="summary.json",
    rescue="the trace itself is kept: `wulf trace show RUN` reads it anew",
    view=trace_view,
    chart=_no_chart,
    about="",
)
