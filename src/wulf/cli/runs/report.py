"""`wulf report RUN`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import echo_records, named_run, runs_option
from wulf.cli.showing import colour_console, echo, show_rows
from wulf.core.errors import UsageError

LISTED = ("report", "Runs", 20, "Show a run, and write its HTML report.")


@click.command(
    cls=Command, epilog="Example:\n  wulf report last\n  wulf report monday --full\n  wulf report --site --days 60"
)
@click.argument("run", default="last", shell_complete=offers.runs)
@runs_option
@click.option("--html", type=click.Path(path_type=Path), help="Where to write the page [RUN/report.html].")
@click.option("--full", is_flag=True, help="Print every figure and every caveat, rather than those that matter most.")
@click.option("--json", "as_json", is_flag=True, help="The run's records as JSON Lines; of a site one object.")
@click.option("--site", is_flag=True, help="The whole cluster over time, from what the sentry knows; no run.")
@click.option("--state", type=click.Path(path_type=Path), help="With --site: the sentry's state [~/.local/state/wulf].")
@click.option("--days", type=click.IntRange(2, 1000), help="With --site: so many, today the last [120].")
@click.pass_context
def command(
    ctx: click.Context,
    run: str,
    directory: Path | None,
    html: Path | None,
    full: bool,
    as_json: bool,
    site: bool,
    state: Path | None,
    days: int | None,
) -> None:
    """Show a run, and write its HTML report. RUN is a path, an id, its beginning, or 'last'.

    Works on runs that were cut short, by kill -9 too: the records are collected from the replicates on disk.

    --site shows all nodes over days (site.html beside the sentry's state): what is open, what changed when, what
    measuring cost. docs/how-to/prometheus.md.
    """
    from wulf.report.run.html import write_report
    from wulf.report.run.terminal import print_report

    if site:
        if ctx.get_parameter_source("run") is not click.core.ParameterSource.DEFAULT or directory is not None or full:
            raise UsageError("--site is about no run", "leave out RUN, --in and --full")
        _show_site(state, days, html, as_json)
        return
    if state is not None or days is not None:
        raise UsageError("--state and --days are about --site", "give --site, or leave them out")
    loaded = named_run(run, directory)
    if as_json:
        echo_records(loaded.records)
        return
    page = write_report(loaded, html)
    print_report(loaded, colour_console(), whole=full)
    echo(f"report: {page}")


def _show_site(path: Path | None, days: int | None, html: Path | None, as_json: bool) -> None:
    from wulf.report.sentry.site import site_object, site_view
    from wulf.sentry.site import DAYS, read_site
    from wulf.sentry.state import SentryState, default_path

    path = path or default_path()
    with SentryState(path, read_only=True) as state:
        site = read_site(state, time.time(), days or DAYS)
    page = html or path.with_name("site.html")
    kept = "the state is kept, `wulf report --site --html PATH` writes it again"
    show_rows(site_view(site), _objects(site_object(site)), as_json=as_json, html=page, kept=kept)


def _objects(one: Mapping[str, Any]) -> Iterator[str]:
    yield json.dumps(one, ensure_ascii=False, allow_nan=False)
