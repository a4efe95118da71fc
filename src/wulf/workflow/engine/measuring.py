"""Measuring: connect, measure cells, judge, and leave a complete run on disk; what every measuring command does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from wulf.cluster.inventory import Inventory
from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.findings.run import comparison_finding, find
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import APP, MPI, NODE, Probe
from wulf.measure.engine.starts import clock_steps
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.stats.cluster.nodes import MARGIN
from wulf.stats.comparison import PairedRule
from wulf.stats.stopping import LOOKS
from wulf.store.run import Run, RunWriter, read_run
from wulf.workflow.engine.baseline import IDLE_SECONDS, Baseline, background_findings, idle_seconds
from wulf.workflow.engine.connect import Connected, connect
from wulf.workflow.engine.measured import Measurements, measure_all
from wulf.workflow.engine.resume import gone_on_with, remembered
from wulf.workflow.engine.time_spent import TimeSpent

QUICK_LOOKS = (6,)


@dataclass(frozen=True)
class Effort:
    """How long and how well: width of the intervals requested, seconds to spend, declared looks, or open-ended.

    `watch` ends when the interval is narrow enough, `endless` never by itself.
    """

    width: float = 0.05
    budget: float | None = None
    quick: bool = False
    watch: bool = False
    endless: bool = False
    replicates: int | None = None
    """Exactly so many, whatever their spread: as another tool does."""
    patience: tuple[int, ...] = LOOKS
    """The looks where it need not be quick."""
    margin: float = MARGIN
    """Deviations of a node from its like up to this hold nobody up, and accuse nobody."""

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of replicates at which to look."""
        if self.replicates is not None:
            return (self.replicates,)
        return QUICK_LOOKS if self.quick else self.patience

    @property
    def idle_seconds(self) -> float:
        """How long the nodes' background is counted, before and after; not at all when it is to be quick."""
        return 0.0 if self.quick else IDLE_SECONDS


@dataclass
class Outcome:
    """What a measuring command leaves: the run as it stands on disk, and its exit code."""

    run: Run
    exit_code: int


def exit_code_of(records: Sequence[Record], findings: Sequence[Finding], state: str) -> int:
    """0 all well, 1 something stands out, 3 incomplete, 130 interrupted (design: exit codes)."""
    if state == "interrupted":
        return INTERRUPTED
    main = [record for record in records if record.metric in ("rtt", "throughput") or _decides(record)]
    primary = [record for record in main if record.supported and not _cut_by_width(record)]
    failed = any(finding.kind == "failed" for finding in findings)
    if failed or any(record.verdict in (Verdict.FAILED, Verdict.UNRESOLVED) for record in primary):
        return INCOMPLETE
    return FOUND if any(finding.severity is Severity.BAD for finding in findings) else OK


def _decides(record: Record) -> bool:
    """All that a node's own probes measure; of MPI's and of applications the metric that ends the measuring."""
    return record.probe == NODE or (record.probe in (MPI, APP) and record.stopped is not None)


def _cut_by_width(record: Record) -> bool:
    """A watch that was ended before it had an interval is what its user wanted; one in which all failed is not."""
    all_failed = not record.replicates and record.failed_replicates
    return record.phase == "watch" and record.verdict is Verdict.UNRESOLVED and not all_failed


ALONE = "pairs on one machine were measured one at a time, both ends on one CPU unless another was asked for"
SIDE_BY_SIDE = "pairs on one machine were measured at the same time all the same, and shared its CPUs"
RANKS = "ranks on one machine share its CPUs"


def circumstances(inventory: Inventory, connected: Connected, how: str = ALONE) -> list[str]:
    """What a reader of the findings has to know of how they came about; `how` nodes of one machine were measured."""
    notes = list(connected.notes)
    if inventory.lab and inventory.ssh_config is None:
        notes.append("This lab has no namespaces: its nodes are processes on this machine's loopback interface.")
    hosts = connected.hosts
    if len(hosts) > 1 and len(set(hosts.values())) < len(hosts):
        notes.append(
            f"{len(hosts)} nodes share {_machines(len(set(hosts.values())))}: {how}; their figures are those of its "
            "CPU and kernel, not of a wire."
        )
    return notes


def _machines(count: int) -> str:
    return "one machine" if count == 1 else f"{count} machines"


def detached(_: Connected) -> AbstractContextManager[None]:
    """Nothing beside the nodes' own sessions."""
    return nullcontext()


