"""`wulf mpi`: one command a probe of wulf-mpi, with the options that its --describe names, and whole sets of nodes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import TableGroup
from wulf.cli.mpi.options import given_params, launch_options, mpi_inventory, probe_options, taken
from wulf.cli.options import colour_console, echo_records, measure_options, measuring, node_options
from wulf.measure.mpi.probes import BLOCKS, SHARED, mpi_probe
from wulf.measure.tools import mpi_loops, mpi_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.measure.engine.probes import Pattern
    from wulf.workflow.engine.measuring import Outcome

COMMANDS = {
    "list": "wulf.cli.mpi.list:listing",
    "install": "wulf.cli.mpi.list:install",
    "sweep": "wulf.cli.mpi.whole:sweep",
    "collectives": "wulf.cli.mpi.whole:collectives",
    "onesided": "wulf.cli.mpi.whole:onesided",
    "farm": "wulf.cli.mpi.farm:farm",
}
"""Name → module and attribute: what is no single probe. One of a probe's name stands in its place."""


class MpiGroup(TableGroup):
    """The probes of wulf-mpi as commands, and the commands over many nodes and sizes."""

    commands_at = COMMANDS

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
    @click.argument("nodes_given", metavar="[NODESET]...", nargs=-1)
    @node_options
    @launch_options
    @measure_options
    def run(**options: Any) -> int:
        params = given_params(pattern, options)
        like = options.pop("like", None)
        if like is not None:
            return _like(like, pattern, params, options)
        if pattern.name == "pairs":
            return measured("pairs", options, _pairs(params), usual=SHARED)
        return measured(pattern.name, options, _single(pattern, params), whole=False)

    run.__doc__ = pattern.help
    if pattern.name == "pairs":
        run.__doc__ += (
            "\n\nOne launch serves all pairs, and no conversation by ssh is needed for each, as `wulf net pairs` needs."
        )
    where = "n1 n2" if pattern.group in ("p2p", "onesided") else "'n[1-4]'"
    command = click.command(pattern.name, epilog=f"Example: wulf mpi {pattern.name} {where}")(run)
    command.params.extend(probe_options(pattern))
    if any(loop.pattern == pattern.name for loop in mpi_loops()):
        text = "Repeat that tool's loop, for its own time unless given, and print its summary."
        command.params.append(click.Option(["--as", "like"], type=click.Choice(mpi_tools()), help=text))
    return command


def _like(tool: str, pattern: Pattern, params: dict[str, Any], options: dict[str, Any]) -> int:
    """Between two ranks as another tool measures it; the user's size is the largest of its sizes."""
    from wulf.cli.net.like import run_like
    from wulf.workflow.mpi.probes import Ranks

    launch = taken(options, SHARED)  # as that tool does
    measuring_options = {name: options.pop(name) for name in ("as_json", "out", "quick", "watch", "seed")}
    measuring_options |= {name: options.pop(name) for name in ("width", "budget")}
    return run_like(
        tool, pattern.name, mpi_probe(), mpi_inventory(options), params,
        transport=None, most=params.pop("bytes", 0), client="", server="", options=measuring_options,
        ranks=lambda inventory, say: Ranks(inventory, launch(len(inventory.nodes)), say),
    )  # fmt: skip


def _single(pattern: Pattern, params: dict[str, Any]) -> Callable[..., Outcome]:
    from functools import partial

    from wulf.workflow.mpi.probes import single

    return partial(single, name=pattern.name, params=mpi_probe().check(pattern.name, "", params))


def _pairs(params: dict[str, Any]) -> Callable[..., Outcome]:
    from functools import partial

    from wulf.workflow.mpi.whole import pairs

    return partial(pairs, params=mpi_probe().check("pairs", "", params))


def measured(
    name: str, options: dict[str, Any], work: Callable[..., Outcome], *, whole: bool = True, usual: str = BLOCKS
) -> int:
    """Measure over the nodes that the options name; print, and keep as a run.

    Parameters
    ----------
    work
        Takes inventory, launch, effort, writer and seed, and `watch`.
    whole
        Print the report, rather than the records alone.
    usual
        As `taken` has it.
    """
    from wulf.workflow.engine.measuring import Effort

    launch = taken(options, usual)
    as_json, out, seed = options.pop("as_json"), options.pop("out"), options.pop("seed")
    efforts = {key: options.pop(key) for key in ("width", "budget", "quick", "watch")}
    effort = Effort(**efforts, replicates=options.pop("runs", None))
    with mpi_inventory(options) as inventory:
        nodes = [node.name for node in inventory.nodes]
        with measuring(f"mpi-{name}", out, seed, argv=sys.argv[1:], nodes=nodes) as (writer, drawn, line):
            outcome = work(inventory, launch(len(nodes)), effort, writer, drawn, watch=line)
    _show(outcome, as_json=as_json, whole=whole)
    return outcome.exit_code


def _show(outcome: Outcome, *, as_json: bool, whole: bool) -> None:
    """The report, or the records with the findings on stderr; with --json records alone."""
    from wulf.report.run.terminal import print_records, print_report

    if as_json:
        echo_records(outcome.run.records)
    elif whole:
        print_report(outcome.run, colour_console())
    else:
        print_records(outcome.run.records, colour_console())
        for finding in outcome.run.findings:
            click.echo(f"{finding.kind}: {finding.text}", err=True)
    click.echo(f"report: {outcome.run.path / 'report.html'}", err=as_json or not whole)


@click.group(cls=MpiGroup)
def command() -> None:
    """Measure MPI between ranks: `wulf mpi pingpong n1 n2 --bytes 1`.

    wulf-mpi is built once with the MPI found on the nodes, and launched by its mpirun, or by srun. NODESET in
    ClusterShell syntax; none: two ranks on this machine. The ranks are started anew for every block of replicates, so
    that intervals hold what changes from launch to launch; `--launch shared`, and --quick, starts them once.
    """
