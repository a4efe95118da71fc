"""`wulf compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import Percent, named_run, runs_option
from wulf.cli.showing import show_rows
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.store.run import Run

LISTED = ("compare", "Explain", 30, "Compare two runs cell by cell.")


@click.command(
    cls=Command,
    epilog="Examples: wulf compare monday friday --html change.html; wulf compare old new --machines --price new=2490",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=offers.runs)
@runs_option
@click.option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference.")
@click.option("--machines", is_flag=True, help="Nodes side by side, of any number of runs: time, clock cycles, cost.")
@click.option("--curves", is_flag=True, help="Throughput over message size, of any number of runs in one picture.")
@click.option("--price", "prices", multiple=True, metavar="NAME=PRICE", help="With --machines: of a run or a node.")
@click.option("--row", "wanted", multiple=True, metavar="ROW", help="With --machines: a row, as `mem.l2.latency`.")
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write the comparison as one HTML file, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a cell, or a node.")
def command(
    runs: tuple[str, ...], directory: Path | None, delta: float, machines: bool, curves: bool,
    prices: tuple[str, ...], wanted: tuple[str, ...], page: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Compare two runs cell by cell: what got faster, slower, stayed the same, or can't be told.

    Runs are named as by `wulf report`: a path, an identifier, its beginning, or `last`. Facts of their nodes that
    changed stand above the table. Where samples are too few to claim anything of one cell among so many, all links of a
    node are compared together. Exit code 1 when something got slower.

    With --machines, the nodes that `wulf node` measured stand side by side, of one run or several: the time of each
    operation, its clock cycles, and with prices what the work costs; without --row also latency, cpu-rate and its σ
    over the working set, all machines in one picture. Runs of `wulf app` on the same nodes may be named with them: what
    your own program takes is a row then, too. With --curves, runs of `wulf net curve` and `wulf mpi curve` are drawn
    over each other: networks, settings, MPIs.
    """
    if machines and curves:
        raise UsageError("--machines and --curves are two comparisons", "give one of them")
    if not machines and (prices or wanted):
        raise UsageError("--price and --row are for --machines", "add --machines")
    if not machines and not curves and len(runs) != 2:
        raise UsageError(f"two runs are compared cell by cell, not {len(runs)}", "for nodes side by side: --machines")
    loaded = [named_run(name, directory) for name in runs]
    named = dict(zip(runs, loaded, strict=True))
    if machines:
        return _machines(named, prices, wanted, page, as_json)
    if curves:
        return _curves(named, page, as_json)
    return _cells(loaded[0], loaded[1], delta, page, as_json)


def _cells(a: Run, b: Run, delta: float, page: Path | None, as_json: bool) -> int:
    """Two runs, cell by cell."""
    from wulf.measure.comparing import compare_runs
    from wulf.report.compare.runs import KEPT, comparison_view, node_rows_of, rows_of

    found = compare_runs(a, b, delta=delta)
    rows = map(json.dumps, [*node_rows_of(found), *rows_of(found)])
    show_rows(comparison_view(found), rows, as_json=as_json, html=page, kept=KEPT)
    return found.exit_code


def _machines(
    runs: dict[str, Run], prices: tuple[str, ...], wanted: tuple[str, ...], page: Path | None, as_json: bool
) -> int:
    """Nodes of any number of runs, side by side."""
    from wulf.measure.node.machines import machines_of, read_prices
    from wulf.report.node.comparison import machines_view, titles
    from wulf.report.node.machines import beside, json_rows

    these = beside(machines_of(runs, read_prices(prices)), titles(), wanted)
    if not these.rows:
        raise UsageError(
            f"{', '.join(wanted) or 'a row'}: no machine of {', '.join(runs)} has a time of that",
            "`wulf node --list` names the rows, and `wulf node` measures them",
        )
    kept = "the runs are kept, `wulf compare --machines` writes the page again"
    view = machines_view(these, curves=not wanted)
    show_rows(view, map(json.dumps, json_rows(these)), as_json=as_json, html=page, kept=kept)
    return OK


def _curves(runs: dict[str, Run], page: Path | None, as_json: bool) -> int:
    """Throughput over message size, of any number of runs."""
    from wulf.report.net.overlaid import curves_of_runs, json_rows, overlaid_view

    found = curves_of_runs(runs)
    without = [name for name in runs if name not in {one.name for one in found}]
    if without:
        raise UsageError(f"{', '.join(without)}: no curve there", "`wulf net curve` and `wulf mpi curve` measure one")
    kept = "the runs are kept, `wulf compare --curves` writes the page again"
    show_rows(overlaid_view(found), map(json.dumps, json_rows(found)), as_json=as_json, html=page, kept=kept)
    return OK
