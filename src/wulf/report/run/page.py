"""What the HTML report says, section by section, as plain text for the template to lay out."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import fold, natural, printable, subject_text
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_interval
from wulf.report.kit.figures import (
    cell_name,
    confidence_text,
    counters_of_interest,
    interval_text,
    limits,
    main_records,
    metric_name,
    quantiles,
)
from wulf.report.kit.matrices import run_nodes
from wulf.report.kit.parts import parts, whole_part
from wulf.report.node.grid import readable
from wulf.report.run import summary
from wulf.report.run.facts import FactRow, fact_rows, value_text
from wulf.report.run.method import method, twelve_rules
from wulf.store.run import Run

MAX_RECORDS = 400
"""Rows of the table of records: first all that are not ok, then in the order measured. The rest is in records.jsonl."""

MAX_FINDINGS = 40
MAX_EVIDENCE = 12
SEVERITIES = {Severity.BAD: ("Problem", "▲"), Severity.WARN: ("Look at", "◆"), Severity.INFO: ("Note", "●")}

Context = dict[str, Any]


def page(run: Run) -> Context:
    """The whole page but styles and scripts."""
    blocks = [block for part in parts() if (block := part.block(run)) is not None]
    alone = whole_part(run)
    return {
        "title": f"wulf {run.meta.get('command', 'run')}, {summary.started(run)}",
        "headline": _unbroken(printable(summary.headline(run))),
        "warning": summary.state(run).warning,
        "header": _header(run, run_nodes(run)),
        "findings": [_finding(finding) for finding in summary.ordered_findings(run)[:MAX_FINDINGS]],
        "more_findings": max(0, len(run.findings) - MAX_FINDINGS),
        "blocks": blocks,
        "facts": {**_facts(run), "none": (alone and alone.no_fact) or "No fact was found to deviate between nodes."},
        "records": {
            **_records(run),
            "open": not any(block.covers_records for block in blocks),
            "hidden": not run.records and alone is not None and alone.without_records,
        },
        "method": list(alone.method(run)) if alone else method(run),
        "rules": [] if alone else twelve_rules(run),
        "charts": [chart for block in blocks for chart in block.charts],
    }


def _unbroken(text: str) -> str:
    """Text whose figures stay on one line with their units."""
    return re.sub(r"(?<=\d) (?=[^\W\d])", "\u00a0", text)


def _header(run: Run, nodes: list[str]) -> list[tuple[str, str]]:
    code = summary.exit_code(run)
    took = summary.duration(run)
    pairs = [
        ("Nodes", f"{len(nodes):,}: {fold(nodes)}" if nodes else "none"),
        ("Started", summary.started(run) + (f", took {took}" if took else "")),
        ("State", summary.state(run).name),
        ("Exit code", f"{code}, {summary.EXITS.get(code, 'not a code of wulf')}"),
        ("Records", f"{len(run.records):,}"),
        ("Run", run.id),
        ("Command", _command(run)),
        ("Version", f"wulf {run.meta.get('version', 'unknown')}"),
    ]
    return [(name, printable(text)) for name, text in pairs]


def _command(run: Run) -> str:
    argv = run.meta.get("argv")
    if isinstance(argv, list):
        words = [str(word) for word in argv]
        return " ".join(words if words[:1] == ["wulf"] else ["wulf", *words])
    return f"wulf {run.meta.get('command', '')}".strip()


def _finding(finding: Finding) -> Context:
    word, sign = SEVERITIES[finding.severity]
    rows = _fact_evidence(finding) if finding.expected_of else [_evidence(e) for e in finding.evidence]
    return {
        "severity": str(finding.severity),
        "word": word,
        "sign": sign,
        "subject": subject_text(finding.subject),
        "text": printable(finding.text),
        "next_step": printable(finding.next_step),
        "is_fact": bool(finding.expected_of),
        "by_threshold": any(one.threshold is not None for one in finding.evidence),
        "evidence": rows[:MAX_EVIDENCE],
        "more": max(0, len(rows) - MAX_EVIDENCE),
    }


def _evidence(evidence: Evidence) -> Context:
    numeric = isinstance(evidence.value, int | float)
    times = summary.times(evidence)
    return {
        "subject": subject_text(evidence.subject),
        "metric": printable(metric_name(evidence.metric)),
        "value": _figure(evidence.value, evidence.unit),
        "interval": show_interval(evidence.low, evidence.high, evidence.unit) if numeric else "–",
        "expected": _figure(evidence.expected, evidence.unit),
        "threshold": _figure(evidence.threshold, evidence.unit),
        "times": f"{times:.3g} ×" if times else "–",
    }


def _figure(value: float | str | None, unit: str) -> str:
    return printable(value) if isinstance(value, str) else show(value, unit)


def _fact_evidence(finding: Finding) -> list[Context]:
    """Evidence of a fact has one entry a node: one row a value, the most common first, then what the others have."""
    nodes: dict[str, list[str]] = defaultdict(list)
    for evidence in finding.evidence:
        nodes[value_text(evidence.value, evidence.unit) if evidence.value is not None else "none"].append(
            evidence.subject
        )
    ordered = sorted(nodes.items(), key=lambda item: (-len(item[1]), natural(item[0])))
    rows = [{"value": printable(value), "nodes": printable(fold(on))} for value, on in ordered]
    expected = {value_text(e.expected, e.unit) for e in finding.evidence if e.expected is not None}
    return rows + [{"value": value, "nodes": finding.expected_of} for value in sorted(expected - set(nodes))]


def _facts(run: Run) -> Context:
    rows = fact_rows(run)
    judged = [row for row in rows if row.judged]
    return {
        "count": len(rows),
        "nodes": len(run.fingerprint),
        "differing": sum(row.differs for row in rows),
        "deviating": [_fact(row) for row in judged],
        "rows": [_fact(row) for row in rows],
    }


def _fact(row: FactRow) -> Context:
    groups = [
        {"text": group.text, "nodes": printable(fold(group.nodes)), "known": group.known} for group in row.groups[:12]
    ]
    return {
        "name": printable(row.name),
        "groups": groups,
        "more": max(0, len(row.groups) - 12),
        "mark": "deviates" if row.judged else "differs" if row.differs else "",
    }


def _records(run: Run) -> Context:
    doubtful = {id(record) for record in main_records(run.records) if record.verdict is not Verdict.OK}
    shown = sorted(
        run.records, key=lambda record: (id(record) not in doubtful, record.phase not in ("whole", "halving"))
    )[:MAX_RECORDS]
    return {"total": len(run.records), "shown": len(shown), "rows": [_record(readable(record)) for record in shown]}


def _record(record: Record) -> Context:
    counters = [f"{name} {value:,.6g}" for name, value in counters_of_interest(record, 4)]
    return {
        "subject": subject_text(record.subject),
        "phase": printable(record.phase),
        "cell": printable(cell_name(record)),
        "metric": printable(metric_name(record.metric)),
        "value": show(record.value, record.unit),
        "interval": interval_text(record),
        "confidence": confidence_text(record),
        "replicates": record.replicates,
        "tail": ", ".join(f"{name} {value}" for name, value in quantiles(record) if name in ("p99", "p99.9")),
        "verdict": str(record.verdict),
        "reason": printable(record.reason or ""),
        "counters": printable(", ".join(counters)),
        "limits": printable(", ".join(rule for rule, _, _ in limits(record))),
    }
