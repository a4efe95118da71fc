"""`wulf schema`."""

from __future__ import annotations

import json

import click

from wulf.cli.commands import Command
from wulf.cli.showing import echo

LISTED = ("schema", "Lab and tools", 50, "Print the JSON schema of a record.")


@click.command(cls=Command, epilog="Example: wulf schema > record.schema.json")
def command() -> None:
    """Print the JSON schema of a record, as `--json` prints them."""
    from wulf.core.records import record_schema

    echo(json.dumps(record_schema(), indent=2, ensure_ascii=False))
