"""Machines side by side as one HTML page: `wulf compare --machines --html`."""

from __future__ import annotations

from pathlib import Path

from wulf.core.names import plural, printable
from wulf.report.kit.html import (
    drawing_script,
    fill_template,
    json_for_script,
    plotly,
    script_digest,
    template,
    write_page,
)
from wulf.report.node.machines import Beside
from wulf.report.node.page import machines_section


def write_machines(these: Beside, path: Path) -> None:
    """Write the comparison as one file that needs no network.

    Raises
    ------
    StoreError
        The disk is full, or there is no permission.
    """
    write_page(path, render_machines(these), "the runs are kept, `wulf compare --machines` writes the page again")


def render_machines(these: Beside) -> str:
    """The page as one HTML document."""
    content, charts = machines_section(these)
    scripts = [plotly(charts), drawing_script("report.js", "node.js")] if charts else []
    names = ", ".join(printable(machine.name) for machine in these.machines)
    return fill_template(
        "machines.html.j2",
        title=f"wulf compare --machines: {names}",
        headline=f"{plural(len(these.machines), 'machine')} in {plural(len(these.rows), 'row')}",
        machines=content,
        node_style=template("node.css"),
        charts=json_for_script(charts),
        scripts=scripts,
        script_digests=[script_digest(script) for script in scripts],
    )
