"""`wulf app blas`: one table of every BLAS that the nodes have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import mpi_inventory
from wulf.cli.options import echo_records, measure_options, node_options, nodes_argument
from wulf.cli.showing import colour_console, echo
from wulf.cli.studying import studied, tell_change, tell_findings
from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.measure.blas import Found, Table
    from wulf.workflow.engine.study import Conditions


def _blocks(_ctx: click.Context, _param: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        blocks = tuple(int(part) for part in text.split(","))
    except ValueError:
        blocks = ()
    if not blocks or min(blocks) < 1:
        raise UsageError(f"--nb {text!r} are no sizes of blocks", "write --nb 64,128,192")
    return blocks


@click.command(cls=Command, epilog="Example: wulf app blas 'n[1-4]' --nb 64,128,192,256")
@nodes_argument
@node_options
@measure_options
@click.option("--rows", type=click.IntRange(min=1), default=2000, show_default=True, help="m and n of the products.")
@click.option("--nb", "blocks", default="64,128,192,256", callback=_blocks, show_default=True, help="k: HPL's NB.")
@click.option("--library", "libraries", metavar="PATH", multiple=True, help="This one alone; may be repeated [all].")
@click.option("--runs", type=click.IntRange(min=1), help="So many [until the interval is narrow enough].")
def blas(rows: int, blocks: tuple[int, ...], libraries: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Compare the BLAS libraries of the nodes by what HPL does most: C = C - A·B with m = n large, k = NB.

    All cores multiply at once, a process of one thread on each. Every product is checked. Shares are of the peak of
    fused multiply-adds, measured in between. The last column says how a program is given that library without root.
    """
    from wulf.measure.blas import table_of
    from wulf.workflow.app.blas import CompareBlas, Wanted

    found: list[Found] = []

    def study(given: Conditions) -> CompareBlas:
        compared = CompareBlas(given, Wanted(rows, blocks, libraries))
        found.append(compared.found)
        return compared

    outcome = studied("app-blas", options, study, where=mpi_inventory)
    if as_json:
        echo_records(outcome.run.records)
    else:
        show(table_of(outcome.run.records, found[0]))
        tell_findings(outcome)
    tell_change(outcome, as_json=as_json)
    echo(f"report: {outcome.run.path / 'report.html'}", err=as_json)
    return outcome.exit_code


def show(table: Table) -> None:
    """A table for each node: rates in Gflop/s by NB, the best one's interval and share of the peak."""
    from wulf.report.app.blas import blas_sections
    from wulf.report.kit.terminal import print_all

    print_all(blas_sections(table), colour_console())
