"""From a command's options to a study's outcome, and that outcome shown: what every measuring command does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from wulf.cli.options import colour_console, echo_records, inventory_of, measuring

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from wulf.cluster.inventory import Inventory
    from wulf.workflow.engine.effort import Effort
    from wulf.workflow.engine.measuring import Outcome
    from wulf.workflow.engine.study import Conditions, Study


def effort_of(options: dict[str, Any]) -> Effort:
    """Takes --width, --budget, --quick and --watch out of the options, and --runs and --margin where there are such."""
    from wulf.workflow.engine.effort import Effort

    own = {name: options.pop(name) for name in ("width", "budget", "quick", "watch")}
    if "margin" in options:
        own["margin"] = options.pop("margin")
    return Effort(**own, replicates=options.pop("runs", None))


def inventory_in(options: dict[str, Any]) -> AbstractContextManager[Inventory]:
    """The nodes that `node_options` name."""
    return inventory_of(**options)


def studied(
    command: str,
    options: dict[str, Any],
    make: Callable[[Conditions], Study],
    *,
    where: Callable[[dict[str, Any]], AbstractContextManager[Inventory]] = inventory_in,
    **meta: Any,
) -> Outcome:
    """Measure a study over the nodes that the options name, and keep it as a run.

    Parameters
    ----------
    command
        What the run is named after.
    options
        Those of `measure_options` and `node_options`.
    make
        The study, once the nodes are known.
    where
        Makes the inventory of those of `node_options`.
    meta
        What else run.json says.
    """
    from wulf.workflow.engine.measuring import measure
    from wulf.workflow.engine.study import Conditions

    out, seed, effort = options.pop("out"), options.pop("seed"), effort_of(options)
    with where(options) as chosen:
        nodes = [node.name for node in chosen.nodes]
        with measuring(command, out, seed, argv=sys.argv[1:], nodes=nodes, **meta) as (writer, drawn, line):
            return measure(make(Conditions(chosen, effort, writer, drawn, line)))


def show_run(
    outcome: Outcome, *, as_json: bool, whole: bool = True, page: bool = True, untold: Sequence[str] = ()
) -> int:
    """Print what was measured; returns the exit code.

    Parameters
    ----------
    as_json
        Records alone, as JSON Lines.
    whole
        The report, rather than the records with the findings on stderr.
    page
        Whether the run has a page.
    untold
        Kinds of findings that are told elsewhere, as a bottleneck is with its record.
    """
    from wulf.report.run.terminal import print_records, print_report

    run = outcome.run
    if as_json:
        echo_records(run.records)
    elif whole:
        print_report(run, colour_console())
    else:
        print_records(run.records, colour_console())
        tell_findings(outcome, untold)
    if page:
        click.echo(f"report: {run.path / 'report.html'}", err=as_json or not whole)
    return outcome.exit_code


def tell_findings(outcome: Outcome, untold: Sequence[str] = ()) -> None:
    """The findings, on stderr, but for these kinds."""
    for finding in outcome.run.findings:
        if finding.kind not in untold:
            click.echo(f"{finding.kind}: {finding.text}", err=True)
