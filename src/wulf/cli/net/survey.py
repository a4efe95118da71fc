"""`wulf survey`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import inventory_of, margin_option, measure_options, node_options
from wulf.cli.studying import show_run, studied
from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.cluster.inventory import Inventory

LISTED = ("survey", "Measure", 10, "Facts, all pairs, findings and a report: the main job.")


def parse_pair(text: str | None) -> tuple[str, str] | None:
    """`n1,n2` or `n1>n2` to a pair."""
    if text is None:
        return None
    names = [name.strip() for name in text.replace(">", ",").split(",")]
    if len(names) != 2 or not all(names):
        raise UsageError(f"--sweep-pair {text!r} is not a pair", "write n1,n2")
    return names[0], names[1]


@click.command(
    cls=Command,
    epilog="Examples: wulf survey --nodes 'n[1-4]' --out monday; wulf survey --nodes 'n[1-4]' --baseline monday",
)
@node_options
@measure_options
@margin_option
@click.option("--sweep-pair", metavar="A,B", help="The pair of the size sweep [the first two nodes].")
def command(sweep_pair: str | None, as_json: bool, **options: Any) -> int:
    """Facts, all pairs' latency and bandwidth, findings, and one HTML report.

    Without nodes: this machine.
    """
    from wulf.workflow.net.survey import Survey

    pair = parse_pair(sweep_pair)

    @contextmanager
    def where(options: dict[str, Any]) -> Iterator[Inventory]:
        with inventory_of(**options) as inventory:
            inventory.pick(pair or ())  # refused before any node is touched
            yield inventory

    study = partial(Survey, sweep_pair=pair)
    outcome = studied("survey", options, study, where=where, margin=options["margin"])
    return show_run(outcome, as_json=as_json)
