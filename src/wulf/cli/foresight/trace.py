"""`wulf trace`: record what an MPI program says to whom, and when; show it, export it, import what others wrote."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import PROGRAM, Command, TableGroup, WithProgram
from wulf.cli.mpi.options import mpi_inventory, rank_options, taken
from wulf.cli.options import Number, Seconds, measuring, node_options, nodes_argument
from wulf.cli.progress import Plain, progress_line
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import UsageError
from wulf.trace.exports import NAMES as EXPORTS
from wulf.trace.imports import NAMES as IMPORTS
from wulf.trace.imports import OPTIONS

if TYPE_CHECKING:
    from wulf.workflow.app.run import AppRequest
    from wulf.workflow.engine.done import Done

LISTED = ("trace", "Explain", 50, "An MPI program's messages, recorded: shown, exported, imported.")

COMMANDS = {
    "run": "wulf.cli.foresight.trace:run",
    "show": "wulf.cli.foresight.trace:show",
    "export": "wulf.cli.foresight.trace:export",
    "import": "wulf.cli.foresight.trace:bring",
}


@click.group(cls=TableGroup, commands_at=COMMANDS, default="run")
def command() -> None:
    """Record an MPI program's calls, without linking it anew: `wulf trace -- mpirun -n 4 ./app`.

    \b
    Examples:
      wulf trace -- mpirun -n 4 ./app        on this machine, by its own launcher
      wulf trace 'n[1-4]' --ranks 8 -- ./app over nodes; the trace is brought here
      wulf trace show last                   calls, bytes, who sends to whom
      wulf trace export last --to perfetto app.json
      wulf trace import traces/ --from allprof

    `wulf predict` says what another network would do to it.
    """  # noqa: D301 - \\b is click's mark for a paragraph that must not be rewrapped


@click.command(cls=WithProgram, epilog="Example: wulf trace 'n[1-4]' --ranks 8 -- ./solver input")
@nodes_argument
@node_options
@rank_options
@click.option("--sites", is_flag=True, help="Record where in the program each call stands, too.")
@click.option(
    "--no-network", is_flag=True,
    help="Do not measure what a message costs, which is the baseline of `wulf predict`, right after the run.",
)  # fmt: skip
@click.option("--noise", is_flag=True, help="Record who takes the CPUs, and which rank was late for whom (root).")
@click.option("--env", "environment", metavar="NAME=VALUE", multiple=True, help="For the program.")
@click.option("--chdir", metavar="DIR", help="A folder of the nodes to run in [an empty one of its own].")
@click.option("--timeout", type=Seconds(), help="The run over nodes may take so long: 60s, 5m [10m].")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object on stdout.")
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> int:
    """Run a program once, and record every call of MPI on every rank.

    Without nodes the command runs here, with this terminal and folder, and starts its ranks itself; with nodes or
    --ranks the program is started over them by MPI's launcher, and what its ranks left is brought here.

    Exit code 1: the program failed, or something is wrong with its trace; what is there is kept.
    """
    words = ctx.meta[PROGRAM]
    if not words:
        raise UsageError("no program is given", "write it after `--`: wulf trace -- mpirun -n 4 ./app")
    as_json, out = options.pop("as_json"), options.pop("out")
    asked = {"sites": options.pop("sites"), "network": not options.pop("no_network"), "noise": options.pop("noise")}
    own = {name: options.pop(name) for name in ("environment", "chdir", "timeout")}
    over_nodes = bool(options["nodes_given"]) or any(
        options[name] is not None
        for name in ("nodes", "inventory_file", "hostfile", "launcher", "lab", "ranks", "per_node")
    )
    if over_nodes:
        done = _over_nodes(options, own, words, out, asked)
    else:
        done = _here(options, own, words, out, {**asked, "quiet": as_json})
    return _show(done, as_json=as_json)


def _here(
    options: dict[str, Any], own: dict[str, Any], words: tuple[str, ...], out: Path | None, asked: dict[str, bool]
) -> Done:
    for name, shown in (("chdir", "--chdir"), ("timeout", "--timeout")):
        if own[name] is not None:
            raise UsageError(f"{shown} is for programs on nodes", "name nodes, or leave it out")
    from wulf.cli.app.run import variable
    from wulf.store.run import RunWriter
    from wulf.workflow.trace.run import Here, trace_here

    here = Here(words, options["mpi"], environment=dict(map(variable, own["environment"])), **asked)
    # lines instead of a live one: the terminal is the program's
    with RunWriter(out, "trace", {"argv": sys.argv[1:], "nodes": []}) as writer:
        return trace_here(here, writer, watch=Plain())


def _over_nodes(
    options: dict[str, Any], own: dict[str, Any], words: tuple[str, ...], out: Path | None, asked: dict[str, bool]
) -> Done:
    launch = taken(options)
    with mpi_inventory(options) as inventory:
        names = [node.name for node in inventory.nodes]
        application = _application(own, words, launch(len(names)).spec)
        with measuring("trace", out, None, argv=sys.argv[1:], nodes=names) as (writer, _, line):
            from wulf.workflow.trace.run import trace_nodes

            return trace_nodes(inventory, application, writer, **asked, watch=line)


def _application(own: dict[str, Any], words: tuple[str, ...], spec: Any) -> AppRequest:
    from wulf.cli.app.run import command_request

    plain = {"figure": None, "unit": "s", "better": "lower", "checks": ()}
    return command_request(words, {**own, **plain}, spec, own["timeout"], over_ranks=True)


@click.command(cls=Command, epilog="Example: wulf trace show last")
@click.argument("trace", metavar="RUN", shell_complete=offers.runs)
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object on stdout.")
def show(trace: str, *, as_json: bool) -> int:
    """Read a trace, and say what it holds: a run, its identifier, `last`, or a folder of ranks' files."""
    from wulf.workflow.trace.files import show_trace

    with progress_line() as line:
        result, code = show_trace(trace, watch=line)
    _print(result, as_json=as_json)
    return code


