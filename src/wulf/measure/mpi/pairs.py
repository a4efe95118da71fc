"""All pairs of nodes from all pairs of ranks: matrices of round trips as one record a pair. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Annotated, Any

from pydantic import AfterValidator
from typing_extensions import TypedDict

from wulf.core.errors import UsageError
from wulf.core.records import CHANGED, Provenance, Record, Verdict, info_as
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import MPI

PHASE, METRIC = "pairs", "rtt"

Pair = tuple[str, str]


def _triangle(rows: list[list[float]]) -> list[list[float]]:
    """Rows as they are; ValueError where they are not the upper half of a square."""
    if [len(row) for row in rows] != list(range(len(rows), 0, -1)):
        raise ValueError("its rows are not the upper half of a square")
    return rows


class _Matrix(TypedDict, total=False):
    matrix: Annotated[list[list[float]], AfterValidator(_triangle)] | None


def matrix_of(replicate: Replicate) -> Sequence[Sequence[float]]:
    """The upper half, row by row, in seconds: rank a's row holds a+1, a+2, …; empty where the replicate failed."""
    if not replicate["ok"]:
        return ()
    return info_as(_Matrix, replicate.get("info"), "a replicate of all pairs of ranks").get("matrix") or ()


def node_pairs(places: Sequence[str]) -> dict[Pair, list[tuple[int, int]]]:
    """Pair of nodes → the pairs of ranks between them, in the order of the ranks; two ranks of one node: that twice."""
    order = {node: number for number, node in reversed(list(enumerate(places)))}
    found: dict[Pair, list[tuple[int, int]]] = {}
    for a, b in combinations(range(len(places)), 2):
        first, second = sorted((places[a], places[b]), key=order.__getitem__)
        found.setdefault((first, second), []).append((a, b))
    return found


def pair_samples(replicates: Sequence[Replicate], places: Sequence[str]) -> Iterator[tuple[Pair, list[float]]]:
    """For each pair of nodes one round trip a replicate [s]: the median over the pairs of ranks between them.

    Nothing where no replicate was answered.
    """
    matrices = [matrix for matrix in map(matrix_of, replicates) if matrix]
    if not matrices:
        return
    odd = next((len(matrix) + 1 for matrix in matrices if len(matrix) + 1 != len(places)), None)
    if odd is not None:
        raise UsageError(f"a replicate of all pairs of ranks is of {odd} ranks, the run of {len(places)}", CHANGED)
    for pair, ranks in node_pairs(places).items():
        yield pair, [median(matrix[a][b - a - 1] for a, b in ranks) for matrix in matrices]


def pair_records(
    cell: Cell, replicates: Sequence[Replicate], places: Sequence[str], plan: Plan, run: str, *, at: str
) -> list[Record]:
    """One record a pair of nodes, with the interval of the plan's rule; nothing where no replicate was answered."""
    return [_record(cell, pair, samples, plan, run=run, at=at) for pair, samples in pair_samples(replicates, places)]


def _record(cell: Cell, pair: Pair, samples: Sequence[float], plan: Plan, *, run: str, at: str) -> Record:
    found = plan.rule.estimate(samples)
    wide = found.width is not None and found.width > plan.width
    noisy = f"interval {found.width:.1%} wide after {found.n} replicates, requested {plan.width:.1%}" if wide else None
    content: Mapping[str, Any] = {
        "run": run, "subject": ">".join(pair), "probe": MPI, "metric": METRIC, "unit": "s",
        "params": {"pattern": "pingpong", **cell.params, **cell.about},
        "value": found.value, "low": found.low, "high": found.high, "confidence": found.confidence,
        "statistic": "median" if found.value is not None else None, "replicates": found.n,
        "verdict": Verdict.UNRESOLVED if found.value is None else Verdict.NOISY if wide else Verdict.OK,
        "reason": found.reason or noisy, "provenance": Provenance.MEASURED,
        "samples": list(samples), "at": at, "phase": PHASE,
    }  # fmt: skip
    return Record.model_validate(content)
