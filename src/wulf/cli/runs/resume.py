"""`wulf resume RUN`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wulf.cli import offers
from wulf.cli.commands import Command
from wulf.cli.options import runs_option
from wulf.cli.showing import echo
from wulf.cli.slurm import before_program, without
from wulf.core.errors import UsageError

LISTED = ("resume", "Runs", 30, "Go on with a run that was cut short.")


@click.command(cls=Command, epilog="Example: wulf resume last")
@click.argument("run", default="last", shell_complete=offers.runs)
@runs_option
def command(run: str, directory: Path | None) -> Any:
    """Go on with a run that was cut short: measure what is missing of its plan, into the same run.

    RUN is a path, an id, its beginning, or 'last'. The command is the one that began it; what was measured stays, and
    cells that failed are tried again. A run that lacks nothing is left as it is.
    """
    from wulf.cli.main import cli
    from wulf.store.index import find_run
    from wulf.store.run import read_run
    from wulf.workflow.engine.resume import lacks_nothing

    path = find_run(run, directory, empty=True).absolute()
    found = read_run(path)
    if lacks_nothing(found):
        echo(f"{path} is complete; `wulf report {path}` shows it")
        return found.meta.get("exit_code", 0)
    argv, cwd = found.meta.get("argv"), found.meta.get("cwd")
    if not argv or not cwd:
        what = f"{path} can't be resumed: it is of `wulf {found.meta.get('command')}`, or of an earlier wulf"
        raise UsageError(what, "measure it again, with another --out")
    with contextlib.chdir(cwd):
        return cli.main(args=words_for(argv, path), standalone_mode=False)


def words_for(argv: Sequence[str], path: Path) -> list[str]:
    """The command line that goes on with a run; a program after `--` keeps its own words."""
    ours, program = before_program(argv)
    return [*without(ours, ["--sbatch"], ("--out", "--resume")), "--resume", str(path), *program]
