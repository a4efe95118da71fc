"""`wulf history METRIC`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import Percent, runs_option
from wulf.cli.showing import show_rows
from wulf.core.errors import FOUND, OK

LISTED = ("history", "Explain", 40, "Where a metric changed over many runs, and what changed with it.")


class Setting(click.ParamType[tuple[str, str]]):
    """`transport=tcp`: a parameter and its value."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """To a pair."""
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not equals or not key.strip():
            self.fail(f"{value!r} is not a parameter and its value, such as transport=tcp", param, ctx)
        return key.strip(), text.strip()


@click.command(
    cls=Command,
    epilog="Example: wulf history rtt --subject 'n1>n2' --param transport=tcp --html history.html. "
    "Exit code 1 where a series is now worse than before its latest change; a candidate does not count.",
)
@click.argument("metric")
@runs_option
@click.option("--subject", metavar="NODE|PAIR", help="Only this node, or this pair: 'n1>n2'.")
@click.option(
    "--param", "params", type=Setting(), multiple=True, metavar="NAME=VALUE",
    help="Only cells with this parameter: transport=tcp; may be repeated.",
)  # fmt: skip
@click.option(
    "--level", type=Percent(), default="5%", show_default=True, help="Chance of a change where nothing changed."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a series, with its changes.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with plots.")
def command(
    metric: str,
    directory: Path | None,
    subject: str | None,
    params: tuple[tuple[str, str], ...],
    level: float,
    as_json: bool,
    html: Path | None,
) -> int:
    """Show where METRIC (rtt, throughput, ...) changed over many runs, and which facts changed with it.

    Runs are compared cell by cell: the same subject with the same parameters. Records that failed or have no answer
    are left out.
    """
    from wulf.report.compare.history import as_objects, history_view
    from wulf.workflow.model.history import history

    found = history(metric, directory, subject=subject, params=dict(params), level=level)
    rows = (json.dumps(item, ensure_ascii=False) for item in as_objects(found))
    kept = "the runs are kept, `wulf history METRIC --html PATH` writes it again"
    show_rows(history_view(found), rows, as_json=as_json, html=html, kept=kept)
    return FOUND if found.worse_now else OK
