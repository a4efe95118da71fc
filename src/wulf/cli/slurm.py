"""Options about Slurm that every command with nodes has, and the nodes of the job that they lead to."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.commands import where_option
from wulf.cli.showing import echo
from wulf.core.errors import UsageError
from wulf.core.files import folder, replace_file

if TYPE_CHECKING:
    from wulf.cluster.slurm.jobs import SlurmJob

OPTIONS, SUBMIT, ARRAY = "wulf.slurm.options", "wulf.slurm.submit", "wulf.slurm.array"
"""Where a command's context keeps them: commands need not know of them."""

_WITH_VALUE = ("--slurm-option", "--array", "--out")
WULF = [sys.executable, "-m", "wulf.cli.main"]


def _keep(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def keep(ctx: click.Context, _param: click.Parameter, value: Any) -> None:
        ctx.meta[key] = value

    return keep


slurm_option = where_option(
    "--slurm-option",
    rare=True,
    metavar="NAME[=VALUE]",
    multiple=True,
    expose_value=False,
    callback=_keep(OPTIONS),
    help="Of the job that --launcher slurm asks for: partition=…, account=…, constraint=…, time=…, qos=…",
)
sbatch_option = where_option(
    "--sbatch",
    rare=True,
    is_flag=True,
    expose_value=False,
    callback=_keep(SUBMIT),
    help="With --launcher slurm: submit a job that runs this command, and end. It resumes after preemption.",
)


array_option = where_option(
    "--array",
    rare=True,
    type=click.IntRange(min=2),
    expose_value=False,
    callback=_keep(ARRAY),
    help="With --sbatch: so many times, one after the other, a run each; `wulf history` shows what changed.",
)


def _of_command(key: str, absent: Any) -> Any:
    ctx = click.get_current_context(silent=True)
    return ctx.meta.get(key, absent) if ctx else absent


@contextmanager
def job_of(nodes: str | None, configured: Mapping[str, str]) -> Iterator[SlurmJob]:
    """The job whose nodes are measured: the one we are in, or one held for the length of the block.

    Parameters
    ----------
    nodes
        Which of its nodes, or which to ask for ("n[1-4]", or "3" for any three); None: all that the job has.
    configured
        Options of cluster.toml's; those of the command line come first.

    Raises
    ------
    UsageError
        No such nodes, no Slurm. With --sbatch, click's Exit: the job has been submitted.
    """
    from wulf.cluster.slurm.allocation import allocation
    from wulf.cluster.slurm.jobs import current_job, parse_options

    options = {**configured, **parse_options(_of_command(OPTIONS, ()))}
    job = current_job()
    if job is not None:
        yield job.part(nodes)
    elif nodes is None:
        raise UsageError("--launcher slurm outside of a job needs to know for which nodes to ask", "give --nodes")
    elif _of_command(SUBMIT, False):
        _submit(nodes, options, sys.argv[1:], _of_command(ARRAY, None) or 0)
    else:
        with allocation(nodes, options, lambda text: echo(text, err=True)) as job:
            yield job


def without(argv: Sequence[str], flags: Sequence[str], valued: Sequence[str]) -> list[str]:
    """A command line without some options and their values."""
    kept, words = [], iter(argv)
    for word in words:
        if word in valued:
            next(words, None)
        elif word not in flags and not any(word.startswith(f"{name}=") for name in valued):
            kept.append(word)
    return kept


def before_program(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """A command line's own words; and from `--` on those of the user's program, which no option of ours is among."""
    at = list(argv).index("--") if "--" in argv else len(argv)
    return list(argv[:at]), list(argv[at:])


def _submit(nodes: str, options: Mapping[str, str], argv: Sequence[str], tasks: int) -> None:
    """Submit a job that runs this very command, tell where it will be found, and end."""
    from wulf.cluster.slurm.jobs import batch_script, resources
    from wulf.store.run import new_run_id, runs_directory

    ctx = click.get_current_context()
    run = (ctx.params.get("out") or runs_directory() / new_run_id(ctx.command_path.split()[1])).absolute()
    ours, program = before_program(argv)
    command = [*WULF, *without(ours, ["--sbatch"], _WITH_VALUE), "--out"]
    script = batch_script(resources(nodes, options), run, command, [*WULF, "resume"], tasks, program=program)
    if (run / "run.json").exists():
        raise UsageError(
            f"{run} already holds a run", f"`sbatch {run / 'job.sh'}` goes on with it, or choose another --out"
        )
    with folder(run, make=True) as below:
        replace_file(Path("job.sh"), script, below=below)
    what = f"{tasks} runs, one after the other, in" if tasks else "its run:"
    where = shlex.quote(str(run))
    echo(f"job {_sbatch(run / 'job.sh')} has been submitted; {what} {run}")
    echo(f"  squeue    wulf runs --in {where}" if tasks else f"  squeue    wulf report {where}")
    ctx.exit(0)


def _sbatch(script: Path) -> str:
    try:
        done = subprocess.run(
            ["sbatch", "--parsable", str(script)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise UsageError("this machine has no sbatch", "run wulf where Slurm's commands are (slurm-client)") from error
    if done.returncode != 0:
        said = " / ".join(line.removeprefix("sbatch: ").removeprefix("error: ") for line in done.stderr.splitlines())
        raise UsageError(f"Slurm did not take the job: {said}", f"its script: {script}")
    return done.stdout.strip().partition(";")[0]
