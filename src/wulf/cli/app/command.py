"""`wulf app`: applications as drivers know them, one command each, any command, and which of them the nodes have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wulf.apps import drivers
from wulf.cli.commands import Command, TableGroup
from wulf.cli.mpi.options import mpi_inventory, over_ranks, rank_options
from wulf.cli.options import Seconds, measure_options, node_options, nodes_argument
from wulf.cli.params import param_options
from wulf.cli.studying import show_run, studied

if TYPE_CHECKING:
    from wulf.apps.driver import Driver
    from wulf.cluster.mpi import WorldSpec
    from wulf.workflow.app.run import AppRequest
    from wulf.workflow.engine.study import Conditions, Study

LISTED = ("app", "Measure", 60, "HPL, STREAM, LAMMPS, any command: repeated, checked, judged.")

F = TypeVar("F", bound=Callable[..., Any])

COMMANDS = {
    "blas": "wulf.cli.app.blas:blas",
    "hpl": "wulf.cli.app.hpl:hpl",
    "hpcc": "wulf.cli.app.hpl:hpcc",
    "list": "wulf.cli.app.list:listing",
    "run": "wulf.cli.app.run:run",
    "linpack": "wulf.cli.app.linpack:linpack",
}
"""Name → module and attribute: what is no driver's. One of a driver's name stands in its place."""


class AppGroup(TableGroup):
    """The drivers as commands, each made from its parameters, and the commands of the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """What there is on the nodes first, then the drivers."""
        return list(dict.fromkeys([*super().list_commands(ctx), *drivers()]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported or made when it is asked for; or None."""
        found = super().get_command(ctx, cmd_name)
        return driver_command(drivers()[cmd_name]) if found is None and cmd_name in drivers() else found


def run_options(function: F) -> F:
    """How an application is run: over which nodes and ranks, how often, for how long."""
    for option in (
        click.option("--timeout", type=Seconds(), help="Of one run: 60s, 5m [10m, or as its driver says]."),
        click.option("--runs", type=click.IntRange(min=1), help="So many [until the interval is narrow enough]."),
        rank_options,
        measure_options,
        node_options,
        nodes_argument,
    ):  # fmt: skip
        function = option(function)
    return function


def driver_command(driver: Driver) -> click.Command:
    """The command of one driver: an option for each of its parameters."""

    @run_options
    @click.option("--program", metavar="PATH", help="Of the program on the nodes [the one found].")
    def run(program: str | None, **options: Any) -> int:
        from wulf.cluster.mpi import WorldSpec
        from wulf.workflow.app.run import driver_request

        given = {spec.name: options.pop(names[spec.name]) for spec in driver.PARAMS}
        params = {name: value for name, value in given.items() if value is not None}
        # what is wrong is refused before there is a run
        request = driver_request(driver, params, WorldSpec(), program=program, timeout=options.pop("timeout"))

        return measured_application(request, options)

    run.__doc__ = f"{driver.HELP}\n\nLooked for: {', '.join(driver.PROGRAMS) or 'nothing'}."
    command = click.command(driver.NAME, cls=Command, epilog=f"Example: wulf app {driver.NAME} n[1-4] --runs 8")(run)
    names = option_names(driver, {param.name for param in command.params if param.name})
    command.params.extend(param_options(driver.PARAMS, names))
    return command


def option_names(driver: Driver, taken: set[str]) -> dict[str, str]:
    """Parameter → its option's name: its own, or `phyml_seed` where all commands have such an option."""
    own = driver.NAME.replace("-", "_")
    return {spec.name: f"{own}_{spec.name}" if spec.name in taken else spec.name for spec in driver.PARAMS}


def measured_application(request: AppRequest, options: dict[str, Any]) -> int:
    """Run an application over the nodes that the options name, as many ranks as they come to; print and keep it."""
    from wulf.workflow.app.run import AppStudy

    def study(given: Conditions, spec: WorldSpec) -> AppStudy:
        return AppStudy(given, replace(request, spec=spec))

    return measured(request.name, options, study)


def measured(name: str, options: dict[str, Any], study: Callable[[Conditions, WorldSpec], Study]) -> int:
    """Run over the nodes that the options name; print, and keep as a run.

    Parameters
    ----------
    study
        What to run, once it is known over how many ranks.
    """
    as_json = options.pop("as_json")
    make = over_ranks(options, lambda given, launch: study(given, launch.spec))
    return show_run(studied(f"app-{name}", options, make, where=mpi_inventory), as_json=as_json)


@click.group(cls=AppGroup, commands_at=COMMANDS)
def command() -> None:
    """Run applications, and know how fast they are: `wulf app stream 'n[1-4]'`.

    \b
    Examples:
      wulf app list 'n[1-4]'                 which of them the nodes have, where
      wulf app run n1 n2 --ranks 8 -- solve  any command, by its wall time
      wulf app phyml n1 n2 --ranks 4         drivers know files, figure and check

    Every run is judged: one that hangs, fails, or gives a wrong answer has no figure, and says why.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped
