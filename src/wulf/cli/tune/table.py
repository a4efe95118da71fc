"""`wulf tune import`: a table of a tuning experiment that somebody entered by hand, analysed."""

from __future__ import annotations

from pathlib import Path

import click

from wulf.cli.commands import Command
from wulf.cli.options import Percent
from wulf.cli.showing import show_view


@click.command(
    "import",
    cls=Command,
    epilog="Example: wulf tune import table3.csv --unit us. The CSV's columns: one a setting (off or on, or its level; "
    "the first line's is the baseline's), or `arm` (none, a, a + b); and `value`, a measurement a line, or "
    "mean,sd,n, an arm a line; `block` and `order` if you like.",
)
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--unit", default="s", show_default=True, help="Of the figures: us, Gbit/s, …")
@click.option("--better", type=click.Choice(["higher", "lower"]), default="lower", show_default=True)
@click.option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page.")
def import_table(table: Path, unit: str, better: str, delta: float, as_json: bool, html: Path | None) -> None:
    """Analyse a table of settings and what was measured with them, as papers print it.

    Each setting's effect with its interval where deviations and numbers allow one, what settings do together against
    what each does alone, and what such an experiment can't tell. Nothing is measured, and no node is touched.
    """
    from wulf.report.tune.table import table_object, table_view
    from wulf.tune.table.effects import analysed
    from wulf.workflow.tune.table import from_csv

    given = from_csv(table, unit, lower_is_better=better == "lower")
    result = table_object(given, analysed(given, delta))
    show_view(table_view(result), result, as_json=as_json, html=html)
