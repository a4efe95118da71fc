"""What is reported of applications."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.records import Record
from wulf.report.app.runs import answer, app_sections, is_app
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Section
from wulf.store.run import Run


class Apps(Part):
    """Runs of applications, with what was checked."""

    place = 50

    def answer(self, run: Run) -> str:
        """The figure, and its share of the peak."""
        return answer(run)

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of `wulf app`."""
        return filter(is_app, run.records)

    def view(self, run: Run) -> Sequence[Section]:
        """A table an application."""
        return app_sections(run)


PARTS = (Apps(),)
