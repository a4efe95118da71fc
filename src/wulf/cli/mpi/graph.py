"""`wulf mpi graph`: tasks that need tasks of the step before."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from wulf.cli.commands import Command
from wulf.cli.mpi.options import launch_options
from wulf.cli.options import measure_options, node_options, nodes_argument
from wulf.core.errors import UsageError


@click.command(cls=Command, epilog="Example: wulf mpi graph 'n[1-4]' --pattern stencil,fft,tree,none")
@nodes_argument
@node_options
@launch_options
@measure_options
@click.option("--pattern", "wanted", metavar="PATTERN[,PATTERN]", default="",
              help="none, stencil, fft, tree, all: what a task needs of the step before [all of these].")  # fmt: skip
@click.option("--bytes", "size", type=click.IntRange(8, 1 << 26), default=16, show_default=True,
              help="Of each result that another rank's task needs [B].")  # fmt: skip
def graph(wanted: str, size: int, **options: Any) -> int:
    """Steps of tasks, one a rank, that need each other by a pattern: how small a task may be.

    Task Bench's question (Slaughter et al., SC'20): of every pattern METG(50 %), the task's time at which half of the
    ranks' time is its own, looked for by tasks on both sides of it. Both ends of each message are checked.
    """
    from wulf.cli.mpi.command import measured
    from wulf.measure.mpi.graph import DEPENDENCE, GRAPH
    from wulf.measure.mpi.probes import mpi_probe
    from wulf.workflow.mpi.graph import Graph
    from wulf.workflow.mpi.whole import choices

    known = choices(mpi_probe().pattern(GRAPH), DEPENDENCE)
    patterns = tuple(dict.fromkeys(one.strip() for one in wanted.split(",") if one.strip())) or known
    strange = [one for one in patterns if one not in known]
    if strange:
        raise UsageError(f"--pattern {', '.join(strange)}: no such pattern", f"there are {', '.join(known)}")
    return measured(GRAPH, options, partial(Graph, patterns=patterns, params={"bytes": size}))
