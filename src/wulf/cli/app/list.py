"""`wulf app list`: which applications the nodes have."""

from __future__ import annotations

import json
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import mpi_inventory
from wulf.cli.options import node_options, nodes_argument
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import INCOMPLETE, OK


@click.command(cls=Command, name="list", epilog="Example: wulf app list 'n[1-4]'")
@nodes_argument
@node_options
@click.option("--json", "as_json", is_flag=True, help="One object a driver and place on stdout.")
def listing(as_json: bool, **options: Any) -> int:
    """Which drivers' programs are on which nodes, and where: PATH, modules, Spack, packages' folders.

    Beside a program the MPI that it is linked with, by whose launcher its ranks are started.
    """
    from wulf.workflow.app.list import look

    with mpi_inventory(options) as inventory:
        rows, failed = look(inventory)
    if as_json:
        for row in rows:
            echo(json.dumps(row.to_json()))
    else:
        _print(rows)
    for error in failed.values():
        echo(str(error), err=True)
    return INCOMPLETE if failed else OK


def _print(rows: Any) -> None:
    from wulf.measure.mpi.probes import folded
    from wulf.report.kit.printing import new_table

    table = new_table("driver", "nodes", "program", "MPI", overflow="fold")
    for row in rows:
        where = f"{row.program.path} ({row.program.where})" if row.program else f"– {row.reason}"
        table.add_row(row.driver, folded(row.nodes), where, (row.program.mpi or "–") if row.program else "")
    colour_console().print(table)
