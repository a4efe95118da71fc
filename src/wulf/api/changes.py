"""Two runs beside each other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wulf.api import html
from wulf.api.results import Results, load
from wulf.api.tabular import Column, Kind, Tabular, columns_of
from wulf.core.names import plural
from wulf.measure.comparing import RunComparison, compare_runs, percent
from wulf.report.compare.runs import KEPT, comparison_view, headline, node_rows_of, rows_of
from wulf.report.kit.figures import metric_name
from wulf.report.kit.page import write_view
from wulf.stats.comparison import DELTA, Judgement

FIELDS: dict[str, Kind] = {
    "subject": str, "metric": str, "params": str, "unit": str, "a": float, "b": float, "ratio": float, "low": float,
    "high": float, "confidence": float, "n": int, "p": float, "p_holm": float, "q": float, "verdict": str,
    "suspect": bool, "least_visible": float, "reason": str,
}  # fmt: skip
"""Of each cell of both runs: both figures, B / A with its interval, and what may be claimed (docs/how-to/python.md)."""


MOST_CELLS = 10
"""That a notebook shows, the gravest first."""


class Change(Tabular):
    """What changed from one run to another, cell by cell: faster, slower, equivalent, or inconclusive.

    The runs were measured one after the other: what differs may be time, or any fact that changed with it.
    """

    def __init__(self, found: RunComparison) -> None:
        self._found = found

    @property
    def headline(self) -> str:
        """How many cells got which verdict."""
        return headline(self._found)

    @property
    def exit_code(self) -> int:
        """As of `wulf compare`: 0 nothing got slower, 1 something did, 3 nothing could be compared."""
        return self._found.exit_code

    @property
    def facts(self) -> tuple[Mapping[str, Any], ...]:
        """What differs between the nodes then and now: {"node", "fact", "a", "b"} each."""
        return tuple({"node": one.node, "fact": one.fact, "a": one.a, "b": one.b} for one in self._found.facts)

    @property
    def nodes(self) -> tuple[Mapping[str, Any], ...]:
        """Nodes whose links changed together, the greatest change first: {"node", "verdict", "links", "ratio", …} each.

        Only where samples are too few to claim anything of one cell among so many.
        """
        return tuple(node_rows_of(self._found))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the comparison as one HTML file. StoreError where that can't be."""
        write_view(comparison_view(self._found), Path(path), KEPT)
        return Path(path)

    def _columns(self) -> list[Column]:
        return columns_of(rows_of(self._found), FIELDS, within="params")

    def __repr__(self) -> str:
        return f"<Change: {self.headline}>"

    def _repr_html_(self) -> str:
        told = [cell for cell in self._found.cells if cell.judgement is not Judgement.EQUIVALENT]
        rows = [
            (cell.a.subject, metric_name(cell.a.metric), str(cell.judgement), percent(cell.comparison.ratio),
             f"{percent(cell.comparison.low)} to {percent(cell.comparison.high)}" if cell.comparison.low
             else cell.comparison.reason or "–")
            for cell in told
        ]  # fmt: skip
        notes = [self._found.unprovable] if self._found.unprovable else []
        notes += [f"The nodes differ in {plural(len(self.facts), 'fact')}: `.facts` says which."] if self.facts else []
        shown = html.table(["subject", "metric", "verdict", "B / A", "interval"], rows, MOST_CELLS) if rows else ""
        return "".join([html.paragraph(self.headline, strong=True), *map(html.paragraph, notes), shown])


def compare(
    a: str | os.PathLike[str] | Results, b: str | os.PathLike[str] | Results = "last", *, delta: float = DELTA
) -> Change:
    """Compare two runs cell by cell, as `wulf compare` does.

    Parameters
    ----------
    a, b
        Results, or what `load` takes: b against a.
    delta
        What counts as no difference: 0.01 is 1 %.

    Raises
    ------
    UsageError
        There is no such run, or they have no cell in common.
    """
    first, second = (one if isinstance(one, Results) else load(one) for one in (a, b))
    return Change(compare_runs(first._run, second._run, delta=delta))
