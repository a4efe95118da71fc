"""Progress on stderr: what is being done, how far, and the time left; a line now and then where it is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from wulf.cli.showing import echo
from wulf.measure.engine.watcher import Lines, Progress, Unwatched


@dataclass
class Bar(Unwatched):
    """A progress line; `say` changes its words, `on_progress` its length."""

    _display: Any
    _task: Any

    def say(self, what: str) -> None:
        """Words before there is anything to count."""
        self._display.update(self._task, description=what)

    def agrees(self, question: str) -> bool:
        """Ask, where somebody can answer."""
        if not sys.stdin.isatty():
            return True
        self._display.stop()
        try:
            return click.confirm(question, default=True, err=True)
        finally:
            self._display.start()

    def on_progress(self, progress: Progress) -> None:
        """After every wave of replicates."""
        self._display.update(
            self._task, description=progress.now, completed=progress.done, total=progress.expected, left=progress.left
        )


class Plain(Lines):
    """Where there is no terminal: lines on stderr."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(partial(echo, err=True), clock)


@contextmanager
def progress_line() -> Iterator[Bar | Plain]:
    """A live line while the block runs; it disappears afterwards."""
    if not sys.stderr.isatty():
        yield Plain()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Display

    from wulf.report.kit.console import CleanConsole

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<34.34}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TimeElapsedColumn(),
    )
    with Display(*columns, console=CleanConsole(stderr=True), transient=True) as display:
        yield Bar(display, display.add_task("starting", total=None, left=""))
