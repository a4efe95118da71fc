"""`wulf design`: nodes, how many of them, and the network between them that do the most of your work for a sum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.model.command import Gain
from wulf.cli.options import NumberIn, named_run, runs_option
from wulf.cli.runs.history import Setting
from wulf.cli.showing import echo, show_view
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.model.design.frontier import Choice
    from wulf.workflow.model.design.asked import Asked

LISTED = ("design", "Plan", 40, "Which nodes, how many, which network: most work for a sum.")

SUM = NumberIn(min=0, min_open=True, max=1e15)


@click.command(
    cls=Command,
    epilog="Examples: wulf design parts.toml --budget 20000 --for times.csv; wulf design --budget 20000 --for my-run; "
    "wulf design parts.toml --budget 20000 --for trace-4 --for trace-8 --for trace-16 --html design.html. "
    "docs/how-to/design.md says what the TOML holds.",
)
@click.argument("candidates", type=click.Path(path_type=Path), default=Path("design.toml"), metavar="[CANDIDATES]")
@click.option("--budget", type=SUM, required=True, help="The sum.")
@click.option(
    "--for", "sources", multiple=True, metavar="WORK", shell_complete=offers.runs,
    help="How long your program takes: a CSV `workers,seconds`, a JSON of `wulf model speedup`, a run with times over "
    "workers, or a trace [what the candidates' file says]. Traces of three numbers of ranks: each an option.",
)  # fmt: skip
@runs_option
@click.option("--metric", help="Which metric of the run [seconds].")
@click.option("--param", "params", type=Setting(), multiple=True, metavar="NAME=VALUE", help="Which cells: batch=1.")
@click.option("--more", type=SUM, default=1000.0, show_default=True, help="What else could be spent.")
@click.option("--owned", is_flag=True, help="The sum pays for the years of running, too.")
@click.option("--gain", type=Gain(), help="Also what tuning that makes your program so much faster is worth: 9.2%.")
@click.option("--beyond", is_flag=True, help="Also more nodes than twice those measured, which no data support.")
@click.option(
    "--draws", type=click.IntRange(39, 10_000), default=39, show_default=True,
    help="Of each network's figures, where a trace is replayed.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the intervals' draws.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with the plot.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    candidates: Path,
    budget: float,
    sources: tuple[str, ...],
    directory: Path | None,
    metric: str | None,
    params: tuple[tuple[str, str], ...],
    more: float,
    owned: bool,
    gain: float | None,
    beyond: bool,
    draws: int,
    seed: int,
    html: Path | None,
    as_json: bool,
) -> int:
    """Which cluster does the most of your work for the money: how many of which nodes, and which network.

    CANDIDATES is a TOML of nodes and networks with their prices, of switches and racks, of labour and power. Your work
    is times over workers, or traces that are replayed on every network. What comes out is the fastest design for the
    sum, the frontier of cost against time, what the next 1,000 buys, and which designs can't be told apart.
    """
    from wulf.model.design.frontier import choose, worth_of
    from wulf.report.model.design import Plan, design_object, design_view
    from wulf.workflow.model.design.asked import Asked
    from wulf.workflow.model.design.file import read_candidates
    from wulf.workflow.model.design.timings import timed_pairs

    given = read_candidates(candidates)
    if owned and given.running is None:
        raise UsageError(f"--owned asks for the years of running, and {candidates} has no [running]", "write it there")
    asked = Asked(candidates, sources, directory, metric, dict(params), draws, seed)
    timed = timed_pairs(given, asked, lambda name: named_run(name, directory), lambda text: echo(text, err=True))
    choice = choose(timed.pairs, given.site, budget, more=more, owned=owned, beyond=beyond)
    if choice.best is None:
        raise _nothing(choice, asked, given.currency)
    worth = None if gain is None else worth_of(choice.best, gain, given.site, owned=owned)
    plan = Plan(
        choice, choice.best, timed.pairs, given.site, timed.source, given.currency, more, owned, worth, timed.notes
    )
    whole = None if html is None else design_view(plan, whole=True)
    show_view(design_view(plan), design_object(plan), as_json=as_json, html=html, page=whole)
    return OK


def _nothing(choice: Choice, asked: Asked, currency: str) -> UsageError:
    """That the sum pays for none."""
    least = choice.cheapest
    if least is None:
        return UsageError("no number of nodes has the workers that the times are of", f"see workers in {asked.path}")
    what = f"{least.nodes:,} × {least.pair.node.name}"
    return UsageError(
        f"no design costs as little as {currency}{choice.budget:,.6g}",
        f"the cheapest, {what}, costs {currency}{least.cost:,.6g}",
    )
