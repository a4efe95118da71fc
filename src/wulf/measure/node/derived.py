"""Rows of the node survey that follow from measured ones, and the records of rows that have no figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.records import Provenance, Record, Verdict
from wulf.measure.engine.disturbance import clock_ends
from wulf.measure.engine.probes import NODE
from wulf.measure.node.cells import Lack
from wulf.measure.node.edges import edge_records
from wulf.measure.node.rows import ROW, Row, curves_of, rows_of, table
from wulf.stats.stopping import settled_median
from wulf.store.run import Facts, utc_now

CLOCK, PARALLELISM = "cpu.clock", "mem.parallelism"

LEAST_CELLS = 6
"""Of fewer, the median clock rate has no interval."""


def derived_records(records: Sequence[Record], fingerprint: Mapping[str, Facts], run: str) -> list[Record]:
    """Clock rate, parallelism and cache sizes of every node that has what they follow from."""
    return [*_clocks(records, run), *_parallelism(records, run), *_sizes(records, fingerprint, run)]


def _sizes(records: Sequence[Record], fingerprint: Mapping[str, Facts], run: str) -> list[Record]:
    """The caches' edges, each as the row of its level; those that are no cache's stand in no row."""
    names = table().by_name
    found = []
    for record in edge_records(records, fingerprint, run):
        row = f"mem.{record.params.get('level')}.size"
        more: dict[str, Any] = {"row": row} if row in names else {}
        if record.verdict is Verdict.UNRESOLVED:
            more |= {"supported": False}  # that no edge is told apart is an answer, and no gap in the run
        found.append(record.model_copy(update={"phase": ROW} | more))
    return found


def _clocks(records: Sequence[Record], run: str) -> list[Record]:
    """The median over a node's cells of the rate found before each: what programs had while all this was measured."""
    rates: dict[str, list[float]] = {}
    for record in records:
        before, _ = clock_ends(record.info)
        if record.probe == NODE and record.stopped is not None and before:  # a cell's other metrics tell the same again
            rates.setdefault(record.subject, []).append(before)
    row = table().by_name[CLOCK]
    found = []
    for node, samples in rates.items():
        if len(samples) >= LEAST_CELLS:
            estimate = settled_median(samples)
            found.append(
                _record(
                    run, node, row, value=estimate.value, low=estimate.low, high=estimate.high,
                    confidence=estimate.confidence, statistic="median", replicates=len(samples),
                )
            )  # fmt: skip
    return found


def _parallelism(records: Sequence[Record], run: str) -> list[Record]:
    """How many times faster loads are when several chains are walked at once than when one is, at best.

    The interval is that of the worst case at both ends, hence wider than need be.
    """
    row = table().by_name[PARALLELISM]
    found = []
    for node, curves in curves_of(records).items():
        points = [point for point in curves.get("mem.chains", []) if point.value]
        alone = next((point for point in points if point.params.get("chains") == 1), None)
        if alone is None or not alone.value or len(points) < 2:
            continue
        best = min(points, key=lambda point: point.value or 0.0)
        bounds = [alone.low, best.high, alone.high, best.low]
        low, high = (alone.low / best.high, alone.high / best.low) if all(bounds) else (None, None)  # type: ignore[operator]
        found.append(
            _record(
                run, node, row, value=alone.value / (best.value or alone.value), low=low, high=high,
                confidence=alone.confidence, params={"chains": best.params["chains"]}, replicates=best.replicates,
            )
        )  # fmt: skip
    return found


def _record(run: str, node: str, row: Row, params: dict[str, Any] | None = None, **figures: Any) -> Record:
    return Record(
        run=run, subject=node, probe=row.program, metric=row.metric, unit=row.unit,
        params={"pattern": row.probe or "derived", **(params or {})}, provenance=Provenance.MEASURED,
        at=utc_now(), **{"verdict": Verdict.OK, "phase": ROW, "row": row.name, **figures},
    )  # fmt: skip


def lacking_records(
    records: Sequence[Record], lacks: Sequence[Lack], wanted: Sequence[str], nodes: Sequence[str], run: str
) -> list[Record]:
    """A null record with its reason for every wanted row of a node that has none, so that no row is ever missing."""
    there = rows_of(records)
    reasons = {(lack.node, lack.row.name): lack.reason for lack in lacks}
    rows = table().by_name
    return [
        _record(
            run, node, rows[name], dict(rows[name].params), value=None, verdict=Verdict.UNRESOLVED, supported=False,
            reason=reasons.get((node, name), _why_none(rows[name])),
        )
        for node in nodes
        for name in wanted
        if name not in there.get(node, {})
    ]  # fmt: skip


def _why_none(row: Row) -> str:
    if row.derived:
        return "the figures that it follows from were not measured"
    return f"{row.probe} gave no figure of the kind"
