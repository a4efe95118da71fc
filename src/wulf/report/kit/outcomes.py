"""What a campaign, a search or an impact came to: one JSON file in its run, shown as a view and as a page with a chart.

A room of wulf.report that has such a file to show has a module `outcome` with OUTCOME; it is found there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wulf.report.kit.charts import Chart
from wulf.report.kit.page import render_view, write_view
from wulf.report.kit.rooms import of_rooms
from wulf.report.kit.view import Drawing, Section, SideBySide, View
from wulf.store.reading import StoreError, read_json

CHART = "effects"
"""The chart's key in its page."""

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One kind of outcome.

    Parameters
    ----------
    file
        Its file in a run's directory.
    rescue
        What somebody can do whose file is torn.
    view
        Its tables.
    chart
        Its chart, without a series where there is nothing to draw.
    about
        What the chart shows.
    heading
        How the heading of the section begins that the chart stands in; empty: the first one.
    """

    file: str
    rescue: str
    view: Callable[[Result], View]
    chart: Callable[[Result], Chart]
    about: str
    heading: str = ""

    def read(self, run: Path) -> dict[str, Any]:
        """What a run holds of it.

        Raises
        ------
        StoreError
            Its file is torn, or holds what can't be shown: a run may come from anybody.
        """
        path = run / self.file
        try:
            found = read_json(path, {})
            self.render(found)
        except StoreError as error:
            raise StoreError(error.what, self.rescue) from error
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise StoreError(f"{path} is no {self.file} of wulf's: {error!r}", self.rescue) from error
        return found

    def write(self, result: Result, path: Path) -> None:
        """Write the page, atomically.

        Raises
        ------
        StoreError
            The disk is full, there is no such directory, or there is no permission.
        """
        write_view(self.page(result), path, f"the run's {self.file} is kept: `wulf report RUN` writes the page again")

    def render(self, result: Result) -> str:
        """The page as one HTML document that works offline."""
        return render_view(self.page(result))

    def page(self, result: Result) -> View:
        """The view with the chart."""
        view, chart = self.view(result), self.chart(result)
        drawing = Drawing(CHART, lambda: {**chart, "kind": "effects"}, self.about, ("tune.js",))
        place = next((one for one in view.sections if one.heading.startswith(self.heading)), None)
        if chart["series"] and place is not None:
            drawn = replace(place, body=[SideBySide([Section("", body=[drawing])], "large")])
            view = replace(view, sections=[drawn if one is place else one for one in view.sections])
        return view


def outcome_in(run: Path) -> Outcome | None:
    """The kind of outcome that a run holds."""
    of_all = (module.OUTCOME for module in of_rooms("outcome"))
    return next((outcome for outcome in of_all if (run / outcome.file).exists()), None)


def percentage(share: float | None) -> float | None:
    """A share as a number for a chart."""
    return None if share is None else round(100 * share, 4)
