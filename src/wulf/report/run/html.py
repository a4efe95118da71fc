"""The HTML report of a run."""

from __future__ import annotations

from pathlib import Path

from wulf.report.kit.page import render_view, write_view
from wulf.report.run.view import run_view
from wulf.store.run import Run


def write_report(run: Run, path: Path) -> None:
    """Write the report of a run, atomically: `path` is the whole report, or what it was before.

    Raises
    ------
    StoreError
        The disk is full, or there is no permission.
    """
    write_view(run_view(run), path, "the run itself is kept, `wulf report RUN` writes the page again")


def render(run: Run) -> str:
    """The report of a run as one HTML document."""
    return render_view(run_view(run))