Judge = Callable[[Sequence[Record]], tuple[list[Record], list[Finding]]]
"""Records and findings that follow from the measured ones."""


def _judged(judge: Judge, records: list[Record], writer: RunWriter) -> list[Finding]:
    """What the judge finds; its records are kept beside the measured ones."""
    more, findings = judge(records)
    for record in more:
        writer.append(record)
    records += more
    return findings


def measure(
    inventory: Inventory,
    make_cells: Callable[[Connected, Probe], tuple[Cell, ...]],
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    versus: PairedRule | None = None,
    together: bool = False,
    extend: Callable[[Sequence[Record], int], tuple[Cell, ...]] | None = None,
    judge: Judge | None = None,
    side_by_side: bool = False,
    synchronised: bool = False,
    programs: Sequence[str] = (),
    attach: Callable[[Connected], AbstractContextManager[None]] = detached,
    how: str | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Connect, measure the cells, judge, and leave a complete run on disk.

    An interrupt keeps what was measured: the outcome then has exit code 130.

    Parameters
    ----------
    make_cells
        The cells, given the nodes that answered; asked only when one did.
    versus
        How the two cells are compared; None where nothing is.
    together
        No cell ends before all can: they will be subtracted block by block.
    extend
        More cells, given the records so far and the first free number of a cell; none: it is enough.
    judge
        Records and findings that follow from the measured ones.
    side_by_side
        Pairs are measured at the same time even where they share a machine.
    synchronised
        What is measured at the same time is of one kind and begins at one moment.
    programs
        What to open on the nodes beside wulf-net, as cells name it: "node".
    attach
        What else is there while it is measured, given the nodes that answered: MPI's ranks.
    how
        How nodes of one machine are measured, in words; None: `ALONE` or `SIDE_BY_SIDE`.
    watch
        Told what happens, for people.
    """
    measured, spent = Measurements(), TimeSpent(watch)
    state = "complete"
    notes: list[str] = []
    connected = None
    baseline = Baseline()
    try:
        with ExitStack() as open_while_measured:
            connected = open_while_measured.enter_context(connect(inventory, spent.say, programs))
            writer.write_json("fingerprint.json", connected.fingerprint)
            open_while_measured.enter_context(attach(connected))
            measured.failed = dict(connected.failed)
            notes = circumstances(inventory, connected, how or (SIDE_BY_SIDE if side_by_side else ALONE))
            notes += remembered(writer.earlier, connected)
            cells = make_cells(connected, connected.probe) if connected.probe else ()
            plan = Plan(
                cells, seed, effort.width, budget=effort.budget, looks=effort.looks,
                hosts={} if side_by_side else {**connected.hosts, **connected.lanes}, watch=effort.watch,
                versus=versus if cells else None, together=together, endless=effort.endless,
                synchronised=synchronised, steps=clock_steps(connected.sessions) if cells else {},
            )  # fmt: skip
            plan, so_far = gone_on_with(writer.earlier, plan)
            spent.hosts = plan.hosts
            writer.write_json("plan.json", plan.to_json())
            idle = min(effort.idle_seconds, idle_seconds(plan))
            baseline = Baseline(connected.sessions, idle, writer, writer.seen)
            baseline.take("before resuming" if writer.earlier else "before")
            measure_all(
                plan, so_far=so_far, connected=connected, writer=writer, budget=effort.budget, baseline=baseline,
                extend=extend, watch=spent, measured=measured,
            )  # fmt: skip
            baseline.take("after")
    except KeyboardInterrupt:
        state = "interrupted"
    fingerprint = connected.fingerprint if connected else {}
    records, comparison = measured.records, measured.comparison
    derived = [comparison_finding(records[0], comparison)] if comparison is not None else []
    if judge is not None:
        derived = _judged(judge, records, writer)
    findings = [
        *derived,
        *find(records, fingerprint, measured.failed, notes, margin=effort.margin),
        *background_findings(baseline.seen, fingerprint),
    ]
    writer.write_findings(findings)
    code = exit_code_of(records, findings, state)
    writer.finish(state, exit_code=code, time=spent.told())
    return Outcome(read_run(writer.path), code)


def write_html(run: Run) -> Path:
    """Write a run's report.html beside its records."""
    from wulf.report.run.html import write_report

    path = run.path / "report.html"
    write_report(run, path)
    return path
