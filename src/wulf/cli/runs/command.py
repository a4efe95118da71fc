"""`wulf runs`: those that there are, as tables for other tools, and removed."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command, TableGroup
from wulf.cli.options import named_run, runs_option
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import UsageError

LISTED = ("runs", "Runs", 10, "What was measured: listed, exported, removed.")

COMMANDS = {
    "list": "wulf.cli.runs.command:listing",
    "export": "wulf.cli.runs.command:export",
    "rm": "wulf.cli.runs.command:remove",
}
"""Name → module and attribute."""


@click.group(cls=TableGroup, commands_at=COMMANDS, default="list", alone=True)
def command() -> None:
    """The runs that there are: listed, exported, removed."""


@click.command(cls=Command, name="list", epilog="Example: wulf runs --in /scratch/runs")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
def listing(directory: Path | None, as_json: bool) -> None:
    """List what was measured, oldest first, each with what it came to.

    These are the runs in the directory of runs, and those that `--out NAME` left in the current one.
    """
    from rich.text import Text

    from wulf.store.index import headline_of, read_metas
    from wulf.store.run import runs_directory

    found, unread = read_metas(directory)
    torn = {path: {"id": path.name, "state": "unreadable", "error": why} for path, why in unread.items()}
    metas = {path: {"name": path.name, **meta} for path, meta in (torn | found).items()}
    if as_json:
        for meta in metas.values():
            echo(json.dumps(meta))
        return
    if not metas:
        echo(f"no runs under {directory or runs_directory()}; `wulf survey` makes one")
        return
    rows = [("run", "command", "state", "nodes", "exit"), *map(_row, metas.values())]
    said = ["", *(headline_of(path, meta) for path, meta in metas.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    console = colour_console()
    for number, (row, headline) in enumerate(zip(rows, said, strict=True)):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        console.print(Text(line, style="" if number else "bold"), soft_wrap=True)
        if headline:
            console.print(Text(f"  {headline}", style="dim"), no_wrap=True, overflow="ellipsis")
    for why in unread.values():
        echo(f"can't be read: {why}", err=True)


def _row(meta: dict[str, Any]) -> tuple[str, str, str, str, str]:
    names = meta.get("nodes", [])
    shown = ",".join(names[:4]) + (f" +{len(names) - 4}" if len(names) > 4 else "")
    return meta["name"], meta.get("command", "–"), meta["state"], shown, str(meta.get("exit_code", "–"))


@click.command(cls=Command, epilog="Example: wulf runs export last --format parquet --to last.parquet")
@click.argument("run", shell_complete=offers.runs)
@runs_option
@click.option(
    "--format", "form", type=click.Choice(["csv", "md", "parquet"]), default="csv", show_default=True,
    help="Comma-separated, a table in Markdown, Parquet.",
)  # fmt: skip
@click.option("--to", "target", type=click.Path(path_type=Path), help="File to write [stdout; parquet needs one].")
def export(run: str, directory: Path | None, form: str, target: Path | None) -> None:
    """A run's records as a table for other tools. RUN is a path, an id, its beginning, or 'last'."""
    from wulf.core.files import replace_file
    from wulf.store.export import as_csv, as_markdown, write_parquet

    records = named_run(run, directory).records
    if form == "parquet":
        if target is None:
            raise UsageError("Parquet is nothing for a terminal", "name a file: --to records.parquet")
        write_parquet(records, target)
        return
    text = as_csv(records) if form == "csv" else as_markdown(records)
    if target is None:
        echo(text, nl=False)
        return
    try:
        replace_file(target, text)
    except OSError as error:
        raise UsageError(f"{target} can't be written: {error.strerror}", "name another file") from error


@click.command(cls=Command, name="rm", epilog="Example: wulf runs rm 20261120T0800")
@click.argument("runs", nargs=-1, required=True, shell_complete=offers.runs)
@runs_option
@click.option("--yes", is_flag=True, help="Without asking.")
def remove(runs: tuple[str, ...], directory: Path | None, *, yes: bool) -> None:
    """Remove runs with all that they hold, once you have confirmed. RUN is an id, its beginning, or 'last'.

    Only what stands in the directory of runs: a folder that you chose yourself may hold other things of yours.
    """
    from wulf.core.names import plural
    from wulf.store.index import find_run, list_runs
    from wulf.store.run import Run, runs_directory

    known = {path.resolve() for path in list_runs(directory or runs_directory())}
    found = list(dict.fromkeys(find_run(name, directory) for name in runs))
    for path in found:
        if path.resolve() not in known:
            raise UsageError(f"{path} does not stand in the directory of runs", "remove it by hand, or name it --in")
        if Run(path, {}).being_written:
            raise UsageError(f"{path} is being measured", "wait for it, or interrupt it")
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("nobody is there to be asked", "--yes removes without asking")
        for path in found:
            echo(f"  {path}")
        click.confirm(f"Remove {plural(len(found), 'run')}?", abort=True)
    for path in found:
        try:
            shutil.rmtree(path)
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(f"{error.filename or path} can't be removed: {why}", "is it yours?") from error
        echo(f"removed {path}")
