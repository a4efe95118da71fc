"""From a command's options to a study's outcome, and that outcome shown: what every measuring command does."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wulf.cli.options import echo_records, inventory_of, measuring, named_run
from wulf.cli.showing import colour_console, echo
from wulf.core.errors import INCOMPLETE, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from wulf.cluster.inventory import Inventory
    from wulf.store.run import Run
    from wulf.workflow.engine.effort import Effort
    from wulf.workflow.engine.measuring import RunOutcome
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
) -> RunOutcome:
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

    before = _before(options.pop("baseline", None), command)
    out, seed, effort = options.pop("out"), options.pop("seed"), effort_of(options)
    with where(options) as chosen:
        nodes = [node.name for node in chosen.nodes]
        with measuring(command, out, seed, argv=sys.argv[1:], nodes=nodes, **meta) as (writer, drawn, line):
            outcome = measure(make(Conditions(chosen, effort, writer, drawn, line)))
    return outcome if before is None else _since(before, outcome)


def _before(name: str | None, command: str) -> Run | None:
    """The run of `--baseline`, found before any node is touched; `last` is the newest complete one of this command.

    Raises
    ------
    UsageError
        There is no such run, or it is another command's.
    """
    if name is None:
        return None
    run = named_run(str(_last_of(command)) if name == "last" else name, None)
    if (own := run.meta["command"]) != command:
        raise UsageError(f"--baseline {name}: {run.id} is a run of {own}", f"name one of {command}: `wulf runs`")
    return run


def _last_of(command: str) -> Path:
    from wulf.store.index import newest_run
    from wulf.store.run import runs_directory

    found = newest_run(command, state="complete")
    if found is None:
        raise UsageError(
            f"--baseline last: {runs_directory()} holds no complete run of {command}", "`wulf runs` lists them"
        )
    return found


def _since(before: Run, outcome: RunOutcome) -> RunOutcome:
    """The outcome with what changed since then: something slower is something that stands out."""
    from wulf.measure.comparing import compare_runs

    try:
        change = compare_runs(before, outcome.run)
    except UsageError as error:  # what was measured is kept
        echo(f"--baseline: {error.what}", err=True)
        return replace(outcome, exit_code=outcome.exit_code or INCOMPLETE)
    return replace(outcome, exit_code=outcome.exit_code or change.exit_code, change=change)


def show_run(
    outcome: RunOutcome, *, as_json: bool, whole: bool = True, page: bool = True, untold: Sequence[str] = ()
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
        print_records(run, colour_console())
        tell_findings(outcome, untold)
    tell_change(outcome, as_json=as_json)
    _tell_of_labs(run)
    if page:
        echo(f"report: {run.path / 'report.html'}", err=as_json or not whole)
    return outcome.exit_code


def _tell_of_labs(run: Run) -> None:
    """Where nodes' names could not be resolved that a lab has: how it is meant, on stderr."""
    lost = {one.subject for one in run.findings if one.kind == "failed" and "can't be resolved" in one.text}
    if not lost:
        return
    from wulf.lab import all_labs

    for lab in all_labs():
        if lost <= {node.name for node in lab.nodes}:
            echo(f"the lab {lab.name!r} has nodes of these names: `--lab {lab.name}` measures those", err=True)


def tell_change(outcome: RunOutcome, *, as_json: bool) -> None:
    """What changed since the run of `--baseline`, and its page beside the report; beside --json in one line."""
    if outcome.change is None:
        return
    from wulf.report.compare.runs import KEPT, comparison_view
    from wulf.report.kit.page import write_view
    from wulf.report.kit.terminal import print_view

    view, page = comparison_view(outcome.change), outcome.run.path / "change.html"
    write_view(view, page, KEPT)
    if as_json:
        echo(f"since {outcome.change.a.id}: {' '.join([view.headline, *view.notes])}", err=True)
    else:
        echo()
        print_view(view, colour_console())
    echo(f"change: {page}", err=as_json)


def tell_findings(outcome: RunOutcome, untold: Sequence[str] = ()) -> None:
    """The findings, on stderr, but for these kinds."""
    for finding in outcome.run.findings:
        if finding.kind not in untold:
            echo(f"{finding.kind}: {finding.text}", err=True)
