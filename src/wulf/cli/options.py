"""Options that many commands share, and the inventory that they add up to."""

from __future__ import annotations

import functools
import os
import secrets
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wulf.cli import offers
from wulf.cli.commands import Shared, where_option
from wulf.cli.defaults import added_words
from wulf.cli.showing import echo
from wulf.cli.slurm import array_option, before_program, job_of, sbatch_option, slurm_option
from wulf.cluster.launchers import offered_launchers
from wulf.core.durations import parse_long_duration
from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.cli.progress import Bar, Plain
    from wulf.cluster.inventory import Inventory
    from wulf.core.records import Record
    from wulf.store.run import Run, RunWriter

F = TypeVar("F", bound=Callable[..., Any])

RUNNING_LAB = "running"
"""What `--lab` alone stands for."""


class Number(click.types.FloatParamType):
    """A finite number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """To a float."""
        return _finite(super().convert(value, param, ctx), self, param, ctx)


class NumberIn(click.FloatRange):
    """A finite number within bounds. NaN would be in all of them: it passes every comparison."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """To a float."""
        return _finite(super().convert(value, param, ctx), self, param, ctx)


def _finite(
    number: float, kind: click.ParamType[float], param: click.Parameter | None, ctx: click.Context | None
) -> float:
    if not isfinite(number):
        kind.fail(f"{number} is not a finite number", param, ctx)
    return number


class WholeNumbers(click.ParamType[tuple[int, ...]]):
    """`32,64,128`: whole numbers above 0."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """To a tuple, each once."""
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(dict.fromkeys(int(part) for part in str(value).split(",")))
        except ValueError:
            self.fail(f"{value!r} is no list such as 32,64,128", param, ctx)
        if min(found) < 1:
            self.fail(f"{min(found)} is not above 0", param, ctx)
        return found


PARAM_TYPES: dict[str, click.ParamType[Any]] = {
    "int": click.INT, "float": Number(), "str": click.STRING, "bool": click.BOOL,
}  # fmt: skip
"""A parameter's type, as the probes name it → the option's."""


class Percent(click.ParamType[float]):
    """`5%` or `0.05`: a ratio above 0, and at most `most`."""

    name = "percent"
    most, example, bounds = 1.0, "5% or 0.05", "between 0 and 100 %"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """To a ratio."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            ratio = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            self.fail(f"{value!r} is not a percentage such as {self.example}", param, ctx)
        if not 0 < ratio <= self.most:
            self.fail(f"{value!r} is not {self.bounds}", param, ctx)
        return ratio


class Seconds(click.ParamType[float]):
    """`60s`, `5m`, `1h`, `7d` or a plain number of seconds, above 0."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """To seconds."""
        if isinstance(value, float):
            return value
        try:
            return parse_long_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


RESUMED = "wulf.resumed"
"""Where a command's context keeps the run to go on with."""


def keep_resumed(ctx: click.Context, _param: click.Parameter, value: Path | None) -> None:
    ctx.meta[RESUMED] = value


def _resumed() -> tuple[bool, Path | None]:
    """Whether the command has --resume, and what it was given."""
    ctx = click.get_current_context(silent=True)
    return (RESUMED in ctx.meta, ctx.meta.get(RESUMED)) if ctx else (False, None)


