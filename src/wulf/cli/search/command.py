"""`wulf search`: the fastest configuration of HPL, or of a program of the user's own."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command, TableGroup, rare_option
from wulf.cli.model.cost import Peak
from wulf.cli.mpi.options import mpi_inventory, rank_options, taken
from wulf.cli.options import (
    NumberIn,
    Percent,
    Seconds,
    keep_resumed,
    measuring,
    named_run,
    node_options,
    nodes_argument,
    terminable,
)
from wulf.cli.showing import echo, show_outcome
from wulf.core.errors import OK, UsageError

if TYPE_CHECKING:
    from wulf.cluster.access import Access
    from wulf.cluster.mpi import WorldSpec
    from wulf.measure.engine.watcher import Watcher
    from wulf.search.plan import SearchPlan
    from wulf.store.run import RunWriter
    from wulf.workflow.search.own import Effort
    from wulf.workflow.search.run import Around, Knobs, Prepare, Searched

LISTED = ("search", "Tune", 20, "The fastest configuration of HPL, or of a program of your own.")

COMMANDS = {
    "hpl": "wulf.cli.search.hpl:hpl",
    "own": "wulf.cli.search.command:own",
    "resume": "wulf.cli.runs.resume:command",
}
"""Name → module and attribute. Whatever is none of them is a file of the user's own."""

THOROUGH, QUICK = (24, 24, 12), (27, 9, 3)
"""Configurations at N/4, N/2 and N."""

REPEATS, QUICK_REPEATS = 3, 0
"""Further runs at N."""


class SearchGroup(TableGroup):
    """Commands by name; a file is `own`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`wulf search my.toml n[1-4]` is `wulf search own my.toml n[1-4]`."""
        if args and args[0].endswith(".toml"):
            args = ["own", *args]
        return super().parse_args(ctx, args)


