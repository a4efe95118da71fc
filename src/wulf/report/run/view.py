"""The report of a run, in a terminal and on a page: what stands out, what each part shows, records, facts, method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from wulf.core.findings import EXPECTED, Evidence, Finding, Severity
from wulf.core.names import fold, natural, plural, subject_text
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
    verdict_text,
)
from wulf.report.kit.matrices import run_nodes, verdict_counts
from wulf.report.kit.outcomes import outcome_in
from wulf.report.kit.parts import Part, parts, whole_part
from wulf.report.kit.view import (
    Callout,
    Cell,
    Columns,
    Drawing,
    Element,
    Fold,
    Forest,
    Items,
    Note,
    Plot,
    Row,
    Section,
    View,
    walk,
)
from wulf.report.node.grid import readable
from wulf.report.run import summary
from wulf.report.run.facts import FactRow, fact_rows, value_text
from wulf.report.run.method import method, twelve_rules
from wulf.report.run.singles import singles
from wulf.store.run import Run

MAX_RECORDS = 400
"""Rows of the table of records: first all that are not ok, then in the order measured. The rest is in records.jsonl."""

CAVEATS = frozenset({"note", "noise", "coverage", "launch"})
"""Kinds of findings that say how far to trust the figures, rather than what was found."""

MAX_FINDINGS = 30
MAX_EVIDENCE = 12
MAX_VALUES = 12
"""Of one fact."""

SEVERITIES = {Severity.BAD: "Problem", Severity.WARN: "Look at", Severity.INFO: "Note"}


def report_view(run: Run, *, page: bool = True) -> View:
    """The report of a run: what a campaign, a search or an impact came to, where it is one of these."""
    outcome = outcome_in(run.path)
    return run_view(run, page=page) if outcome is None else outcome.page(outcome.read(run.path))


def run_headline(run: Run) -> str:
    """The one sentence that a person should take away, of whatever kind the run is."""
    outcome = outcome_in(run.path)
    return summary.headline(run) if outcome is None else outcome.view(outcome.read(run.path)).headline


def run_view(run: Run, *, page: bool = True) -> View:
    """All that was measured; without what only a page shows, and takes time to make, where it is for a terminal."""
    alone = whole_part(run)
    shown = {id(record) for part in parts() for record in part.shown(run)}
    others = singles([record for record in run.records if id(record) not in shown])
    without = not run.records and alone is not None and alone.without_records
    measured = [section for part in parts() for section in part.view(run)]
    if page:
        found = [_findings(run), *_as_fast_as_it_should_be(run)]
        sections = [*_picture_first(found, measured), *_caveats(run)]
        sections += [] if without else [_records(run, others)]
        sections += [_facts(run, alone, page=True), _method(run, alone)]
    else:
        sections = [_findings(run), *_as_fast_as_it_should_be(run), *measured, Section("", body=others)]
        sections += [_facts(run, alone, page=False), *_caveats(run)]
    return View(
        title=f"wulf {run.meta.get('command', 'run')}, {summary.started(run)}",
        headline=summary.headline(run),
        header=_header(run, run_nodes(run)),
        brief=_brief(run),
        warning=summary.state(run).warning,
        sections=sections,
        whole=f"wulf report {run.path} --full",
    )


def _picture_first(found: Sequence[Section], measured: Sequence[Section]) -> list[Section]:
    """What was found comes after the first section, where that has a chart: a picture is read before words."""
    drawn = any(isinstance(one, Drawing | Plot | Forest) for one in walk(measured[0].elements)) if measured else False
    return [*measured[:drawn], *found, *measured[drawn:]]


def _brief(run: Run) -> str:
    """How much was measured, in a line."""
    nodes, took = run_nodes(run), summary.duration(run)
    said = [plural(len(nodes), "node"), plural(len(run.records), "record"), *([took] if took else [])]
    counts = verdict_counts(main_records(run.records))
    said += [f"{count} {verdict}" for verdict, count in counts.items() if verdict is not Verdict.OK]
    return f"{', '.join(said)}; {run.id}"


def _header(run: Run, nodes: list[str]) -> list[tuple[str, str]]:
    code = summary.exit_code(run)
    took = summary.duration(run)
    return [
        ("Nodes", f"{len(nodes):,}: {fold(nodes)}" if nodes else "none"),
        ("Started", summary.started(run) + (f", took {took}" if took else "")),
        ("State", summary.state(run).name),
        ("Exit code", f"{code}, {summary.EXITS.get(code, 'not a code of wulf')}"),
        ("Records", f"{len(run.records):,}"),
        ("Run", run.id),
        ("Command", _command(run)),
        ("Version", f"wulf {run.meta.get('version', 'unknown')}"),
    ]


def _command(run: Run) -> str:
    argv = run.meta.get("argv")
    if isinstance(argv, list):
        words = [str(word) for word in argv]
        return " ".join(words if words[:1] == ["wulf"] else ["wulf", *words])
    return f"wulf {run.meta.get('command', '')}".strip()


def _caveats(run: Run) -> list[Section]:
    """What to beware of, folded: it must not stand before what was found."""
    found = [finding for finding in summary.ordered_findings(run) if finding.kind in CAVEATS]
    said = plural(len(found), "caveat")
    folded = Fold(said, [_finding(finding) for finding in found], paper=True, asked=said)
    return [Section("Caveats", key="caveats", link="Caveats", body=[folded])] if found else []


def _as_fast_as_it_should_be(run: Run) -> list[Section]:
    """Figures beside what the hardware allows, or what was published for it."""
    found = [finding for finding in summary.ordered_findings(run) if finding.kind == EXPECTED]
    rows: list[Row] = []
    for finding in found:
        least, about = finding.evidence[0], finding.about
        sign = f"{Severity.WARN.sign} " if about["slow"] else ""
        many = int(about["of"]) > 1
        where = f"least: {_figure(least.value, least.unit)} at {subject_text(least.subject)}" if many else ""
        rows.append((
            Cell(f"{sign}{least.measured}", small=[where] if where else []), Cell(f"{about['share']:.0%}", "strong"),
            f"of {_figure(least.expected, least.unit)}: {about['source']}",
        ))  # fmt: skip
    slow = [Note(f"{one.text} → {one.next_step}") for one in found if one.next_step]
    table = Columns(["Figure", "Reaches", "Of what it should be"], rows, tail=1)
    return [Section("As fast as it should be?", key="expected", link="Expected", body=[table, *slow])] if rows else []


def _findings(run: Run) -> Section:
    """What stands out, but for what sections of their own say."""
    told = {*CAVEATS, EXPECTED, *(kind for part in parts() for kind in part.told)}
    found = [finding for finding in summary.ordered_findings(run) if finding.kind not in told]
    body: list[Element | str] = [_finding(finding) for finding in found[:MAX_FINDINGS]]
    if len(found) > MAX_FINDINGS:
        body.append(Note(f"and {plural(len(found) - MAX_FINDINGS, 'more finding')} in findings.json"))
    none = [] if found else [Note("No finding: nothing measured here stands out.", reading=True)]
    return Section("Findings", key="findings", link="Findings", body=[*body, *none])


def _finding(finding: Finding) -> Callout:
    word, sign = SEVERITIES[finding.severity], finding.severity.sign
    shown = _evidence(finding)
    more = len(shown.rows) - MAX_EVIDENCE
    body: list[Element | str] = [Columns(shown.heads, shown.rows[:MAX_EVIDENCE], shown.words)] if shown.rows else []
    body += [Note(f"and {more} more in findings.json")] if more > 0 else []
    return Callout(
        str(finding.severity), sign, word, subject_text(finding.subject), [finding.text], finding.next_step, body
    )


def _evidence(finding: Finding) -> Columns:
    if finding.expected_of:
        return Columns(["Value", "Nodes"], _fact_evidence(finding), words=2)
    if any(one.threshold is not None for one in finding.evidence):
        rows: list[Row] = [(*_named(e), _figure(e.threshold, e.unit)) for e in finding.evidence]
        return Columns(["Where", "Metric", "Value", "Threshold"], rows, words=2)
    rows = [(*_named(e), _interval(e), _figure(e.expected, e.unit), _times(e)) for e in finding.evidence]
    return Columns(["Where", "Metric", "Value", "Interval", "The others", "Factor"], rows, words=2)


def _named(evidence: Evidence) -> tuple[str, str, Cell]:
    value = Cell(_figure(evidence.value, evidence.unit), "strong")
    return subject_text(evidence.subject), metric_name(evidence.metric), value


def _interval(evidence: Evidence) -> str:
    numeric = isinstance(evidence.value, int | float)
    return show_interval(evidence.low, evidence.high, evidence.unit) if numeric else "–"


def _times(evidence: Evidence) -> str:
    times = summary.times(evidence)
    return f"{times:.3g} ×" if times else "–"


def _figure(value: float | str | None, unit: str) -> str:
    return value if isinstance(value, str) else show(value, unit)


def _fact_evidence(finding: Finding) -> list[tuple[str, str]]:
    """Evidence of a fact has one entry a node: one row a value, the most common first, then what the others have."""
    nodes: dict[str, list[str]] = defaultdict(list)
    for evidence in finding.evidence:
        nodes[value_text(evidence.value, evidence.unit) if evidence.value is not None else "none"].append(
            evidence.subject
        )
    ordered = sorted(nodes.items(), key=lambda item: (-len(item[1]), natural(item[0])))
    expected = {value_text(e.expected, e.unit) for e in finding.evidence if e.expected is not None}
    others = [(value, finding.expected_of) for value in sorted(expected - set(nodes))]
    return [(value, fold(on)) for value, on in ordered] + others


def _facts(run: Run, alone: Part | None, *, page: bool) -> Section:
    rows = fact_rows(run)
    judged = [row for row in rows if row.judged]
    body: list[Element | str] = [_fact_table(judged)] if judged else []
    if page and not rows:
        body = ["No facts of the nodes were recorded."]
    elif page:
        differing = sum(row.differs for row in rows)
        by_right = ", some by right" if differing > len(judged) else ""
        found = f"{plural(len(rows), 'fact')} of {plural(len(run.fingerprint), 'node')}; {differing:,} differ{by_right}"
        none = (alone and alone.no_fact) or "No fact was found to deviate between nodes."
        body = [*(body or [none]), Fold(f"All {found}", [_fact_table(rows)])]
    return Section("Facts and deviations", key="facts", link="Facts", body=body)


def _fact_table(rows: Sequence[FactRow]) -> Columns:
    cells: list[Sequence[str | Cell]] = []
    for row in rows:
        head = Cell(row.name, small=["deviates" if row.judged else "differs"] if row.judged or row.differs else [])
        for group in row.groups[:MAX_VALUES]:
            value = group.text if group.known else Cell(f"– ({group.text})", "dim")
            cells.append((head, value, fold(group.nodes)))
        if len(row.groups) > MAX_VALUES:
            cells.append((head, f"and {len(row.groups) - MAX_VALUES} more values", ""))
    return Columns(["Fact", "Value", "Nodes"], cells, words=3, merged=True)


class RecordTable(Columns):
    """The table of records, whose rows can be filtered on a page."""

    scripts = ("filter.js",)


def _records(run: Run, others: Sequence[Element | str]) -> Section:
    """Those that no part shows, in full; then a table of all."""
    if not run.records:
        body: list[Element | str] = [Note("No record was written.", reading=True)]
    else:
        doubtful = {id(record) for record in main_records(run.records) if record.verdict is not Verdict.OK}
        shown = sorted(
            run.records, key=lambda record: (id(record) not in doubtful, record.phase not in ("whole", "halving"))
        )[:MAX_RECORDS]
        few, many = f"All {plural(len(run.records), 'record')}", f"{len(shown)} of {len(run.records):,} records"
        said = few if len(shown) == len(run.records) else f"{many}: those not ok first; all are in records.jsonl"
        table = RecordTable(
            ["Subject", "Phase", "What", "Metric", "Value", "Interval", "Cover", "Replicates", "Tail", "Verdict",
             "Limit", "Counters"],
            [_record(readable(record)) for record in shown], words=4, tail=4, key="record-table",
        )  # fmt: skip
        body = [*others, Fold(said, [table], printed=False)]
    return Section("Records", key="records", link="Records", body=body)


def _record(record: Record) -> Sequence[str | Cell]:
    counters = [f"{name} {value:,.6g}" for name, value in counters_of_interest(record, 4)]
    return (
        subject_text(record.subject), record.phase, cell_name(record), metric_name(record.metric),
        Cell(show(record.value, record.unit), "strong"), interval_text(record), confidence_text(record),
        str(record.replicates),
        ", ".join(f"{name} {value}" for name, value in quantiles(record) if name in ("p99", "p99.9")),
        Cell(verdict_text(record), str(record.verdict)), ", ".join(rule for rule, _, _ in limits(record)),
        ", ".join(counters),
    )  # fmt: skip


def _method(run: Run, alone: Part | None) -> Section:
    body: list[Element | str] = [Items(alone.method(run) if alone else method(run))]
    if not alone:
        rules = Items(twelve_rules(run), numbered=True)
        head = "The twelve rules of Hoefler and Belli (SC’15), answered for this run"
        body.append(Fold(head, [rules], printed=False, paper=True))
    return Section("Method", key="method", link="Method", body=body)
