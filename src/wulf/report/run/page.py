"""What the HTML report says, section by section, as plain text for the template to lay out."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import fold, natural, plural, printable, subject_text
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_in, show_interval
from wulf.report.app.runs import app_section
from wulf.report.kit.charts import LEAST_SPAN, MAX_HEAT_NODES, Chart, pair_chart, sweep_charts
from wulf.report.kit.figures import (
    MARKS,
    cell_name,
    confidence_text,
    counters_of_interest,
    interval_text,
    limits,
    main_records,
    metric_name,
    quantiles,
    verdict_text,
)
from wulf.report.kit.matrices import (
    Matrix,
    Sweep,
    arrow,
    effective_bandwidth,
    pair_matrices,
    run_nodes,
    sweeps,
    without_value,
)
from wulf.report.mpi.operations import mpi_section
from wulf.report.net.layers import layer_section
from wulf.report.node.grid import readable
from wulf.report.node.page import node_section
from wulf.report.run import summary
from wulf.report.run.facts import FactRow, fact_rows, value_text
from wulf.report.run.method import Item, method, twelve_rules
from wulf.report.tune.audit import METHOD, audit_section, is_audit
from wulf.store.run import Run

MAX_RECORDS = 400
"""Rows of the table of records: first all that are not ok, then in the order measured. The rest is in records.jsonl."""

MAX_FINDINGS = 40
MAX_EVIDENCE = 12
MAX_TABLE_NODES = 16
"""The largest cluster whose matrix is also written out as a table; beyond, the worst ten pairs."""

SEVERITIES = {Severity.BAD: ("Problem", "▲"), Severity.WARN: ("Look at", "◆"), Severity.INFO: ("Note", "●")}

LIKE_FACTS = frozenset({"fact", "setting", "startup", "drift", "security"})
"""Kinds of finding whose evidence is a value and who has it, no figure with an interval."""

OTHERS = {"startup": "after a reboot", "drift": "in the baseline"}
"""Who has the value that was expected, by kind; else it is the other nodes."""

Context = dict[str, Any]


def page(run: Run) -> Context:
    """The whole page but styles and scripts."""
    nodes = run_nodes(run)
    matrices, curves = pair_matrices(run), sweeps(run)
    state = summary.state(run)
    why_absent = "not measured" if not state.warning else f"not measured: the run is {state.name}"
    layers, layer_charts = layer_section(run)
    node, node_charts = node_section(run)
    mpi, mpi_charts = mpi_section(run)
    charts = [pair_chart(matrix, why_absent) for matrix in matrices] + sweep_charts(curves)
    charts += layer_charts + node_charts + mpi_charts
    return {
        "title": f"wulf {run.meta.get('command', 'run')}, {summary.started(run)}",
        "headline": _unbroken(printable(summary.headline(run))),
        "warning": state.warning,
        "header": _header(run, nodes),
        "findings": [_finding(finding) for finding in summary.ordered_findings(run)[:MAX_FINDINGS]],
        "more_findings": max(0, len(run.findings) - MAX_FINDINGS),
        "pairs": [_pairs(matrix) for matrix in matrices],
        "least_span": f"{LEAST_SPAN:g}",
        "directed_pairs": any(matrix.directed for matrix in matrices),
        "large_pairs": any(len(matrix.nodes) > MAX_TABLE_NODES for matrix in matrices),
        "sweep": _sweep(curves, charts),
        "layers": layers,
        "node": node,
        "apps": app_section(run),
        "mpi": mpi,
        "audit": audit_section(run),
        "facts": _facts(run),
        "records": _records(run),
        "method": [Item(head, text) for head, text in METHOD] if is_audit(run) else method(run),
        "rules": [] if is_audit(run) else twelve_rules(run),
        "charts": charts,
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
    rows = _fact_evidence(finding) if finding.kind in LIKE_FACTS else [_evidence(e) for e in finding.evidence]
    return {
        "severity": str(finding.severity),
        "word": word,
        "sign": sign,
        "subject": subject_text(finding.subject),
        "text": printable(finding.text),
        "next_step": printable(finding.next_step),
        "is_fact": finding.kind in LIKE_FACTS,
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
    others = OTHERS.get(finding.kind, "the others")
    return rows + [{"value": value, "nodes": others} for value in sorted(expected - set(nodes))]


def _pairs(matrix: Matrix) -> Context:
    small = len(matrix.nodes) <= MAX_TABLE_NODES
    divisor, unit = matrix.scale
    values = matrix.values
    return {
        "id": matrix.key,
        "title": matrix.title,
        "unit": unit,
        "directed": matrix.directed,
        "summary": _pairs_summary(matrix),
        "heat": len(matrix.nodes) <= MAX_HEAT_NODES,
        "limit": MAX_HEAT_NODES,
        "nodes": [printable(node) for node in matrix.nodes],
        "rows": [(printable(a), [_cell(matrix, a, b, divisor) for b in matrix.nodes]) for a in matrix.nodes if small],
        "worst": [] if small else [_worst(matrix, pair, record) for pair, record in matrix.worst()],
        "empty": not values,
    }


def _pairs_summary(matrix: Matrix) -> str:
    values = matrix.values
    spread = f"{show(min(values), matrix.unit)} to {show(max(values), matrix.unit)}" if values else "no value"
    parts = [f"{len(values):,} of {plural(matrix.expected, 'pair')}", spread]
    noisy = sum(record.verdict is Verdict.NOISY for record in matrix.cells.values())
    if noisy:
        parts.append(f"{noisy:,} noisy")
    return ", ".join(parts)


def _cell(matrix: Matrix, a: str, b: str, divisor: float) -> Context:
    record = matrix.get(a, b)
    if record is None:
        return {"text": "" if a == b else "–", "title": "" if a == b else "not measured", "verdict": ""}
    return {
        "text": f"{MARKS[record.verdict]}{show_in(record.value, divisor)}",
        "title": f"{interval_text(record)}, {verdict_text(record)}",
        "verdict": str(record.verdict),
    }


def _worst(matrix: Matrix, pair: tuple[str, str], record: Record) -> Context:
    return {
        "pair": printable(arrow(matrix, *pair)),
        "value": show(record.value, record.unit),
        "interval": interval_text(record),
        "verdict": printable(verdict_text(record)),
    }


def _sweep(curves: list[Sweep], charts: list[Chart]) -> Context:
    rows = []
    for curve in curves:
        for point in curve.points:
            effective = effective_bandwidth(point)
            rows.append(
                {
                    "curve": printable(curve.label),
                    "size": show(point.bytes, "B"),
                    "value": show(point.record.value, curve.unit),
                    "interval": interval_text(point.record),
                    "bandwidth": show(effective.value if effective else None, "B/s"),
                    "replicates": point.record.replicates,
                    "verdict": printable(verdict_text(point.record)),
                }
            )
    names = {
        "sweep-rtt": "Round trip over size",
        "sweep-bandwidth": "Effective bandwidth over size",
        "sweep-stream": "Bandwidth over size",
    }
    return {
        "charts": [{"id": c["id"], "title": names[c["id"]]} for c in charts if c["id"] in names],
        "labels": ", ".join(sorted({printable(curve.label) for curve in curves})),
        "rows": rows,
        "missing": [printable(f"{sizes}: {reason}") for curve in curves for sizes, _, reason in without_value(curve)],
    }


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
