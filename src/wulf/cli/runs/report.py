"""`wulf report RUN`."""

from __future__ import annotations

from pathlib import Path

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import echo_records, named_run, runs_option
from wulf.cli.showing import colour_console, echo

LISTED = ("report", "Runs", 20, "Show a run, and write its HTML report.")


@click.command(cls=Command, epilog="Example:\n  wulf report last\n  wulf report monday --full")
@click.argument("run", default="last", shell_complete=offers.runs)
@runs_option
@click.option("--html", type=click.Path(path_type=Path), help="Where to write the page [RUN/report.html].")
@click.option("--full", is_flag=True, help="Print every figure and every caveat, rather than those that matter most.")
@click.option("--json", "as_json", is_flag=True, help="The run's records as JSON Lines.")
def command(run: str, directory: Path | None, html: Path | None, full: bool, as_json: bool) -> None:
    """Show a run, and write its HTML report. RUN is a path, an id, its beginning, or 'last'.

    Works on runs that were cut short, by kill -9 too: the records are collected from the replicates on disk.
    """
    from wulf.report.run.html import write_report
    from wulf.report.run.terminal import print_report

    loaded = named_run(run, directory)
    if as_json:
        echo_records(loaded.records)
        return
    page = write_report(loaded, html)
    print_report(loaded, colour_console(), whole=full)
    echo(f"report: {page}")
