"""`wulf survey`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from wulf.cli.options import (
    colour_console,
    echo_records,
    inventory_of,
    margin_option,
    measure_options,
    measuring,
    node_options,
)
from wulf.core.errors import UsageError


def parse_pair(text: str | None) -> tuple[str, str] | None:
    """`n1,n2` or `n1>n2` to a pair."""
    if text is None:
        return None
    names = [name.strip() for name in text.replace(">", ",").split(",")]
    if len(names) != 2 or not all(names):
        raise UsageError(f"--sweep-pair {text!r} is not a pair", "write n1,n2")
    return names[0], names[1]


@click.command(epilog="Example: wulf survey --nodes 'n[1-4]' --out monday")
@node_options
@measure_options
@margin_option
@click.option("--sweep-pair", metavar="A,B", help="The pair of the size sweep [the first two nodes].")
def command(
    as_json: bool,
    out: Path | None,
    quick: bool,
    watch: bool,
    seed: int | None,
    width: float,
    budget: float | None,
    margin: float,
    sweep_pair: str | None,
    **where: Any,
) -> int:
    """Facts, all pairs' latency and bandwidth, findings, and one HTML report.

    Without nodes: this machine.
    """
    from wulf.report.run.terminal import print_report
    from wulf.workflow.engine.measuring import Effort
    from wulf.workflow.net.survey import survey

    pair = parse_pair(sweep_pair)
    with inventory_of(**where) as inventory:
        names = [node.name for node in inventory.nodes]
        if pair:
            inventory.pick(pair)
        with measuring("survey", out, seed, argv=sys.argv[1:], nodes=names, margin=margin) as (writer, drawn, line):
            outcome = survey(
                inventory,
                Effort(width, budget, quick, watch, margin=margin),
                writer,
                drawn,
                sweep_pair=pair,
                watch=line,
            )
    if as_json:
        echo_records(outcome.run.records)
    else:
        print_report(outcome.run, colour_console())
    click.echo(f"report: {outcome.run.path / 'report.html'}", err=as_json)
    return outcome.exit_code
