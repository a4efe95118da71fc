"""What is reported of applications."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from wulf.core.records import Record
from wulf.report.app.runs import app_section, is_app, print_apps
from wulf.report.kit.parts import Block, Part
from wulf.store.run import Run


class Apps(Part):
    """Runs of applications, with what was checked."""

    place = 50

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of `wulf app`."""
        return filter(is_app, run.records)

    def print(self, run: Run, console: Console) -> None:
        """A table an application."""
        print_apps(run, console)

    def block(self, run: Run) -> Block | None:
        """A section an application."""
        found = app_section(run)
        return Block("app.html.j2", found, [("apps", "Applications")]) if found else None


PARTS = (Apps(),)
