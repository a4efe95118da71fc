"""`wulf runs`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from wulf.cli.options import colour_console
from wulf.core.foreign import clean


@click.command(epilog="Example: wulf runs --in /scratch/runs")
@click.option("--in", "directory", type=click.Path(path_type=Path), help="Directory of runs [./runs, or $WULF_RUNS].")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
def command(directory: Path | None, as_json: bool) -> None:
    """List what was measured, oldest first."""
    from rich.table import Table

    from wulf.store.run import read_metas, runs_directory

    found, unread = read_metas(directory)
    torn = {path: {"id": path.name, "state": "unreadable", "error": why} for path, why in unread.items()}
    metas = [meta for _, meta in sorted((found | torn).items())]
    if as_json:
        for meta in metas:
            click.echo(json.dumps(meta))
        return
    if not metas:
        click.echo(f"no runs under {directory or runs_directory()}; `wulf survey` makes one")
        return
    table = Table("run", "state", "nodes", "exit", box=None, pad_edge=False)
    for meta in metas:
        names = meta.get("nodes", [])
        shown = ",".join(names[:4]) + (f" +{len(names) - 4}" if len(names) > 4 else "")
        table.add_row(clean(meta["id"]), meta["state"], shown, str(meta.get("exit_code", "–")))
    colour_console().print(table)
    for why in unread.values():
        click.echo(f"can't be read: {clean(why)}", err=True)
