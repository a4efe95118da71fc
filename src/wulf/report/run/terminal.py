"""The report of a run in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from wulf.core.names import printable
from wulf.report.kit.printing import say
from wulf.report.kit.terminal import print_all, print_view
from wulf.report.run.singles import singles
from wulf.report.run.summary import headline
from wulf.report.run.view import report_view
from wulf.store.run import Run


def print_report(run: Run, console: Console, *, whole: bool = False) -> None:
    """Print a run: the answer, what stands out, then key figures; `whole`: every figure and every caveat."""
    print_view(report_view(run, page=False), console, whole=whole)


def print_records(run: Run, console: Console) -> None:
    """Print single measurements in full, below what they come to."""
    say(console, Text(printable(headline(run)), style="bold"))
    print_all(singles(run.records), console)
