"""Records of a node survey as they would have been measured."""

from __future__ import annotations

from typing import Any

from wulf.core.records import Record, Verdict
from wulf.measure.node.rows import table


def record(
    subject: str, row: str, value: float | None, unit: str = "", *, width: float = 0.02, curve: str = "", **more: Any
) -> Record:
    """A row's record, or a curve's point where `curve` is given."""
    known = table().by_name.get(row)
    curves = {one.name: one for one in table().curves}
    metric = curves[curve].metric if curve else known.metric if known else "latency"
    given: dict[str, Any] = {
        "run": "r", "subject": subject, "probe": known.program if known else "node", "metric": metric,
        "unit": unit or (known.unit if known else "s"), "value": value, "verdict": Verdict.OK, "at": "now",
        "phase": "curve" if curve else "row", "replicates": 8, "failed_replicates": 0, "stopped": "enough",
    }  # fmt: skip
    given |= {"row": row} if row else {}
    given |= {"curve": curve} if curve else {}
    if value is None:
        given |= {"verdict": Verdict.UNRESOLVED, "reason": "not here", "supported": False}
    else:
        given |= {"low": value * (1 - width / 2), "high": value * (1 + width / 2), "confidence": 0.95}
    return Record(**{**given, **more})