def all_of(options: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    """These options as one, in the order of the help."""
    return lambda function: functools.reduce(lambda f, option: option(f), reversed(options), function)


_how = functools.partial(click.option, cls=Shared, title="Measuring")


nodes_argument = click.argument("nodes_given", metavar="[NODESET]...", nargs=-1, shell_complete=offers.nodes)
"""Nodes as arguments, where a command takes any number of them."""


def node_options(function: F) -> F:
    """Where a command takes nodes: --nodes, --inventory, --hostfile, --launcher, --lab, --network, --ssh-config."""
    return all_of(
        [
            where_option(
                "--nodes",
                metavar="NODESET",
                shell_complete=offers.nodes,
                help="Nodes in ClusterShell syntax: 'n[1-4]', @group.",
            ),
            where_option(
                "--inventory",
                "inventory_file",
                type=click.Path(path_type=Path),
                help="A cluster.toml (see docs/how-to/inventory.md).",
            ),
            where_option("--hostfile", rare=True, type=click.Path(path_type=Path), help="An MPI hostfile."),
            where_option(
                "--launcher",
                type=click.Choice(offered_launchers()),
                default=None,
                help="How nodes are reached [ssh].",
            ),
            slurm_option,
            sbatch_option,
            array_option,
            where_option(
                "--lab",
                is_flag=False,
                flag_value=RUNNING_LAB,
                default=None,
                metavar="[NAME|N]",
                shell_complete=offers.labs,
                help="The running lab, or one of N nodes made for this command.",
            ),
            where_option(
                "--network", rare=True, metavar="CIDR", help="Measure over the addresses in this network: 10.0.0.0/24."
            ),
            where_option(
                "--ssh-config",
                type=click.Path(path_type=Path),
                default=None,
                rare=True,
                help="Instead of ~/.ssh/config.",
            ),
        ]
    )(function)


def measure_options(function: F) -> F:
    """Everywhere that something is measured: --json, --out, --quick, --watch, --seed, --width, --budget, --baseline."""
    return all_of(
        [
            _how("--json", "as_json", is_flag=True, help="Records as JSON Lines on stdout."),
            _how("--out", type=click.Path(path_type=Path), help="Directory of the run [runs/<id>]."),
            _how("--quick", is_flag=True, help="Six replicates a figure, whatever their spread."),
            _how("--watch", rare=True, is_flag=True, help="Look after every replicate, until --width or Ctrl-C."),
            _how("--seed", rare=True, type=click.IntRange(min=0), help="Of the random order [drawn, and recorded]."),
            _how(
                "--width",
                type=Percent(),
                default="5%",
                show_default=True,
                help="Measure until intervals are so narrow.",
            ),
            _how("--budget", rare=True, type=Seconds(), help="Stop measuring after this long: 60s, 5m."),
            _how(
                "--baseline",
                metavar="RUN",
                shell_complete=offers.runs,
                help="Say what changed since this run; exit code 1: something is slower.",
            ),
            _how(
                "--resume",
                rare=True,
                type=click.Path(path_type=Path),
                expose_value=False,
                callback=keep_resumed,
                help="Go on with this run of the same command (as `wulf resume` does).",
            ),
        ]
    )(function)


runs_option = click.option(
    "--in", "directory", type=click.Path(path_type=Path), help="Directory of runs [./runs, or $WULF_RUNS]."
)
"""Where runs are read."""


def from_option(said: str) -> Callable[[F], F]:
    """`--from RUN`: what was measured before, in the place of measuring."""
    return click.option("--from", "run", metavar="RUN", shell_complete=offers.runs, help=said)


margin_option = click.option(
    "--margin", type=Percent(), default="3%", show_default=True,
    help="Deviations of a node from its like up to this are not reported.",
)  # fmt: skip
"""Where nodes are compared with their like."""


@contextmanager
def inventory_of(
    *,
    nodes: str | None,
    inventory_file: Path | None,
    hostfile: Path | None,
    launcher: str | None,
    lab: str | None,
    network: str | None,
    ssh_config: Path | None,
    lab_made: bool = True,
) -> Iterator[Inventory]:
    """The nodes that the options name; a lab made for the command is gone when the block ends, however it ends.

    Parameters
    ----------
    lab_made
        Whether a lab may be made for the command; one that only reads what there is has nothing to read there.

    Raises
    ------
    UsageError
        More than one source of nodes, or one that can't be read; or no lab is up, and none is to be made.
    """
    from wulf.cluster.inventory import Inventory, expand
    from wulf.workflow.engine.nodes import nodes_meant

    sources = {"--inventory": inventory_file, "--hostfile": hostfile, "--lab": lab}
    given = [name for name, value in sources.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} both name the nodes", "give one of them")
    options = {"launcher": launcher, "network": network, "ssh_config": ssh_config}
    changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if launcher == "slurm" and not given:
        with job_of(nodes, {}) as job:
            yield Inventory.from_nodeset(",".join(job.nodes), job=job.id, **changes)
        return
    if lab is not None:
        if changes:
            raise UsageError("--lab decides how its nodes are reached", "leave the other option out")
        from wulf.cli.lab import lab_of

        with lab_of(None if lab == RUNNING_LAB else lab, made=lab_made) as running:
            chosen = Inventory.from_lab(running)
            yield replace(chosen, nodes=chosen.pick(expand(nodes))) if nodes else chosen
        return
    chosen = nodes_meant(nodes, inventory_file, hostfile, **changes)
    if chosen.launcher == "slurm":
        with job_of(",".join(chosen.names), chosen.slurm) as job:
            yield replace(chosen, job=job.id)
        return
    yield chosen


@contextmanager
def measuring(
    command: str, out: Path | None, seed: int | None, **meta: Any
) -> Iterator[tuple[RunWriter, int, Bar | Plain]]:
    """A run to write into, its seed (drawn where none is given, and recorded), and the progress line."""
    from wulf.cli.progress import progress_line
    from wulf.store.run import RunWriter

    resumable, resumed = _resumed()
    drawn = secrets.randbelow(2**31) if seed is None else seed
    fields = {"seed": drawn, "slurm_job": os.environ.get("SLURM_JOB_ID"), **meta}
    fields |= {"cwd": str(Path.cwd())} if resumable else {}
    if "argv" in fields:
        ours, program = before_program(fields["argv"])
        fields["argv"] = [*ours, *added_words(), *program]
    with (
        RunWriter(resumed or out, command, fields, resume=resumed is not None) as writer,
        progress_line() as line,
        terminable(),
    ):
        yield writer, int(writer.earlier.meta["seed"]) if writer.earlier else drawn, line


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM is Ctrl-C for the length of the block, once: a scheduler that ends a job loses nothing measured."""

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def named_run(name: str, directory: Path | None) -> Run:
    """The run that a user names; one that was cut short has what its replicates say."""
    from wulf.store.index import find_run
    from wulf.workflow.engine.recover import load

    return load(find_run(name, directory))


def echo_records(records: Iterable[Record]) -> None:
    """What --json prints: one record a line on stdout."""
    for record in records:
        echo(record.model_dump_json())
