"""`wulf sentry run`, `once` and `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command
from wulf.cli.options import Seconds, inventory_of, node_options
from wulf.cli.sentry.where import state_option, state_path
from wulf.cli.showing import echo
from wulf.core.errors import FOUND, OK, UsageError

if TYPE_CHECKING:
    from wulf.cluster.inventory import Inventory
    from wulf.sentry.plan import SentryPlan
    from wulf.workflow.sentry.run import Given


def _given(path: Path, where: Path | None, options: dict[str, Any]) -> Given:
    """A plan's watch: its nodes, and how they are reached."""
    from wulf.sentry.plan import read_plan
    from wulf.workflow.sentry.run import Given

    plan = read_plan(path)
    inventory = _inventory(plan, options)
    return Given(state_path(where), plan, inventory, _way(inventory, options), lambda text: echo(text, err=True))


def _inventory(plan: SentryPlan, options: dict[str, Any]) -> Inventory:
    """The nodes of the options, else of the plan."""
    from wulf.workflow.engine.nodes import nodes_meant

    named = {**options, "nodes": options["nodes"] or plan.nodes or None}
    if plan.idle.by == "slurm":
        if options["lab"] is not None or options["launcher"] not in (None, "slurm"):
            raise UsageError("the plan's nodes are taken as jobs of Slurm", "leave --lab and --launcher out")
        if named["nodes"] is None and options["inventory_file"] is None:
            raise UsageError("the plan names no nodes", 'write nodes = "n[1-64]" into it, or give --nodes')
        return nodes_meant(named["nodes"], options["inventory_file"], options["hostfile"])
    if options["launcher"] == "slurm":
        raise UsageError("--launcher slurm is the plan's to say", 'write [idle] by = "slurm" into it')
    with inventory_of(**named, lab_made=False) as chosen:
        return chosen


def _way(inventory: Inventory, options: dict[str, Any]) -> list[str]:
    """Options for the plan's commands, as these were given here."""
    if inventory.lab:
        return ["--lab", inventory.lab]
    paths = {"--inventory": "inventory_file", "--hostfile": "hostfile", "--ssh-config": "ssh_config"}
    way = [word for name, key in paths.items() if options[key] for word in (name, str(options[key].absolute()))]
    if options["network"]:
        way += ["--network", options["network"]]
    launcher = options["launcher"] or ("local" if inventory.launcher == "local" else None)
    return [*way, "--launcher", launcher] if launcher and launcher != "slurm" else way


@click.command(
    cls=Command,
    short_help="Watch until it is ended: a service.",
    epilog="Example: wulf sentry run sentry.toml --nodes 'n[1-64]'",
)
@click.argument("plan", type=click.Path(path_type=Path))
@state_option
@node_options
def run(plan: Path, where: Path | None, **options: Any) -> int:
    """Watch until SIGTERM or Ctrl-C: for a service of systemd's.

    What happens is said on stderr. Killed at any moment, it goes on where it was: nothing measured is lost.
    """
    from wulf.workflow.sentry.run import stay

    stay(_given(plan, where, options))
    return OK


@click.command(
    cls=Command,
    short_help="One round, for cron or after a repair.",
    epilog="Example: wulf sentry once sentry.toml --for 10m",
)
@click.argument("plan", type=click.Path(path_type=Path))
@state_option
@click.option("--for", "seconds", type=Seconds(), default="10m", show_default=True, help="Begin nothing after so long.")
@click.option("--now", "anew", is_flag=True, help="Whenever it last was measured: after a repair, say.")
@node_options
def once(plan: Path, where: Path | None, seconds: float, anew: bool, **options: Any) -> int:
    """One round, for cron: measure what is to be measured now, tell what changed, and end.

    Exit code 1: something is worse, and its incident open.
    """
    from wulf.sentry.state import SentryState, in_state
    from wulf.workflow.sentry.run import once as one_round

    given = _given(plan, where, options)
    one_round(given, seconds, anew=anew)
    found = in_state(given.state, lambda state: SentryState.incidents(state, open_only=True))
    return FOUND if any(one.what.severity == "bad" for one in found) else OK


@click.command(
    cls=Command,
    short_help="A plan to start from; what a plan costs a day.",
    epilog="Example: wulf sentry plan > sentry.toml; wulf sentry plan sentry.toml",
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@state_option
@node_options
def plan(file: Path | None, where: Path | None, **options: Any) -> int:
    """Print a plan to start from; or check one, and say what it costs a day.

    What a measure takes is the plan's own guess, until the sentry has measured it.
    """
    from importlib.resources import files

    if file is None:
        if any(value is not None for value in (where, *options.values())):
            raise UsageError("these options say whose cost a plan has, and none is named", "give the plan's FILE")
        echo(files("wulf.sentry").joinpath("example.toml").read_text(encoding="utf-8"), nl=False)
        return OK
    from wulf.report.sentry.words import plan_lines
    from wulf.sentry.state import SentryState
    from wulf.workflow.sentry.watch import usual_seconds

    given = _given(file, where, options)
    seconds: dict[str, float] = {}
    if given.state.is_file():
        with SentryState(given.state, read_only=True) as state:
            seconds = usual_seconds(state, given.plan)
    for line in plan_lines(given.plan, len(given.inventory.names), seconds):
        echo(line)
    return OK
