"""Measuring: connect, measure a study's cells, judge, and leave a complete run on disk: every command's way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wulf.cluster.access import access_to
from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.findings.run import comparison_finding, deciding, find
from wulf.measure.comparing import RunComparison
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.starts import clock_steps
from wulf.store.run import Run, RunWriter, read_run
from wulf.workflow.engine.baseline import Baseline, background_findings, idle_seconds
from wulf.workflow.engine.connect import Connected, connect
from wulf.workflow.engine.measured import Measurements, measure_all
from wulf.workflow.engine.resume import gone_on_with, remembered
from wulf.workflow.engine.study import Study
from wulf.workflow.engine.time_spent import TimeSpent


@dataclass
class RunOutcome:
    """What a measuring command leaves: the run as it stands on disk, its exit code, and how it stands to a baseline.

    Attributes
    ----------
    change
        The run against the one of `--baseline`; None where none was asked for, or they have nothing in common.
    """

    run: Run
    exit_code: int
    change: RunComparison | None = None


def exit_code_of(records: Sequence[Record], findings: Sequence[Finding], state: str) -> int:
    """0 all well, 1 something stands out, 3 incomplete, 130 interrupted (design: exit codes)."""
    if state == "interrupted":
        return INTERRUPTED
    failed = any(finding.kind == "failed" for finding in findings)
    if failed or any(record.verdict in (Verdict.FAILED, Verdict.UNRESOLVED) for record in deciding(records)):
        return INCOMPLETE
    return FOUND if any(finding.severity is Severity.BAD for finding in findings) else OK


def circumstances(study: Study, connected: Connected) -> list[str]:
    """What a reader of the findings has to know of how they came about."""
    notes = [*connected.notes, *study.beside.notes]
    inventory, hosts = study.given.inventory, connected.hosts
    if inventory.lab and inventory.ssh_config is None:
        notes.append("This lab has no namespaces: its nodes are processes on this machine's loopback interface.")
    if len(hosts) > 1 and len(set(hosts.values())) < len(hosts):
        notes.append(
            f"{len(hosts)} nodes share {_machines(len(set(hosts.values())))}: {study.how}; their figures are those of "
            "its CPU and kernel, not of a wire."
        )
    return notes


def _machines(count: int) -> str:
    return "one machine" if count == 1 else f"{count} machines"


def measure(study: Study) -> RunOutcome:
    """Connect, measure the study's cells, judge, and leave a complete run on disk, with its page.

    An interrupt keeps what was measured: the outcome then has exit code 130.
    """
    spent, found = TimeSpent(study.given.watch), Measurements()
    state = "complete"
    try:
        _measure(study, found, spent)
    except KeyboardInterrupt:
        state = "interrupted"
    findings = _judged(study, found)
    writer = study.given.writer
    writer.write_findings(findings)
    code = exit_code_of(found.records, findings, state)
    writer.finish(state, exit_code=code, time=spent.told())
    return reported(writer, RunOutcome(read_run(writer.path), code), page=study.page)


def reported(writer: RunWriter, outcome: RunOutcome, *, page: bool = True) -> RunOutcome:
    """The outcome with its headline, which `wulf runs` lists, and its page."""
    from wulf.report.run.html import write_report  # slow to import, and not before something was measured
    from wulf.report.run.view import run_headline

    writer.note(headline=run_headline(outcome.run))
    if page:
        write_report(outcome.run)
    return outcome


def _measure(study: Study, found: Measurements, watch: TimeSpent) -> None:
    """Measure on the nodes that answer; what there is stands in `found`, even after an interrupt."""
    given = study.given
    writer, earlier = given.writer, given.writer.earlier
    with access_to(given.inventory) as access, connect(access, watch.say, study.programs) as there:
        found.fingerprint = there.fingerprint
        writer.write_json("fingerprint.json", there.fingerprint)
        with study.attach(there, access):
            there.settled()
            found.failed = {**there.failed, **study.beside.failed}
            connected, resumed = remembered(earlier, there)
            found.fingerprint = connected.fingerprint
            found.notes = [*circumstances(study, connected), *resumed]
            cells = tuple(study.cells(connected, connected.probe)) if connected.probe else ()
            plan, so_far = gone_on_with(earlier, _plan(study, cells, connected))
            watch.hosts = plan.hosts
            writer.write_json("plan.json", plan.to_json())
            idle = min(study.effort.idle_seconds, idle_seconds(plan))
            found.baseline = Baseline(connected.sessions, idle, writer, writer.seen)
            found.baseline.take("before resuming" if earlier else "before")
            measure_all(study, plan, so_far, connected=connected, found=found, watch=watch)
            found.baseline.take("after")


def _plan(study: Study, cells: tuple[Cell, ...], connected: Connected) -> Plan:
    effort = study.effort
    return Plan(
        cells, study.given.seed, effort.width, budget=effort.budget, looks=effort.looks,
        hosts={} if study.side_by_side else {**connected.hosts, **study.beside.lanes}, watch=effort.watch,
        versus=study.versus if cells else None, together=study.together, endless=effort.endless,
        synchronised=study.synchronised, steps=clock_steps(connected.sessions) if cells else {},
    )  # fmt: skip


def _judged(study: Study, found: Measurements) -> list[Finding]:
    """What the study finds, and what is found of every run; its records are kept beside the measured ones."""
    compared = [comparison_finding(found.records[0], found.comparison)] if found.comparison is not None else []
    more, own = study.judge(found.records)
    for record in more:
        study.given.writer.append(record)
    found.records += more
    return [
        *compared,
        *own,
        *find(found.records, found.fingerprint, found.failed, found.notes, margin=study.effort.margin),
        *background_findings(found.baseline.seen, found.fingerprint),
    ]
