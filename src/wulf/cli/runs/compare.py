"""`wulf compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import Percent, named_run, runs_option
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.store.run import Run


@click.command(
    cls=Command,
    epilog="Examples: wulf compare monday friday --html change.html; wulf compare old new --machines --price new=2490",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=offers.runs)
@runs_option
@click.option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference.")
@click.option("--machines", is_flag=True, help="Nodes side by side, of any number of runs: time, clock cycles, cost.")
@click.option("--price", "prices", multiple=True, metavar="NAME=PRICE", help="With --machines: of a run or a node.")
@click.option("--row", "wanted", multiple=True, metavar="ROW", help="With --machines: a row, as `mem.l2.latency`.")
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write the comparison as one HTML file, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a cell.")
def command(
    runs: tuple[str, ...], directory: Path | None, delta: float, machines: bool,
    prices: tuple[str, ...], wanted: tuple[str, ...], page: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Compare two runs cell by cell: what got faster, slower, stayed the same, or can't be told.

    Runs are named as by `wulf report`: a path, an identifier, its beginning, or `last`. Facts of their nodes that
    changed stand above the table. Exit code 1 when something got slower.

    With --machines, the nodes that `wulf node` measured stand side by side, of one run or several: the time of each
    operation, its clock cycles, and with prices what the work costs; without --row also latency, cpu-rate and its σ
    over the working set, all machines in one picture. Runs of `wulf app` on the same nodes may be named with them: what
    your own program takes is a row then, too.
    """
    if not machines and (prices or wanted):
        raise UsageError("--price and --row are for --machines", "add --machines")
    if not machines and len(runs) != 2:
        raise UsageError(f"two runs are compared cell by cell, not {len(runs)}", "for nodes side by side: --machines")
    loaded = [named_run(name, directory) for name in runs]
    if machines:
        return _machines(dict(zip(runs, loaded, strict=True)), prices, wanted, page, as_json)
    return _cells(loaded[0], loaded[1], delta, page, as_json)


def _cells(a: Run, b: Run, delta: float, page: Path | None, as_json: bool) -> int:
    """Two runs, cell by cell."""
    from wulf.measure.comparing import compare_runs
    from wulf.report.compare.runs import print_comparison, rows_of

    found = compare_runs(a, b, delta=delta)
    if as_json:
        for row in rows_of(found):
            echo(json.dumps(row))
    else:
        print_comparison(found, colour_console())
    if page is not None:
        from wulf.report.compare.runs_page import write_comparison

        write_comparison(found, page)
        echo(f"comparison: {page}", err=as_json)
    return found.exit_code


def _machines(
    runs: dict[str, Run], prices: tuple[str, ...], wanted: tuple[str, ...], page: Path | None, as_json: bool
) -> int:
    """Nodes of any number of runs, side by side."""
    from wulf.measure.node.machines import machines_of, read_prices
    from wulf.report.kit.page import write_view
    from wulf.report.kit.terminal import print_view
    from wulf.report.node.comparison import machines_view, titles
    from wulf.report.node.machines import beside, json_rows

    these = beside(machines_of(runs, read_prices(prices)), titles(), wanted)
    if not these.rows:
        raise UsageError(
            f"{', '.join(wanted) or 'a row'}: no machine of {', '.join(runs)} has a time of that",
            "`wulf node --list` names the rows, and `wulf node` measures them",
        )
    view = machines_view(these, curves=not wanted)
    if as_json:
        for row in json_rows(these):
            echo(json.dumps(row))
    else:
        print_view(view, colour_console())
    if page is not None:
        write_view(view, page, "the runs are kept, `wulf compare --machines` writes the page again")
        echo(f"comparison: {page}", err=as_json)
    return OK
