"""`wulf sentry`: a watch over months, run as a service or by cron; what it found, and what became of it."""

from __future__ import annotations

import click

from wulf.cli.commands import TableGroup

LISTED = ("sentry", "Explain", 15, "A watch over months: measures idle nodes, tells what changed.")

COMMANDS = {
    "run": "wulf.cli.sentry.watch:run",
    "once": "wulf.cli.sentry.watch:once",
    "status": "wulf.cli.sentry.asking:status",
    "incidents": "wulf.cli.sentry.asking:incidents",
    "ack": "wulf.cli.sentry.asking:ack",
    "close": "wulf.cli.sentry.asking:close",
    "plan": "wulf.cli.sentry.watch:plan",
    "metrics": "wulf.cli.sentry.metrics:metrics",
}
"""Name → module and attribute."""


@click.group(cls=TableGroup, commands_at=COMMANDS, epilog="Example: wulf sentry run sentry.toml --nodes 'n[1-64]'")
def command() -> None:
    """A watch over months: idle nodes are measured by a plan, and what changed is told, until it is mended.

    `plan` writes a plan to start from; `run` stays, for a service; `once` does one round, for cron.
    """
