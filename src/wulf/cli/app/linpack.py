"""`wulf app linpack`: wulf's own solver of linear equations over MPI, for where there is no HPL."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import launch_options
from wulf.cli.options import measure_options, node_options, nodes_argument

if TYPE_CHECKING:
    from wulf.core.records import Param


class GridOf(click.ParamType[tuple[int, int]]):
    """`2x3`: rows and columns of ranks."""

    name = "PxQ"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """To two numbers above 0."""
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"([1-9]\d{0,6})x([1-9]\d{0,6})", str(value).strip().lower())
        if not found:
            self.fail(f"{value!r} is no grid of ranks: write rows x columns, as 2x3 for 6", param, ctx)
        return int(found[1]), int(found[2])


@click.command(cls=Command, epilog="Example: wulf app linpack 'n[1-4]' --n 20000 --nb 192 --grid 2x2 --runs 6")
@nodes_argument
@node_options
@launch_options
@measure_options
@click.option("--n", type=click.IntRange(1, 1 << 20), default=2000, show_default=True, help="Rows of the matrix.")
@click.option("--nb", type=click.IntRange(1, 1024), default=128, show_default=True, help="Rows of its blocks.")
@click.option("--grid", type=GridOf(), help="Rows x columns of ranks [as square as can be].")
@click.option("--order", type=click.Choice(["row", "column"]), default="row", show_default=True,
              help="How ranks are numbered in the grid.")  # fmt: skip
@click.option("--lookahead", type=click.IntRange(0, 1), default=1, show_default=True, help="Panels factored early.")
@click.option("--blas", metavar="NAME|PATH", help="On the nodes, or `own` [the fastest that all nodes have].")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of the BLAS in each rank.")
@click.option("--matrix-seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the matrix.")
@click.option("--runs", type=click.IntRange(min=1), help="So many [until the interval is narrow enough].")
def linpack(grid: tuple[int, int] | None, matrix_seed: int, **options: Any) -> int:
    """Solve a random system of linear equations over all ranks, where there is no HPL.

    A distributed LU with partial pivoting, over the MPI and the BLAS found on the nodes: matrix, blocks, grid,
    look-ahead, residual test and count of operations are HPL's. It is not HPL: its figures are labelled so, and are no
    entry for a list.
    """
    from wulf.cli.mpi.command import measured
    from wulf.measure.mpi.probes import LINPACK, mpi_probe
    from wulf.workflow.app.linpack import Linpack

    own = {name: options.pop(name) for name in ("n", "nb", "order", "lookahead", "blas", "threads")}
    params: dict[str, Param] = {**own, "seed": matrix_seed, "seconds": 0.0}
    if grid is not None:
        params |= {"p": grid[0], "q": grid[1]}
        if options["ranks"] is None and options["per_node"] is None:
            options["ranks"] = grid[0] * grid[1]
    given = {name: value for name, value in params.items() if value is not None}
    checked = mpi_probe().check(LINPACK, "", given)
    return measured("linpack", options, partial(Linpack, params=checked))
