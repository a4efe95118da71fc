"""`wulf sentry`: a watch over months."""

from __future__ import annotations

import click

from wulf.cli.commands import TableGroup

LISTED = ("sentry", "Measure", 75, "Watch a cluster for months: metrics for Prometheus.")

COMMANDS = {
    "metrics": "wulf.cli.sentry.metrics:metrics",
}
"""Name → module and attribute."""


@click.group(cls=TableGroup, commands_at=COMMANDS)
def command() -> None:
    """A watch over months (docs/how-to/prometheus.md)."""
