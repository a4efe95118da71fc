"""`wulf compare`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from wulf.cli.options import Percent, colour_console


@click.command(epilog="Example: wulf compare monday friday --html change.html")
@click.argument("run_a")
@click.argument("run_b")
@click.option("--in", "directory", type=click.Path(path_type=Path), help="Directory of runs [./runs, or $WULF_RUNS].")
@click.option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference.")
@click.option("--unlike", is_flag=True, help="Compare runs whose nodes differ in facts, and say in which.")
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write the comparison as one HTML file, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a cell.")
def command(
    run_a: str, run_b: str, directory: Path | None, delta: float, unlike: bool, page: Path | None, as_json: bool
) -> int:
    """Compare two runs cell by cell: what got faster, slower, stayed the same, or can't be told.

    Runs are named as by `wulf report`: a path, an identifier, its beginning, or `last`. Exit code 1 when something
    got slower.
    """
    from wulf.measure.comparing import compare_runs
    from wulf.report.comparison import print_comparison, rows_of
    from wulf.store.run import find_run
    from wulf.workflow.recover import load

    runs = [load(find_run(name, directory)) for name in (run_a, run_b)]
    found = compare_runs(runs[0], runs[1], delta=delta, unlike=unlike)
    if as_json:
        for row in rows_of(found):
            click.echo(json.dumps(row))
    else:
        print_comparison(found, colour_console())
    if page is not None:
        from wulf.report.comparison_page import write_comparison

        write_comparison(found, page)
        click.echo(f"comparison: {page}", err=as_json)
    return found.exit_code
