"""The report in a terminal: 80 columns are enough, colour is never needed, nothing in a name is taken as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wulf.core.findings import Finding, Severity
from wulf.core.names import fold, plural, printable, subject_text
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_in
from wulf.report.app import runs as app
from wulf.report.kit.figures import (
    MARKS,
    MEANINGS,
    cell_name,
    confidence_text,
    counters_of_interest,
    interval_text,
    limits,
    main_records,
    metric_name,
    quantiles,
    usable,
    value_text,
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
    verdict_counts,
    without_value,
)
from wulf.report.mpi import farm as mpi_farm
from wulf.report.mpi import operations as mpi
from wulf.report.net.layers import LayerTable, doubtful, layer_records, layer_table, others, row_texts, unseen
from wulf.report.net.whole import HEADS, MOST_RECEIVERS, is_receivers, receiver_rows
from wulf.report.node.table import is_tabled, print_node_tables
from wulf.report.run import summary
from wulf.report.run.facts import fact_rows
from wulf.report.tune import audit
from wulf.store.run import Run

PARTS = frozenset({"pairs", "sweep", "anchor", "incast", "bisection", "halving", "alone"})
"""Phases whose records are shown as a matrix or curve, or are summed up by records of the whole."""

MAX_MATRIX_NODES = 16
"""The largest cluster whose matrix is printed; beyond, the ten worst pairs."""

MAX_FINDINGS = 20
MAX_FACTS = 12
MAX_REASONS = 6
MAX_SINGLES = 40

_STYLES = {Severity.BAD: "bold red", Severity.WARN: "yellow", Severity.INFO: "cyan"}
_WORDS = {Severity.BAD: "PROBLEM", Severity.WARN: "LOOK AT", Severity.INFO: "NOTE"}
_VERDICT_STYLES = {Verdict.OK: "", Verdict.NOISY: "yellow", Verdict.UNRESOLVED: "red", Verdict.FAILED: "red"}


def print_report(run: Run, console: Console) -> None:
    """Print a run: what stands out first, then the tables behind it."""
    _print_head(run, console)
    _print_findings(summary.ordered_findings(run), console)
    audit.print_audit(run, console)
    matrices = pair_matrices(run)
    for matrix in matrices:
        _print_matrix(matrix, console)
    if matrices:
        _print_legend(matrices, console)
    for curve in sweeps(run):
        _print_sweep(curve, console)
    print_node_tables(run, console)
    mpi.print_mpi_tables(run, console)
    mpi_farm.print_farm(run, console)
    app.print_apps(run, console)
    layers = layer_table(run)
    if layers:
        print_layers(layers, console)
    shown = {id(record) for record in layer_records(run.records)} if layers else set()
    _print_receivers(run, console)
    shown |= {id(record) for record in run.records if record.phase.split(" ")[0] in PARTS or is_receivers(record)}
    shown |= {id(record) for record in run.records if is_tabled(record) or mpi.is_tabled(record)}
    shown |= {id(record) for record in run.records if record.phase in mpi_farm.PHASES or app.is_app(record)}
    singles = [record for record in run.records if id(record) not in shown]
    if singles:
        console.print()
        print_records(singles[:MAX_SINGLES], console)
        _print_rest(len(singles) - MAX_SINGLES, "record", console)
    _print_facts(run, console)


def print_records(records: Sequence[Record], console: Console) -> None:
    """Print single measurements in full: value, interval, quantiles, replicates, verdict, telling counters."""
    heads: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        arm = record.phase if record.phase in ("A", "B") else ""
        heads.setdefault((arm, record.subject, cell_name(record)), []).append(record)
    for (arm, subject, cell), members in heads.items():
        head = f"{arm}  {subject_text(subject)}" if arm else subject_text(subject)
        _say(console, Text.assemble((head, "bold"), f"  {printable(cell)}"))
        _print_single(members, console)


def _say(console: Console, text: Text | str, indent: int = 0) -> None:
    """Print wrapped text without the blanks to its right that Rich's own padding leaves."""
    body = text if isinstance(text, Text) else Text(printable(text))
    for line in body.wrap(console, max(1, console.width - indent)):
        line.rstrip()
        console.print(Text(" " * indent) + line, highlight=False, soft_wrap=True)


def _print_rest(count: int, noun: str, console: Console) -> None:
    if count > 0:
        _say(console, f"and {plural(count, f'more {noun}')}", indent=2)


