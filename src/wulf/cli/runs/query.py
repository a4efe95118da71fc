"""`wulf query "SQL"`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from wulf.cli.commands import Command
from wulf.cli.options import runs_option
from wulf.cli.showing import colour_console, echo

LISTED = ("query", "Runs", 40, "Ask the records of many runs in SQL.")


@click.command(
    cls=Command, epilog="Example: wulf query \"SELECT subject, value FROM records WHERE metric = 'rtt' ORDER BY value\""
)
@click.argument("sql")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def command(sql: str, directory: Path | None, as_json: bool) -> None:
    """Ask the records of many runs in SQL (DuckDB). Tables: records, runs."""
    from rich.table import Table

    from wulf.core.names import plural
    from wulf.store.query import query

    answer = query(sql, directory)
    for why in answer.unread.values():
        echo(f"left out: {why}", err=True)
    if answer.torn:
        echo(f"left out: {plural(answer.torn, 'line')} of records.jsonl that could not be read", err=True)
    if as_json:
        for item in answer.objects():
            echo(json.dumps(item, default=str))
        return
    table = Table(*answer.columns, box=None, pad_edge=False)
    for row in answer.rows:
        table.add_row(*("–" if value is None else str(value) for value in row))
    colour_console().print(table)
