"""`wulf mpi`: one command a probe of wulf-mpi, with the options that its --describe names, and whole sets of nodes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import Command, TableGroup
from wulf.cli.mpi.options import given_params, launch_options, mpi_inventory, over_ranks, probe_options
from wulf.cli.options import measure_options, node_options, nodes_argument
from wulf.cli.studying import show_run, studied
from wulf.measure.mpi.probes import BLOCKS, SHARED, mpi_probe
from wulf.measure.tools import mpi_loops, mpi_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.measure.engine.probes import Pattern
    from wulf.workflow.engine.study import Conditions, Study
    from wulf.workflow.mpi.launching import Launch

LISTED = ("mpi", "Measure", 50, "MPI between ranks, built with yours: messages, collectives.")

COMMANDS = {
    "list": "wulf.cli.mpi.list:listing",
    "install": "wulf.cli.mpi.list:install",
    "sweep": "wulf.cli.mpi.whole:sweep",
    "curve": "wulf.cli.mpi.whole:curve",
    "collectives": "wulf.cli.mpi.whole:collectives",
    "onesided": "wulf.cli.mpi.whole:onesided",
    "farm": "wulf.cli.mpi.farm:farm",
    "graph": "wulf.cli.mpi.graph:graph",
}
"""Name → module and attribute: what is no single probe. One of a probe's name stands in its place."""


class MpiGroup(TableGroup):
    """The probes of wulf-mpi as commands, and the commands over many nodes and sizes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """What there is on the nodes first, then the probes as they describe themselves."""
        return list(dict.fromkeys([*super().list_commands(ctx), *mpi_probe().patterns]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, made of the probe's description where it is a probe; or None."""
        if cmd_name in COMMANDS:
            return super().get_command(ctx, cmd_name)
        probe = mpi_probe()
        return _probe_command(probe.patterns[cmd_name]) if cmd_name in probe.patterns else None


def _probe_command(pattern: Pattern) -> click.Command:
    @nodes_argument
    @node_options
    @launch_options
    @measure_options
    def run(**options: Any) -> int:
        params = given_params(pattern, options)
        like = options.pop("like", None)
        if like is not None:
            return _like(like, pattern, params, options)
        checked = mpi_probe().check(pattern.name, "", params)
        if pattern.name == "pairs":
            from wulf.workflow.mpi.whole import Pairs

            return measured("pairs", options, partial(Pairs, params=checked), usual=SHARED)
        from wulf.workflow.mpi.probes import RanksProbe

        return measured(pattern.name, options, partial(RanksProbe, name=pattern.name, params=checked), whole=False)

    run.__doc__ = pattern.help
    if pattern.name == "pairs":
        run.__doc__ += (
            "\n\nOne launch serves all pairs, and no conversation by ssh is needed for each, as `wulf net pairs` needs."
        )
    where = "n1 n2" if pattern.group in ("p2p", "onesided") else "'n[1-4]'"
    command = click.command(pattern.name, cls=Command, epilog=f"Example: wulf mpi {pattern.name} {where}")(run)
    command.params.extend(probe_options(pattern))
    if any(loop.pattern == pattern.name for loop in mpi_loops()):
        text = "Repeat that tool's loop, for its own time unless given, and print its summary."
        command.params.append(click.Option(["--as", "like"], type=click.Choice(mpi_tools()), help=text))
    return command


def _like(tool: str, pattern: Pattern, params: dict[str, Any], options: dict[str, Any]) -> int:
    """Between two ranks as another tool measures it; the user's size is the largest of its sizes."""
    from wulf.cli.net.like import run_like
    from wulf.workflow.mpi.probes import Ranks

    # launched once, as that tool does
    ranks = over_ranks(options, lambda given, launch: Ranks(launch, given.watch.say), SHARED)
    return run_like(
        tool, pattern.name, mpi_probe(), mpi_inventory, params,
        transport=None, most=params.pop("bytes", 0), client="", server="", options=options, ranks=ranks,
    )  # fmt: skip


def measured(
    name: str,
    options: dict[str, Any],
    study: Callable[[Conditions, Launch], Study],
    *,
    whole: bool = True,
    usual: str = BLOCKS,
) -> int:
    """Measure over the nodes that the options name; print, and keep as a run.

    Parameters
    ----------
    study
        What to measure, once it is known how ranks are launched.
    whole
        Print the report, rather than the records alone.
    usual
        As `taken` has it.
    """
    make, as_json = over_ranks(options, study, usual), options.pop("as_json")
    return show_run(studied(f"mpi-{name}", options, make, where=mpi_inventory), as_json=as_json, whole=whole)


@click.group(cls=MpiGroup, commands_at=COMMANDS)
def command() -> None:
    """Measure MPI between ranks: `wulf mpi pingpong n1 n2 --bytes 1`.

    wulf-mpi is built once with the MPI found on the nodes, and launched by its mpirun, or by srun. NODESET in
    ClusterShell syntax; none: two ranks on this machine. The ranks are started anew for every block of replicates, so
    that intervals hold what changes from launch to launch; `--launch shared`, and --quick, starts them once.
    """
