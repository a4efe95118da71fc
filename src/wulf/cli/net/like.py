"""`--as TOOL`: a measurement that repeats another tool's loop and prints that tool's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wulf.cli.options import echo_records
from wulf.cli.showing import echo
from wulf.cli.studying import studied, tell_change, tell_findings
from wulf.core.errors import UsageError
from wulf.core.files import replace_file
from wulf.measure import tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from wulf.cluster.inventory import Inventory
    from wulf.measure.engine.probes import Probe
    from wulf.measure.tool import Loop, Measurement
    from wulf.workflow.engine.measuring import RunOutcome
    from wulf.workflow.engine.study import Conditions
    from wulf.workflow.mpi.probes import Ranks

FIGURES = ("latency", "throughput", "connections")
"""Metrics that the tools print: round trips as the tool counts them, and rates."""

as_option = click.option(
    "--as",
    "like",
    type=click.Choice(tools.tools()),
    default=None,
    help="Repeat that tool's loop (over its own transport, for its own time, unless given), and print its summary.",
)


def given(name: str) -> bool:
    """Whether the user wrote an option, rather than left its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def run_like(
    tool: str,
    pattern: str,
    probe: Probe,
    where: Callable[[dict[str, Any]], AbstractContextManager[Inventory]],
    params: dict[str, Any],
    *,
    transport: str | None,
    most: int = 0,
    client: str,
    server: str,
    options: dict[str, Any],
    ranks: Callable[[Conditions], Ranks] | None = None,
) -> int:
    """Measure as the tool does; its text on stdout, or records with --json.

    Parameters
    ----------
    pattern
        The command: pingpong, stream, connect or sweep.
    params
        What the user gave of the probe's parameters; `seconds` is the tool's test time.
    ranks
        Makes the ranks between which it is measured, where MPI carries it.

    Raises
    ------
    UsageError
        The tool has no such loop, or can't do what was asked for; before any node is touched.
    """
    from wulf.measure.engine.plan import Cell
    from wulf.workflow.net import like

    if ranks:
        loop = tools.find_mpi(tool, pattern, both=bool(params.get("both")))
    else:
        loop = tools.find(tool, pattern, transport)
    if options["watch"]:
        raise UsageError(f"--watch: {tool} does not look after each repetition", "leave --watch or --as out")
    seconds = params.pop("seconds", None)
    wanted = like.Wanted(seconds, most, tuple(params.items()))
    exchange = probe.pattern("pingpong" if pattern == "sweep" else pattern)
    timing = loop.timing(loop.seconds if seconds is None else seconds, 1.0)
    probe.check(exchange.name, "" if ranks else loop.transport, {**loop.options, **timing.params, **params})
    cell = Cell(0, client, server, loop.transport, exchange.name, {}, exchange.metrics)
    as_json, quick = options.pop("as_json"), bool(options["quick"])

    def study(given: Conditions) -> like.Repeat:
        return like.Repeat(given, cell, loop, wanted, ranks(given) if ranks else None)

    outcome = studied(f"{'mpi' if ranks else 'net'}-{pattern}", options, study, where=where, like=tool)
    found = like.measured(outcome.run)
    if as_json:
        echo_records(outcome.run.records)
    elif found.cells:
        echo(loop.text(found))
    for name, text in (loop.files(found) if loop.files and found.cells else {}).items():
        replace_file(outcome.run.path / name, text)
    _explain(loop, found, outcome, quick=quick)
    return outcome.exit_code


def _explain(loop: Loop, found: Measurement, outcome: RunOutcome, *, quick: bool) -> None:
    """What is not as in the original, and what wulf found, on stderr."""
    from wulf.report.kit.figures import confidence_text, interval_text, value_text, verdict_text

    if found.cells:
        shorter = "; --quick: a tenth of its time" if quick else ""
        echo(f"as `{loop.command(found)}`, except: {loop.differs}{shorter}", err=True)
    for record in outcome.run.records if len(found.cells) == 1 else ():
        if record.metric in FIGURES and record.value is not None:
            name = f"{loop.tool}'s figure" if record.metric == "latency" else record.metric
            figure = f"{value_text(record)} ({interval_text(record)}, {confidence_text(record)})"
            echo(f"{name}, median of {record.replicates}: {figure}, {verdict_text(record)}", err=True)
    tell_findings(outcome)
    tell_change(outcome, as_json=True)  # stdout is that tool's summary alone
    echo(f"run: {outcome.run.path}", err=True)