@click.group(cls=SearchGroup, commands_at=COMMANDS)
def command() -> None:
    """Find the fastest configuration of a program, by running it; and say how sure that is.

    \b
    Examples:
      wulf search hpl 'n[1-4]' --per-node 8 --hours 4     the best HPL.dat for these nodes
      wulf search my.toml n1                              a program of your own: docs/how-to/search.md
      wulf search resume last                             go on where a search was cut short

    Many configurations run small, those that look best run larger, a few in full; the winner is then run against what
    there is, side by side on fresh runs. A run that hangs, fails or gives a wrong answer is never the fastest.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


def search_options(function: Any) -> Any:
    """How thoroughly to search, and where the run goes."""
    for option in (
        click.option(
            "--resume", type=click.Path(path_type=Path), expose_value=False, callback=keep_resumed, hidden=True
        ),
        click.option("--json", "as_json", is_flag=True, help="The outcome as one JSON object."),
        rare_option("--seed", type=click.IntRange(min=0), help="Of all that is drawn [drawn, and recorded]."),
        click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>]."),
        click.option("--quick", is_flag=True, help="Fewer configurations: 27, 9 and 3 instead of 24, 24 and 12."),
        rare_option("--delta", type=Percent(), default="1%", show_default=True, help="What counts as no difference."),
        click.option(
            "--blocks", type=click.IntRange(min=6), default=6, show_default=True,
            help="Fresh runs of winner and default, side by side.",
        ),
        rare_option("--timeout", type=Seconds(), help="Of one run: 60s, 5m [as the program's driver or file says]."),
        click.option("--budget", type=Seconds(), help="Seconds of runs in all: 30m, 4h [as many as it takes]."),
        click.option("--price", type=NumberIn(min=0, min_open=True), help="Of the machine: the path has $/GFLOPS."),
        rare_option("--currency", default="$", show_default=True, help="What stands before a price."),
        click.option(
            "--peak", "peaks", type=Peak(), multiple=True, metavar="[NAME=]GFLOPS",
            help="Of the machine, in all: the path has shares of it.",
        ),
        rare_option("--peak-from", metavar="RUN", help="A run of `wulf node`: these nodes' measured peaks."),
        rank_options,
        node_options,
        nodes_argument,
    ):  # fmt: skip
        function = option(function)
    return function


@click.command(cls=Command, epilog="Example: wulf search own my.toml n1 --budget 1h")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--apply", is_flag=True, help="With [settings] in FILE: change them [show what would be].")
@search_options
def own(file: Path, *, apply: bool, **options: Any) -> int:
    """Search the parameters of a program of your own: FILE names its command, figure and values to try.

    With [build] in it the program is first built with every MPI, compiler and BLAS that its commands have a place for:
    these are searched over as well. Settings of the nodes that it names are changed for a run, as `wulf tune` does, and
    taken back after it.
    """
    from dataclasses import replace

    from wulf.search.own import read_own
    from wulf.tune.catalogue import catalogue
    from wulf.workflow.search.own import own_task

    found = read_own(file, catalogue())
    if found.recipe is not None and options["mpi"] is not None:
        found = replace(found, recipe=found.recipe.only(options["mpi"]))
    if options["timeout"] is not None:
        found = replace(found, timeout=options["timeout"])
    if found.ranks is None and any(options[name] is not None for name in ("ranks", "per_node", "mpi")):
        raise UsageError("--ranks, --per-node and --mpi are of MPI programs", f"write ranks = … into {file}")
    if found.ranks is not None and options["ranks"] is None:
        options["ranks"] = found.ranks
    changes = Changes(found.settings, found.command, apply)
    return searched("own", options, lambda effort, spec: own_task(found, effort, spec), changes, found.unit)


@dataclass(frozen=True)
class Changes:
    """Settings of nodes that a search varies.

    Attributes
    ----------
    settings
        Name → values, what is there first.
    command
        What the search's runs start.
    apply
        False: the plan is shown, and nothing is changed or run.
    """

    settings: Mapping[str, tuple[Any, ...]]
    command: tuple[str, ...]
    apply: bool


def _show_plan(changes: Changes, options: dict[str, Any]) -> int:
    """What a search would change on the nodes."""
    from wulf.cli.progress import progress_line
    from wulf.workflow.search.settings import plan_of_settings

    taken(options)
    as_json = options.pop("as_json")
    for name in ("out", "seed", "quick", "delta", "blocks", "timeout", "budget", *MACHINE):
        options.pop(name)
    with mpi_inventory(options) as inventory, progress_line() as line, terminable():
        plan = plan_of_settings(inventory, changes.settings, changes.command, watch=line)
    if as_json:
        echo(json.dumps(plan))
        return OK
    for one in plan["settings"]:
        echo(f"{one['name']}: now {', '.join(one['now']) or 'not known'}; tried: {', '.join(one['tried'])}")
    for risk in plan["risks"]:
        echo(risk)
    echo("Nothing was changed: --apply searches.")
    return OK


MACHINE = ("price", "currency", "peaks", "peak_from")
"""Options of what the machine is worth."""


def searched(name: str, options: dict[str, Any], prepare: Any, changes: Changes, unit: str = "flop/s") -> int:
    """Search over the nodes that the options name; print, and keep as a run.

    Parameters
    ----------
    prepare
        Given the effort and the ranks, what `run_search` prepares.
    changes
        Settings of nodes among what is searched: without `apply` they are shown, and nothing is run.
    unit
        Of the figure.
    """
    from wulf.workflow.search.run import run_search
    from wulf.workflow.search.worth import machine_object

    if changes.settings and not changes.apply:
        return _show_plan(changes, options)
    launch = taken(options)
    as_json, out = options.pop("as_json"), options.pop("out")
    options.pop("timeout")
    seed = options.pop("seed")
    price, currency, peaks, peak_from = (options.pop(name) for name in MACHINE)
    measured = None if peak_from is None else named_run(peak_from, None)
    effort = _effort(options, secrets.randbelow(2**31) if seed is None else seed)
    with mpi_inventory(options) as inventory:
        nodes = [node.name for node in inventory.nodes]
        spec: WorldSpec = launch(len(nodes)).spec
        machine = machine_object(
            unit, price, currency, peaks, None if measured is None else (measured, nodes), places=name == "hpl",
            seed=effort.seed,
        )  # fmt: skip
        made: Prepare = prepare(effort, spec)
        with measuring(f"search-{name}", out, effort.seed, argv=sys.argv[1:], nodes=nodes) as (writer, _, line):
            around = _around(changes, writer, line)
            done = run_search(inventory, made, spec, writer, around=around, machine=machine, watch=line)
            path = writer.path
    return _show(done, path, as_json=as_json)


def _around(changes: Changes, writer: RunWriter, watch: Watcher) -> Around | None:
    """What changes nodes for a trial, where anything is to be changed."""
    if not changes.settings:
        return None
    from wulf.workflow.search.settings import open_knobs

    def around(access: Access, plan: SearchPlan, resumed: bool) -> AbstractContextManager[Knobs]:
        return open_knobs(access, plan.space, changes.command, writer, resumed=resumed, watch=watch)

    return around


def _effort(options: dict[str, Any], seed: int) -> Effort:
    from wulf.workflow.search.own import Effort

    quick = options.pop("quick")
    return Effort(
        seed, budget=options.pop("budget"), blocks=options.pop("blocks"), delta=options.pop("delta"),
        rungs=QUICK if quick else THOROUGH, repeats=QUICK_REPEATS if quick else REPEATS,
    )  # fmt: skip


def _show(done: Searched, run: Path, *, as_json: bool) -> int:
    from wulf.report.search.outcome import OUTCOME

    show_outcome(OUTCOME, done.result, run / "report.html", as_json=as_json)
    return done.exit_code
