"""Figures of what was measured at the same time: sums and shares over the cells of a wave, as records. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.plan import Plan
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import median_interval
from wulf.stats.stopping import StoppingRule
from wulf.store.run import utc_now
from wulf.workflow.engine.effort import Effort

WHOLE = "whole"
"""The phase of records that are of a whole wave, or of all of them."""

CLUSTER = "cluster"
"""Their subject where they are about no node in particular."""


def rule_of(effort: Effort) -> StoppingRule:
    """The rule by which the runner ended the waves: it describes their sums, too."""
    return Plan((), 0, effort.width, looks=effort.looks, watch=effort.watch).rule


def by_wave(records: Sequence[Record], metric: str = "throughput") -> dict[int, list[Record]]:
    """Wave → the records of one metric of its cells."""
    found: dict[int, list[Record]] = {}
    for record in records:
        wave = record.params.get("wave")
        if isinstance(wave, int) and record.metric == metric:
            found.setdefault(wave, []).append(record)
    return found


def shares(members: Sequence[Record]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Shape (blocks, cells): each cell's value in the blocks in which all have one."""
    values = [dict(zip(member.blocks, member.samples, strict=False)) for member in members]
    common = sorted(set(values[0]).intersection(*values[1:])) if values else []
    return np.array([[value[block] for value in values] for block in common], dtype=float).reshape(
        len(common), len(values)
    )


def jain(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[float]:
    """Jain's index of each row: 1 when all have the same, 1/n when one has everything.

    Jain, Chiu & Hawe, DEC-TR-301 (1984). A row of zeros has none, and is left out.
    """
    squares = values.shape[1] * np.square(values).sum(axis=1)
    told = squares > 0
    return [float(x) for x in np.square(values.sum(axis=1))[told] / squares[told]]


def ratio(a: Estimate, b: Estimate) -> Estimate:
    """a by b, with an interval that is wrong no more often than the two together: Bonferroni, whatever they share."""
    if None in (a.value, a.low, a.high, b.value, b.low, b.high) or not b.low:
        return Estimate.unresolved(min(a.n, b.n), "a ratio needs two figures with intervals above zero")
    assert a.value is not None and a.low is not None and a.high is not None  # noqa: S101 - just looked at
    assert b.value is not None and b.high is not None  # noqa: S101
    error = (1 - (a.confidence or 0)) + (1 - (b.confidence or 0))
    return Estimate(a.value / b.value, a.low / b.high, a.high / b.low, max(0.0, 1 - error), min(a.n, b.n))


def pooled(records: Sequence[Record]) -> Estimate:
    """The median over all replicates of several cells."""
    return median_interval([sample for record in records for sample in record.samples])


@dataclass(frozen=True)
class Scribe:
    """Writes records of whole waves.

    Attributes
    ----------
    run
        Identifier of the run.
    params
        What all of them have in common.
    width
        Relative width that intervals were requested to have.
    """

    run: str
    params: Mapping[str, Param]
    width: float

    def record(
        self, subject: str, metric: str, unit: str, estimate: Estimate, *, statistic: str = "median",
        samples: Sequence[float] = (), requested: bool = False, phase: str = WHOLE, **params: Param,
    ) -> Record:  # fmt: skip
        """A record of an estimate; only where `requested` is its interval held to the width."""
        noisy = requested and estimate.width is not None and estimate.width > self.width
        wide = f"interval {estimate.width or 0:.1%} wide after {estimate.n} replicates, requested {self.width:.1%}"
        none = estimate.value is None
        return Record(
            run=self.run, subject=subject, probe="net", metric=metric, unit=unit, params={**self.params, **params},
            value=estimate.value, low=estimate.low, high=estimate.high, confidence=estimate.confidence,
            statistic=None if none else statistic, replicates=estimate.n, samples=list(samples), at=utc_now(),
            phase=phase, verdict=Verdict.UNRESOLVED if none else Verdict.NOISY if noisy else Verdict.OK,
            reason=estimate.reason if none else wide if noisy else None,
        )  # fmt: skip