def _print_head(run: Run, console: Console) -> None:
    _say(console, Text(printable(summary.headline(run)), style="bold"))
    state = summary.state(run)
    if state.warning:
        _say(console, Text(f"! {printable(state.warning)}", style="yellow"))
    nodes, took = run_nodes(run), summary.duration(run)
    parts = [plural(len(nodes), "node"), plural(len(run.records), "record"), *([took] if took else [])]
    counts = verdict_counts(main_records(run.records))
    parts += [f"{count} {verdict}" for verdict, count in counts.items() if verdict is not Verdict.OK]
    _say(console, Text(f"{', '.join(parts)}; {printable(run.id)}", style="dim"))


def _print_findings(findings: Sequence[Finding], console: Console) -> None:
    for finding in findings[:MAX_FINDINGS]:
        word = _WORDS[finding.severity]
        console.print()
        _say(
            console,
            Text.assemble((word, _STYLES[finding.severity]), f"  {subject_text(finding.subject)}".rstrip()),
        )
        _say(console, finding.text, indent=2)
        if finding.next_step:
            _say(console, f"→ {finding.next_step}", indent=2)
    _print_rest(len(findings) - MAX_FINDINGS, "finding", console)


def _table(*heads: str, right: Iterable[int] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for index, head in enumerate(heads):
        table.add_column(Text(printable(head)), justify="right" if index in set(right) else "left")
    return table


def _print_titled(title: str, body: Table | Group, console: Console) -> None:
    console.print()
    _say(console, Text(printable(title), style="bold"))
    console.print(Padding(body, (0, 0, 0, 2), expand=False), highlight=False)


def _print_matrix(matrix: Matrix, console: Console) -> None:
    unit = matrix.scale[1]
    title = f"{matrix.title}{f' ({unit})' if unit and matrix.values else ''}"
    if matrix.directed:
        title += ", from row to column"
    if len(matrix.nodes) > MAX_MATRIX_NODES:
        _print_worst(matrix, console)
        return
    names = [printable(node) for node in matrix.nodes]
    numbered = max(map(len, names)) > 7
    heads = [str(number) for number in range(1, len(names) + 1)] if numbered else names
    labels = [f"{head} {name}" for head, name in zip(heads, names, strict=True)] if numbered else names
    cells = [[_cell(matrix, a, b) for b in matrix.nodes] for a in matrix.nodes]
    room = max(8, console.width // 2 - 4)
    labels = [label if len(label) <= room else f"{label[: room - 1]}…" for label in labels]
    width = 2 + max(len(text) for text in [*heads, *(cell.plain for row in cells for cell in row)])
    fit = max(1, (console.width - 4 - max(map(len, labels))) // width)
    for start in range(0, len(names), fit):
        stop = min(start + fit, len(names))
        table = _table("", *heads[start:stop], right=range(1, stop - start + 1))
        for label, row in zip(labels, cells, strict=True):
            table.add_row(Text(label), *row[start:stop])
        part = f", columns {heads[start]} to {heads[stop - 1]}" if fit < len(names) else ""
        _print_titled(title + part, table, console)


def _cell(matrix: Matrix, a: str, b: str) -> Text:
    record = matrix.get(a, b)
    if record is None:
        return Text("·" if a == b else "–", style="dim")
    figure = show_in(record.value, matrix.scale[0]) if record.value is not None else ""
    return Text(f"{MARKS[record.verdict]}{figure}", style=_VERDICT_STYLES[record.verdict])


def _print_worst(matrix: Matrix, console: Console) -> None:
    table = _table("pair", "value", "interval", "verdict", right=(1, 2))
    for pair, record in matrix.worst(10):
        table.add_row(
            Text(printable(arrow(matrix, *pair))), value_text(record), interval_text(record), _verdict(record)
        )
    count = plural(len(matrix.cells), "pair")
    _print_titled(f"{matrix.title}: the slowest of {count} ({matrix.expected:,} to measure)", table, console)


def _print_receivers(run: Run, console: Console) -> None:
    rows = receiver_rows(run.records)
    if not rows:
        return
    table = _table(*HEADS, right=range(1, len(HEADS)))
    for row in rows[:MOST_RECEIVERS]:
        table.add_row(*row)
    _print_titled("Incast: from many senders to one node", table, console)
    _print_rest(len(rows) - MOST_RECEIVERS, "receiver", console)


def _verdict(record: Record) -> Text:
    return Text(printable(verdict_text(record)), style=_VERDICT_STYLES[record.verdict])


def _print_legend(matrices: Sequence[Matrix], console: Console) -> None:
    """Explain the marks that were printed, and no other; then say why values are missing."""
    if all(len(matrix.nodes) > MAX_MATRIX_NODES for matrix in matrices):
        return
    marked = [(m, pair, r) for m in matrices for pair, r in m.cells.items() if r.verdict is not Verdict.OK]
    verdicts = [verdict for verdict in Verdict if any(r.verdict is verdict for _, _, r in marked)]
    words = [f"{MARKS[verdict]} {verdict}: {MEANINGS[verdict]}" for verdict in verdicts]
    if any(len(matrix.cells) < matrix.expected for matrix in matrices):
        words.append("– not measured")
    if words:
        console.print()
    for word in words:
        _say(console, Text(word, style="dim"), indent=2)
    reasons: dict[tuple[str, str], list[str]] = {}
    for matrix, pair, record in marked:
        if usable(record):
            continue
        places = reasons.setdefault((MARKS[record.verdict], record.reason or ""), [])
        places.append(f"{matrix.title}, {arrow(matrix, *pair)}")
    for (mark, reason), places in list(reasons.items())[:MAX_REASONS]:
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        _say(console, f"{mark} {places[0]}{more}: {reason}", indent=2)
    _print_rest(len(reasons) - MAX_REASONS, "reason", console)


def _print_sweep(curve: Sweep, console: Console) -> None:
    timed = curve.metric == "rtt"
    heads = ["bytes", metric_name(curve.metric), "interval", *(["bandwidth"] if timed else []), "verdict"]
    table = _table(*heads, right=range(len(heads) - 1))
    for point in curve.points:
        rate = effective_bandwidth(point)
        row = [show(point.bytes, "B"), value_text(point.record), interval_text(point.record)]
        row += [show(rate.value if rate else None, "B/s")] if timed else []
        table.add_row(*row, Text(str(point.record.verdict), style=_VERDICT_STYLES[point.record.verdict]))
    _print_titled(f"Over message size, {curve.label}", table, console)
    for sizes, verdict, reason in without_value(curve):
        _say(console, f"{MARKS[verdict]} {sizes}: {reason}", indent=2)


def print_layers(table: LayerTable, console: Console) -> None:
    """Print layers from the bottom up, in microseconds, with what each adds to the one below."""
    body = _table("layer", "round trip", "interval", "adds", "interval", right=range(1, 5))
    for row in table.rows:
        name, *figures = row_texts(row)
        body.add_row(Text(name), Text(figures[0], style=_VERDICT_STYLES[row.record.verdict]), *map(Text, figures[1:]))
    _print_titled(f"Layers, {table.subject}, {show(table.bytes, 'B')}, bottom up (µs)", body, console)
    for line in [*others(table), *unseen(table), *doubtful(table)]:
        _say(console, line, indent=2)


def _print_single(records: Sequence[Record], console: Console) -> None:
    """All metrics of one cell: the main ones in a table, then the tail and the counters."""
    table = _table("", "value", "interval", "replicates", "verdict", right=(1, 2, 3))
    for record in records:
        cover = confidence_text(record)
        interval = f"{interval_text(record)} ({cover})" if cover and record.low is not None else "–"
        table.add_row(
            Text(printable(metric_name(record.metric))), value_text(record), interval, str(record.replicates),
            _verdict(record),
        )  # fmt: skip
    console.print(Padding(table, (0, 0, 0, 2), expand=False), highlight=False)
    for record in records:
        tail = ", ".join(f"{name} {value}" for name, value in quantiles(record))
        if tail:
            _say(console, f"single samples of {metric_name(record.metric)}: {tail}", indent=2)
    counted = {name: value for record in records for name, value in counters_of_interest(record)}
    if counted:
        shown = ", ".join(f"{name} {value:,.6g}" for name, value in counted.items())
        _say(console, f"counters of both ends: {shown}", indent=2)
    for rule, text, step in (limit for record in records for limit in limits(record)):
        _say(console, f"{rule}: {text}", indent=2)
        if step:
            _say(console, f"→ {step}", indent=2)


def _print_facts(run: Run, console: Console) -> None:
    rows = fact_rows(run)
    judged = [row for row in rows if row.judged]
    for row in judged[:MAX_FACTS]:
        table = _table("value", "nodes")
        for group in row.groups[:6]:
            text = group.text if group.known else f"– ({group.text})"
            table.add_row(Text(text), Text(printable(fold(group.nodes))))
        _print_titled(f"{row.name} differs", table, console)
        _print_rest(len(row.groups) - 6, "value", console)
    _print_rest(len(judged) - MAX_FACTS, "deviating fact", console)
