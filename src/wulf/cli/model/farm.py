"""`wulf model farm`: what a table of workers and batches says of a master and its workers, or two tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import named_run, runs_option
from wulf.cli.showing import show_view
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.report.model.farm import Farm
    from wulf.workflow.model.farm import FarmTable

MOST_FARMS = 2


@click.command(
    cls=Command,
    epilog="Examples: wulf model farm farm.csv --units 1000000; wulf model farm gbe.csv infiniband.csv; wulf model "
    "farm last. The CSV's columns: workers,batch and one of seconds, units/s, messages/s; units (of each run: seconds "
    "need it, or --units) and replicate if you like; `serial` in the place of workers is a run of the serial program.",
)
@click.argument("farms", nargs=-1, shell_complete=offers.runs, metavar="[TABLE|RUN]...")
@runs_option
@click.option("--units", type=click.IntRange(1, 2**53), help="Of each run, where the table has no column of it.")
@click.option("--pelikan", is_flag=True, help="The table of 2007, beside what its report printed.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws behind intervals.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with plots.")
def farm(
    farms: tuple[str, ...],
    directory: Path | None,
    units: int | None,
    pelikan: bool,
    seed: int,
    as_json: bool,
    html: Path | None,
) -> int:
    """What a message costs master and worker, how many workers saturate the master, and the smallest useful unit.

    Of times over workers and batches: your own table, or a run of `wulf mpi farm`. Two of them, as of two networks,
    stand beside each other with ratios. Says which forms can't be told apart; docs/how-to/farm.md says what they are.
    """
    from wulf.report.model.farm import farm_object, farm_view, pair_object, pair_view
    from wulf.workflow.model.farm import of_2007

    if not 1 <= len(farms) + pelikan <= MOST_FARMS:
        raise UsageError(f"one farm is studied, or two, and {len(farms) + pelikan} were named", "name a CSV or a run")
    tables = [_table(name, directory, units) for name in farms]
    studied = [_studied(table, seed) for table in [*tables, *([of_2007()] if pelikan else [])]]
    if len(studied) == 1:
        show_view(farm_view(studied[0]), farm_object(studied[0]), as_json=as_json, html=html)
    else:
        show_view(pair_view(*studied), pair_object(*studied), as_json=as_json, html=html)
    return OK


def _table(name: str, directory: Path | None, units: int | None) -> FarmTable:
    """A file of this name, or a run."""
    from wulf.workflow.model.farm import from_csv, from_run

    path = Path(name)
    if path.suffix == ".csv" or path.is_file():
        return from_csv(path, units)
    if units is not None:
        raise UsageError("--units is of a table without that column, and a run knows its units", "leave it out")
    return from_run(named_run(name, directory))


def _studied(table: FarmTable, seed: int) -> Farm:
    from wulf.model.farm.pelikan import published
    from wulf.model.farm.study import farm_study, speedups
    from wulf.report.model.farm import Farm

    study = farm_study(table.points, seed)
    assert study is not None  # noqa: S101 - every table has a cell with a worker
    theirs = published() if table.of_2007 else None
    return Farm(table.source, study, speedups(table.points, seed)[0], table.rates, theirs)
