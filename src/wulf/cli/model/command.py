"""`wulf model`: speedup, LogGP and roofline, fitted to what was measured."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wulf.cli import offers
from wulf.cli.commands import Group
from wulf.cli.model.farm import farm
from wulf.cli.mpi.options import launch_options, mpi_inventory, over_ranks
from wulf.cli.options import (
    Number,
    Percent,
    from_option,
    measure_options,
    named_run,
    node_options,
    nodes_argument,
    runs_option,
)
from wulf.cli.runs.history import Setting
from wulf.cli.showing import echo, show_view
from wulf.cli.studying import studied, tell_change
from wulf.core.errors import OK, UsageError
from wulf.core.names import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.rates import Rate
    from wulf.store.run import Run
    from wulf.workflow.model.times import Given

LISTED = ("model", "Plan", 30, "How a program scales, what a message costs, a node's limits.")


MOST_GAIN = 1000.0
"""Of a program by tuning: a thousand times as fast is another program."""


class Numbers(click.ParamType[tuple[float, ...]]):
    """`64,128`: numbers above zero."""

    name = "number,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """To a tuple."""
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers such as 64,128", param, ctx)
        if not all(0 < one < float("inf") for one in found):
            self.fail(f"{value!r}: every number must be above 0", param, ctx)
        return found


class Workers(Numbers):
    """Numbers of at least one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """To a tuple."""
        found = super().convert(value, param, ctx)
        if any(one < 1 for one in found):
            self.fail(f"{value!r}: there is at least 1 worker", param, ctx)
        return found


class Gain(Percent):
    """`37%` or `0.37`: by which ratio more is done, which may be more than all of it."""

    most, example, bounds = MOST_GAIN, "9.2% or 0.092", f"above 0, and at most {MOST_GAIN * 100:.0f} %"


@click.group(cls=Group)
def command() -> None:
    """Models of what was measured: how a program scales, what a message costs, what a node can reach."""


command.add_command(farm)


@command.command(
    epilog="Examples: wulf model speedup times.csv --at 64,128 --html speedup.html; wulf model speedup ep2 ep4 ep8. "
    "The CSV's columns: workers,seconds[,replicate]; `serial` in the place of workers is a run of the serial program."
)
@click.argument("sources", nargs=-1, metavar="[TABLE | TRACE...]", shell_complete=offers.runs)
@from_option("A run whose records have workers or ranks (wulf mpi farm).")
@runs_option
@click.option("--metric", help="Which metric of the run [seconds].")
@click.option("--param", "params", type=Setting(), multiple=True, metavar="NAME=VALUE", help="Which cells: batch=1.")
@click.option("--serial", "serial", type=Numbers(), help="Seconds of the serial program: tells Ts from Tip.")
@click.option("--at", "at", type=Workers(), default=(), help="Numbers of workers to predict: 64,128.")
@click.option("--brown", is_flag=True, help="Brown's own figures, from his parameters.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with plots.")
def speedup(
    sources: tuple[str, ...],
    run: str | None,
    directory: Path | None,
    metric: str | None,
    params: tuple[tuple[str, str], ...],
    serial: tuple[float, ...] | None,
    at: tuple[float, ...],
    brown: bool,
    seed: int,
    as_json: bool,
    html: Path | None,
) -> int:
    """Fit Amdahl, Brown (with N and N²) and USL to times over workers, and choose by held-out error.

    Says what can't be told apart, where the program is fastest and what limits it. Traces of a program with several
    numbers of ranks (`wulf trace`) also tell Brown's Ts, Tp, Tip and Tis apart: what ranks compute, and what is left.
    """
    from wulf.model.speedup.study import study
    from wulf.report.model.speedup import speedup_object, speedup_view

    if brown:
        return _brown(as_json, html, bool(sources) or run is not None)
    if sources and not _is_table(sources):
        for name, value in (("--from", run), ("--metric", metric), ("--param", params), ("--serial", serial)):
            if value:
                raise UsageError(f"{name} is not for traces, which have their own times", "leave it out")
        return _traced(sources, directory, at, seed, as_json, html)
    given = _given(Path(sources[0]) if sources else None, run, directory, metric, dict(params))
    if serial and given.serial:
        raise UsageError(f"{given.source} has serial runs of its own", "leave --serial out")
    try:
        found = study(given.seconds, serial or given.serial or None, seed=seed)
    except ValueError as error:
        raise UsageError(f"{given.source}: {error}", "times are seconds above zero, for 1 worker or more") from error
    if found.best is None:
        raise UsageError(f"{given.source}: {next(iter(found.refused.values()))}", "measure more numbers of workers")
    show_view(
        speedup_view(found, given.source, at, given.notes),
        speedup_object(found, given.source, at),
        as_json=as_json,
        html=html,
    )
    return OK