@click.command(cls=Command, epilog="Example: wulf trace export last --to perfetto app.json")
@click.argument("trace", metavar="RUN", shell_complete=offers.runs)
@click.option("--to", "to", type=click.Choice(EXPORTS), required=True, help="The format.")
@click.argument("place", metavar="PATH", type=click.Path(path_type=Path))
def export(trace: str, to: str, place: Path) -> int:
    """Write a trace for another tool.

    \b
    perfetto  JSON for ui.perfetto.dev: ranks as threads, messages as flows
    goal      GOAL's text, for LogGOPSim
    simgrid   a folder for smpirun -replay
    """  # noqa: D301
    from wulf.workflow.trace.files import export_trace

    for note in export_trace(trace, to, place):
        echo(f"note: {note}", err=True)
    echo(str(place))
    return 0


@click.command("import", cls=Command, epilog="Example: wulf trace import traces/ --from allprof")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--from", "source", type=click.Choice(IMPORTS), required=True, help="The format.")
@click.option("--flops", type=Number(), help="simgrid: what its hosts compute a second [1e9].")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>].")
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object on stdout.")
def bring(files: tuple[Path, ...], source: str, flops: float | None, out: Path | None, *, as_json: bool) -> int:
    """Make a trace of files that other tools wrote.

    \b
    goal     a GOAL schedule, kept as it is
    allprof  liballprof's text: pmpi-trace-rank-*.txt, or their folder
    dumpi    what dumpi2ascii prints of each rank's file
    otf2     what `otf2-print -A traces.otf2` prints
    simgrid  time-independent traces: the list that `smpirun -replay` takes
    paraver  the .prv of Extrae's mpi2prv
    chakra   MLCommons' execution traces, *.et: they become a GOAL schedule
    """  # noqa: D301
    options = {} if flops is None else {"flops": flops}
    if options.keys() - OPTIONS.get(source, frozenset()):
        raise UsageError(f"--flops says nothing about {source}", "its traces have times: leave it out")
    with measuring("trace", out, None, argv=sys.argv[1:], nodes=[]) as (writer, _, line):
        from wulf.workflow.trace.files import import_trace

        done = import_trace(files, source, writer, options=options, watch=line)
    return _show(done, as_json=as_json)


def _show(done: Done, *, as_json: bool) -> int:
    _print(done.result, as_json=as_json)
    echo(f"run: {done.path}", err=as_json)
    return done.exit_code


def _print(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        echo(json.dumps(result, ensure_ascii=False))
        return
    from wulf.report.kit.terminal import print_view
    from wulf.report.trace import trace_view

    print_view(trace_view(result), colour_console())
