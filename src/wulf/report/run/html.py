"""The report of a run as its page, report.html."""

from __future__ import annotations

from pathlib import Path

from wulf.report.kit.page import render_view, write_view
from wulf.report.run.view import report_view
from wulf.store.run import Run


def write_report(run: Run, path: Path | None = None) -> Path:
    """Write the report of a run beside its records, or to `path`: the whole of it, or what was there before.

    Raises
    ------
    StoreError
        The disk is full, or there is no permission.
    """
    target = path or run.path / "report.html"
    write_view(report_view(run), target, "the run itself is kept, `wulf report RUN` writes the page again")
    return target


def render(run: Run) -> str:
    """The report of a run as one HTML document."""
    return render_view(report_view(run))
