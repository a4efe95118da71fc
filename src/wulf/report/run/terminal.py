"""The report in a terminal: 80 columns are enough, colour is never needed, nothing in a name is taken as markup."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from wulf.core.findings import Finding, Severity
from wulf.core.names import fold, plural, printable, subject_text
from wulf.core.records import Record, Verdict
from wulf.report.kit.figures import (
    cell_name,
    confidence_text,
    counters_of_interest,
    interval_text,
    limits,
    main_records,
    metric_name,
    quantiles,
    value_text,
)
from wulf.report.kit.matrices import run_nodes, verdict_counts
from wulf.report.kit.parts import parts
from wulf.report.kit.printing import new_table, print_rest, print_titled, say, verdict_cell
from wulf.report.run import summary
from wulf.report.run.facts import fact_rows
from wulf.store.run import Run

MAX_FINDINGS = 20
MAX_FACTS = 12
MAX_SINGLES = 40

_STYLES = {Severity.BAD: "bold red", Severity.WARN: "yellow", Severity.INFO: "cyan"}
_WORDS = {Severity.BAD: "PROBLEM", Severity.WARN: "LOOK AT", Severity.INFO: "NOTE"}


def print_report(run: Run, console: Console) -> None:
    """Print a run: what stands out first, then the tables behind it."""
    _print_head(run, console)
    _print_findings(summary.ordered_findings(run), console)
    for part in parts():
        part.print(run, console)
    shown = {id(record) for part in parts() for record in part.shown(run)}
    singles = [record for record in run.records if id(record) not in shown]
    if singles:
        console.print()
        print_records(singles[:MAX_SINGLES], console)
        print_rest(len(singles) - MAX_SINGLES, "record", console)
    _print_facts(run, console)


def print_records(records: Sequence[Record], console: Console) -> None:
    """Print single measurements in full: value, interval, quantiles, replicates, verdict, telling counters."""
    heads: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        arm = record.phase if record.phase in ("A", "B") else ""
        heads.setdefault((arm, record.subject, cell_name(record)), []).append(record)
    for (arm, subject, cell), members in heads.items():
        head = f"{arm}  {subject_text(subject)}" if arm else subject_text(subject)
        say(console, Text.assemble((head, "bold"), f"  {printable(cell)}"))
        _print_single(members, console)


def _print_head(run: Run, console: Console) -> None:
    say(console, Text(printable(summary.headline(run)), style="bold"))
    state = summary.state(run)
    if state.warning:
        say(console, Text(f"! {printable(state.warning)}", style="yellow"))
    nodes, took = run_nodes(run), summary.duration(run)
    parts = [plural(len(nodes), "node"), plural(len(run.records), "record"), *([took] if took else [])]
    counts = verdict_counts(main_records(run.records))
    parts += [f"{count} {verdict}" for verdict, count in counts.items() if verdict is not Verdict.OK]
    say(console, Text(f"{', '.join(parts)}; {printable(run.id)}", style="dim"))


def _print_findings(findings: Sequence[Finding], console: Console) -> None:
    for finding in findings[:MAX_FINDINGS]:
        word = _WORDS[finding.severity]
        console.print()
        say(
            console,
            Text.assemble((word, _STYLES[finding.severity]), f"  {subject_text(finding.subject)}".rstrip()),
        )
        say(console, finding.text, indent=2)
        if finding.next_step:
            say(console, f"→ {finding.next_step}", indent=2)
    print_rest(len(findings) - MAX_FINDINGS, "finding", console)


def _print_single(records: Sequence[Record], console: Console) -> None:
    """All metrics of one cell: the main ones in a table, then the tail and the counters."""
    table = new_table("", "value", "interval", "replicates", "verdict", right=(1, 2, 3))
    for record in records:
        cover = confidence_text(record)
        interval = f"{interval_text(record)} ({cover})" if cover and record.low is not None else "–"
        table.add_row(
            Text(printable(metric_name(record.metric))), value_text(record), interval, str(record.replicates),
            verdict_cell(record),
        )  # fmt: skip
    console.print(Padding(table, (0, 0, 0, 2), expand=False), highlight=False)
    for record in records:
        tail = ", ".join(f"{name} {value}" for name, value in quantiles(record))
        if tail:
            say(console, f"single samples of {metric_name(record.metric)}: {tail}", indent=2)
    counted = {name: value for record in records for name, value in counters_of_interest(record)}
    if counted:
        shown = ", ".join(f"{name} {value:,.6g}" for name, value in counted.items())
        say(console, f"counters of both ends: {shown}", indent=2)
    for rule, text, step in (limit for record in records for limit in limits(record)):
        say(console, f"{rule}: {text}", indent=2)
        if step:
            say(console, f"→ {step}", indent=2)


def _print_facts(run: Run, console: Console) -> None:
    rows = fact_rows(run)
    judged = [row for row in rows if row.judged]
    for row in judged[:MAX_FACTS]:
        table = new_table("value", "nodes")
        for group in row.groups[:6]:
            text = group.text if group.known else f"– ({group.text})"
            table.add_row(Text(text), Text(printable(fold(group.nodes))))
        print_titled(f"{row.name} differs", table, console)
        print_rest(len(row.groups) - 6, "value", console)
    print_rest(len(judged) - MAX_FACTS, "deviating fact", console)
