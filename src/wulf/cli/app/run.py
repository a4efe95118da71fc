"""`wulf app run`: any command, by its wall time or by a number in its output."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.app.command import measured_application, run_options
from wulf.cli.commands import PROGRAM, WithProgram
from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.cluster.mpi import WorldSpec
    from wulf.core.records import Param
    from wulf.workflow.app.run import AppRequest


@click.command(cls=WithProgram, epilog="Example: wulf app run n1 --figure 'GFLOPS: ([0-9.]+)' --unit flop/s -- ./solve")
@run_options
@click.option("--figure", metavar="REGEX", help="Its first group is the number, in lines of the output [wall time].")
@click.option("--unit", default="1", help="Of that number: s, B/s, flop/s, …", show_default=True)
@click.option("--better", type=click.Choice(["higher", "lower"]), default="higher", show_default=True)
@click.option("--check", "checks", metavar="REGEX", multiple=True, help="A right answer has this in its output.")
@click.option("--env", "environment", metavar="NAME=VALUE", multiple=True, help="For the program, on every node.")
@click.option("--chdir", metavar="DIR", help="A folder of the nodes to run in [an empty one of its own].")
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> int:
    """Run any command, as often as its figure needs: on each node by itself, or over --ranks by an MPI.

    Its figure is the wall time, or the number that --figure finds (of several the last). A run that ends badly, in
    no time, or without what --check looks for has no figure. Paths are those of the nodes; --chdir names a folder
    there, without which the command runs in an empty one.
    """
    from wulf.cluster.mpi import WorldSpec

    words = ctx.meta[PROGRAM]
    if not words:
        raise UsageError("no command is given", "write it after `--`: wulf app run n1 -- ./solver input")
    over_ranks = any(options[name] is not None for name in ("ranks", "per_node", "mpi")) or options["starter"] == "srun"
    own = {name: options.pop(name) for name in ("figure", "unit", "better", "checks", "environment", "chdir")}
    # what is wrong is refused before there is a run
    request = command_request(words, own, WorldSpec(), options.pop("timeout"), over_ranks=over_ranks)
    return measured_application(request, options)


def command_request(
    words: tuple[str, ...], own: dict[str, Any], spec: WorldSpec, timeout: float | None, *, over_ranks: bool
) -> AppRequest:
    from wulf.apps.command import reader
    from wulf.apps.driver import Job
    from wulf.workflow.app.run import AppRequest

    read, main = reader(own["figure"], own["unit"], own["better"], own["checks"])
    environment = dict(map(variable, own["environment"]))
    program, *rest = words
    # a relative path is looked up in the folder that it runs in, by whoever starts it there
    findable = not (program.startswith(".") or ("/" in program and not program.startswith("/")))

    def make(path: str, _ranks: int) -> Job:
        job = Job((path or program, *rest), environment=environment, mpi=over_ranks, folder=own["chdir"])
        return job if timeout is None else replace(job, timeout=timeout)

    params: dict[str, Param] = {"command": shlex.join(words)}
    return AppRequest("run", params, make, read, main, (program,) if findable else (), spec, timeout)


def variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--env {text!r} is no NAME=VALUE", "write --env OMP_NUM_THREADS=4")
    return name, value
