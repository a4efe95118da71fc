"""The HTML report of a run."""

from __future__ import annotations

from pathlib import Path

from wulf.report.kit.html import (
    drawing_script,
    fill_template,
    json_for_script,
    plotly,
    script_digest,
    template,
    write_page,
)
from wulf.report.run.page import page
from wulf.store.run import Run


def write_report(run: Run, path: Path) -> None:
    """Write the report of a run, atomically: `path` is the whole report, or what it was before.

    Raises
    ------
    StoreError
        The disk is full, or there is no permission.
    """
    write_page(path, render(run), "the run itself is kept, `wulf report RUN` writes the page again")


def render(run: Run) -> str:
    """The report of a run as one HTML document."""
    context = page(run)
    charts, blocks = context.pop("charts"), context["blocks"]
    library, script = plotly(charts), drawing_script("report.js")
    own = [template(block.script) for block in blocks if block.script and charts]
    return fill_template(
        "report.html.j2",
        **context,
        charts=json_for_script(charts),
        has_charts=bool(charts),
        plotly=library,
        script=script,
        styles=[template(block.style) for block in blocks if block.style],
        own_scripts=own,
        script_digests=[script_digest(each) for each in [library, script, *own]],
    )
