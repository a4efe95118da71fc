"""The report of a run in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from wulf.core.records import Record
from wulf.report.kit.terminal import print_all, print_view
from wulf.report.run.singles import singles
from wulf.report.run.view import report_view
from wulf.store.run import Run


def print_report(run: Run, console: Console) -> None:
    """Print a run: what stands out first, then the tables behind it."""
    print_view(report_view(run, page=False), console)


def print_records(records: Sequence[Record], console: Console) -> None:
    """Print single measurements in full."""
    print_all(singles(records), console)
