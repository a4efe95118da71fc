"""HPCC's seven parts as one table: figures, shares of the peaks, and what is missing with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wulf.apps.hpcc import NAME, PARTS, SummaryFigure
from wulf.apps.linpack.peaks import KINDS, OfPeak
from wulf.core.records import Record
from wulf.report.kit.figures import interval_text, value_text, verdict_text
from wulf.report.kit.view import Cell, Columns, Element, Note

TITLES = {
    "HPL": "a dense system of equations", "DGEMM": "products of matrices", "PTRANS": "transposing over the network",
    "RandomAccess": "updates of random memory", "STREAM": "memory bandwidth", "FFT": "discrete Fourier transform",
    "b_eff": "latency and bandwidth between ranks",
}  # fmt: skip

RANKS = {"hpl.rate": False, "fft.mpi": False, "dgemm.star": True, "fft.star": True}
"""Rates that all ranks reach together, to be held against the nodes' peak → whether the figure is each rank's."""

SHARE = "share."


def hpcc_parts(records: Sequence[Record]) -> list[Element | str]:
    """The table of one subject's records, and what it lacks; nothing where they are not HPCC's."""
    if not records or records[0].params.get("pattern") != NAME:
        return []
    found = {record.metric: record for record in records}
    peaks = {kind: peak for kind in KINDS if (peak := _peak(found.get(SHARE + kind))) is not None}
    rows = [row for name, own in PARTS.items() for row in _part(name, own, found, records[0], peaks)]
    heads = ["Part", "Figure", "Value", "Interval", "Runs", "Verdict"]
    table = Columns(heads, rows, words=2, tail=1, merged=True, key="hpcc-parts")
    return [table, *map(Note, [*_doubts(found), *_notes(found)])]


def is_told(record: Record) -> bool:
    """Whether a record stands in that table, or below it: a part's figure, or a share that there is none of."""
    own = any(row.name == record.metric for rows in PARTS.values() for row in rows)
    return own or (record.metric.startswith(SHARE) and record.value is None)


def _part(
    name: str, rows: Sequence[SummaryFigure], found: Mapping[str, Record], main: Record, peaks: Mapping[str, float]
) -> list[tuple[str | Cell, ...]]:
    """A part's figures; those without a value below them, each reason once."""
    there = [row for row in rows if row.name in found and found[row.name].value is not None]
    lacking: dict[str, list[str]] = {}
    for row in rows:
        if row not in there:
            lacking.setdefault(_why(found.get(row.name), main), []).append(row.title)
    head = Cell(name, small=[TITLES[name]])
    return [
        *((head, *_row(row, found[row.name], peaks)) for row in there),
        *(
            (head, f"missing: {'all' if len(titles) == len(rows) else '; '.join(titles)}: {why}", "", "", "", "")
            for why, titles in lacking.items()
        ),
    ]


def _why(record: Record | None, main: Record) -> str:
    """Why a figure has no value: its own reason, else that of the whole run."""
    if record is not None and record.reason:
        return record.reason
    return main.reason if main.value is None and main.reason else "no run told it"


def _row(row: SummaryFigure, record: Record, peaks: Mapping[str, float]) -> tuple[str | Cell, ...]:
    value = Cell(value_text(record), "strong", small=_shares(row.name, record, peaks))
    return row.title, value, interval_text(record), str(record.replicates), Cell(str(record.verdict))


def _shares(name: str, record: Record, peaks: Mapping[str, float]) -> list[str]:
    """What share of the nodes' peaks all ranks together reach; none for what is no rate of theirs."""
    if name not in RANKS or record.value is None:
        return []
    ranks = record.number("ranks", 1) if RANKS[name] else 1.0
    return [f"all ranks: {100 * ranks * record.value / peak:.3g} % of the {kind} peak" for kind, peak in peaks.items()]


def _peak(record: Record | None) -> float | None:
    """flop/s of all nodes, as the record of a share has it."""
    return None if record is None else record.said(OfPeak)["peak"]


def _doubts(found: Mapping[str, Record]) -> list[str]:
    """Why figures that have a value are not ok; equal reasons together."""
    doubtful: dict[str, list[str]] = {}
    for name, rows in PARTS.items():
        for row in rows:
            record = found.get(row.name)
            if record is not None and record.value is not None and record.reason:
                doubtful.setdefault(verdict_text(record), []).append(f"{name}, {row.title}")
    return [f"{'; '.join(titles)}: {why}" for why, titles in doubtful.items()]


def _notes(found: Mapping[str, Record]) -> list[str]:
    """Peaks that are not known, and why; equal reasons together."""
    unknown: dict[str, list[str]] = {}
    for kind in KINDS:
        record = found.get(SHARE + kind)
        if _peak(record) is None:
            why = record.reason if record is not None and record.reason else "it was not measured"
            unknown.setdefault(why, []).append(kind)
    return [f"no share of the {' and '.join(kinds)} peak: {why}" for why, kinds in unknown.items()]