@command.command(epilog="Example: wulf model roofline --intensity 0.5,2. Without --from: this machine's rates.")
@from_option("A run of `wulf node` [the rates file of this machine].")
@runs_option
@click.option("--node", help="Which node of that run [its only one].")
@click.option("--intensity", "at", type=Numbers(), default=(), help="What is attainable at so many flop/B: 0.5,2.")
@click.option("--precision", type=click.Choice(["double", "float"]), default="double", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with plots.")
def roofline(
    run: str | None,
    directory: Path | None,
    node: str | None,
    at: tuple[float, ...],
    precision: str,
    as_json: bool,
    html: Path | None,
) -> int:
    """What a node's arithmetic can reach, bounded by its peak and by the bandwidth of each memory.

    Peaks and bandwidths are those that `wulf node` and `wulf rates` measure.
    """
    from wulf.report.model.roofline import roofline_object, roofline_view
    from wulf.workflow.model.roofline import roofs_of
    from wulf.workflow.node import rates as workflow

    rates: Mapping[str, Rate]
    if run is not None:
        of_node = workflow.of_run(named_run(run, directory), node)
        name, rates = of_node.node, of_node.rates
    elif node is not None:
        raise UsageError("--node chooses from a run", "give --from RUN, or leave it out")
    else:
        from wulf import rates as reader

        read = reader.load()
        name, rates = read.host, read
    roofs, lacking = roofs_of(rates, precision)
    view = roofline_view(name, precision, roofs, at, lacking)
    show_view(view, roofline_object(name, precision, roofs, at), as_json=as_json, html=html)
    return OK


@command.command(
    epilog="Example: wulf model loggp n1 n2 --mpi openmpi; wulf model loggp --from last. Without nodes: two ranks here."
)
@nodes_argument
@from_option("A run that was measured so, or by `wulf net sweep` (then without o).")
@runs_option
@click.option("--subject", help="Which pair of that run [its only one]: 'n1>n2 tcp'.")
@click.option("--seconds", type=Number(), default=0.03, show_default=True, help="Of one replicate [s].")
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with plots.")
@node_options
@launch_options
@measure_options
def loggp(
    run: str | None,
    directory: Path | None,
    subject: str | None,
    seconds: float,
    html: Path | None,
    **options: Any,
) -> int:
    """What a message costs: L, o, g and G, and where eager goes over to rendezvous.

    Round trips, trains of messages, and trains with pauses between them are measured over sizes between two ranks, on
    the first two nodes; every third size is held out of the lines, and predicted.
    """
    from wulf.report.model.loggp import loggp_object, loggp_view
    from wulf.workflow.model.loggp import measured_of

    as_json = options["as_json"]
    if run is None:
        if subject is not None:
            raise UsageError("--subject chooses from a run", "give --from RUN, or leave it out")
        found, code = _measured(seconds, options)
    else:
        if options["nodes_given"]:
            raise UsageError("nodes are measured, --from names a run that was", "leave one out")
        found, code = named_run(run, directory), OK
    given = measured_of(found, subject)
    fitted = given.fitted()
    half = {size: [value / 2 for value in values] for size, values in given.round_trips.items()}
    view = loggp_view(fitted, given.subject, half, given.cautions)
    show_view(view, loggp_object(fitted, given.subject, given.cautions), as_json=as_json, html=html)
    return code


def _measured(seconds: float, options: dict[str, Any]) -> tuple[Run, int]:
    """Measure PRTT between two ranks on the nodes that the options name; the run, and how it ended."""
    from wulf.workflow.model.loggp import LogGPStudy

    if options["ranks"] is None and options["per_node"] is None:
        options["ranks"] = 2  # a pair, however many nodes a lab or an inventory has
    as_json = options.pop("as_json")
    study = over_ranks(options, partial(LogGPStudy, seconds=seconds))
    outcome = studied("model-loggp", options, study, where=mpi_inventory)
    tell_change(outcome, as_json=as_json)
    echo(f"run: {outcome.run.path}", err=True)
    return outcome.run, outcome.exit_code


def _given(
    table: Path | None, run: str | None, directory: Path | None, metric: str | None, params: dict[str, str]
) -> Given:
    """The times: of the table, or of the run."""
    from wulf.workflow.model.times import from_csv, from_run

    if (table is None) == (run is None):
        raise UsageError("times come from a table or from a run", "give TIMES.csv, or --from RUN")
    if run is not None:
        return from_run(named_run(run, directory), metric, params)
    assert table is not None  # noqa: S101 - one of both is there
    if metric is not None or params:
        raise UsageError("--metric and --param choose from a run", "leave them out with a table")
    return from_csv(table)


def _is_table(sources: tuple[str, ...]) -> bool:
    """Whether a table is named, and no traces: a file, or what would be one."""
    places = [Path(source) for source in sources]
    tables = [place for place in places if not place.is_dir() and (place.exists() or place.suffix == ".csv")]
    if tables and len(places) > 1:
        raise UsageError(f"{tables[0]} is a table, which stands alone", "give one table, or traces")
    return bool(tables)


def _traced(
    names: tuple[str, ...], directory: Path | None, at: tuple[float, ...], seed: int, as_json: bool, html: Path | None
) -> int:
    from wulf.model.speedup.parts import parts_of
    from wulf.report.model.parts import parts_object, parts_view
    from wulf.workflow.model.traces import times_of

    runs, notes = times_of(names, directory)
    parts, source = parts_of(runs, seed=seed), names[0] if len(names) == 1 else plural(len(names), "trace")
    show_view(parts_view(parts, source, at, notes), parts_object(parts, source, at), as_json=as_json, html=html)
    return OK


def _brown(as_json: bool, html: Path | None, more: bool) -> int:
    from wulf.report.model.brown import brown_object, brown_view

    if more:
        raise UsageError("--brown draws his figures, not measured times", "leave the table, or --from, out")
    show_view(brown_view(), brown_object(), as_json=as_json, html=html)
    return OK
