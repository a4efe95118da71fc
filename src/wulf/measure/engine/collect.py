"""From replicates to records: pure, so that a run cut short by kill -9 is collected later from what is on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wulf.core.records import Provenance, Record, Verdict
from wulf.measure.engine.disturbance import disturbances
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import APP, NODE, Metric
from wulf.stats.estimates import Estimate
from wulf.stats.stopping import StoppingRule, flags, unsettled_by

Replicate = Mapping[str, Any]
"""One line of replicates.jsonl: {"cell", "block", "at", "ok", "metrics", "counters", "info", "seconds"} or {"cell",
"block", "at", "ok": false, "error": {"code", "message"}}; the block is the pass over all cells, from 0 on."""

Explain = Callable[[Cell, Sequence[Replicate]], Sequence[Mapping[str, Any]]]
"""What limits a cell, from its replicates: what records hold under `bottleneck`."""


def unexplained(_: Cell, __: Sequence[Replicate]) -> Sequence[Mapping[str, Any]]:
    """Nobody asked what limits a cell."""
    return ()


_LARGE = frozenset({"matrix"})
"""What stands with the replicates alone: every pair of a thousand ranks."""


def samples_of(metric: str, replicates: Iterable[Replicate]) -> list[float]:
    """The metric's value in each replicate that has one, in the order measured."""
    answers = (r["metrics"].get(metric, {}) for r in replicates if r["ok"])
    return [float(answer["value"]) for answer in answers if answer.get("value") is not None]


def pairs_of(metric: str, a: Iterable[Replicate], b: Iterable[Replicate]) -> tuple[list[float], list[float]]:
    """The metric's values in the blocks in which both A and B have one, block by block."""
    first, second = in_common([by_block(metric, a), by_block(metric, b)])
    return first, second


def by_block(metric: str, replicates: Iterable[Replicate]) -> dict[int, float]:
    """Block → the metric's value in it, where it has one, in the order measured."""
    return {r["block"]: values[0] for r in replicates if (values := samples_of(metric, [r]))}


def in_common(cells: Sequence[Mapping[int, float]]) -> list[list[float]]:
    """Each cell's values in the blocks in which all cells have one, block by block."""
    blocks = [block for block in cells[0] if all(block in cell for cell in cells)]
    return [[cell[block] for block in blocks] for cell in cells]


def sums_of(metric: str, arms: Sequence[Sequence[Replicate]]) -> list[float]:
    """The metric's sum over cells that are measured together, of the blocks in which every one has a value."""
    if not arms:
        return []
    return [sum(values) for values in zip(*in_common([by_block(metric, arm) for arm in arms]), strict=True)]


def _common_start(replicates: Sequence[Replicate]) -> dict[str, Any]:
    """Of cells that began together with others: the least overlap, and the greatest lateness and uncertainty."""
    starts = [replicate["start"] for replicate in replicates if replicate.get("start")]
    if not starts:
        return {}
    return {
        "together": max(start["together"] for start in starts),
        "overlap": min(start["overlap"] for start in starts),
        "late": max(start["late"] for start in starts),
        "start_bound": max(start["bound"] for start in starts),
    }


def params_of(cell: Cell) -> dict[str, Any]:
    """What a record says of its cell."""
    carrier = {"transport": cell.transport} if cell.transport else {}
    wave = {} if cell.wave is None else {"wave": cell.wave}
    return {**carrier, "pattern": cell.pattern, **cell.params, **wave, **cell.about}


def _info(good: Sequence[Replicate]) -> dict[str, Any]:
    """What the probe said of its last replicate."""
    said = (good[-1].get("info") or {}) if good else {}
    return {name: told for name, told in said.items() if name not in _LARGE}


def _named(cell: Cell, metric: str) -> dict[str, Any]:
    """Which row of the node survey's table this is, and of which curve or matrix it is a point."""
    series, point, _ = cell.name.partition("#")
    found = {"row": cell.rows[metric]} if metric in cell.rows else {}
    return found | ({cell.phase: series} if point else {})


def add_counters(total: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add nested counter deltas to `total`, in place; what is not a number is kept as last seen."""
    for name, value in more.items():
        known = total.get(name)
        if isinstance(value, Mapping):
            total[name] = known if isinstance(known, dict) else {}
            add_counters(total[name], value)
        elif _is_figure(value) and _is_figure(known):
            total[name] = known + value
        else:
            total[name] = value


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _first_reason(metric: str, replicates: Sequence[Replicate]) -> str | None:
    """Why the probe gave no value, in its own words."""
    for replicate in replicates:
        if not replicate["ok"]:
            return str(replicate["error"]["message"])
        reason = replicate["metrics"].get(metric, {}).get("reason")
        if reason:
            return str(reason)
    return None


def _verdict(
    estimate: Estimate,
    *,
    primary: bool,
    width: float,
    odd: Mapping[str, str],
    failure: str | None,
    why_none: str | None,
) -> tuple[Verdict, str | None]:
    """Verdict and reason of one record; only the primary metric is held to the width requested."""
    if failure:
        return Verdict.FAILED, failure
    if estimate.value is None:
        if why_none and estimate.reason and estimate.n:
            return Verdict.UNRESOLVED, f"{estimate.reason}; others had no value: {why_none}"
        return Verdict.UNRESOLVED, why_none or estimate.reason
    if primary and estimate.width is not None and estimate.width > width:
        return Verdict.NOISY, f"interval {estimate.width:.1%} wide after {estimate.n} replicates, requested {width:.1%}"
    unsettled = unsettled_by(odd) or estimate.reason
    if primary and unsettled:
        return Verdict.NOISY, unsettled
    return Verdict.OK, None


def _quantiles(metric: str, replicates: Iterable[Replicate]) -> dict[str, float]:
    """The median over replicates of each quantile of the single samples."""
    seen: dict[str, list[float]] = {}
    for replicate in replicates:
        for name, value in (replicate["metrics"].get(metric, {}).get("quantiles") or {}).items():
            if value is not None:
                seen.setdefault(name, []).append(value)
    return {name: float(np.median(values)) for name, values in seen.items()}


def records_of(
    cell: Cell,
    replicates: Sequence[Replicate],
    plan: Plan,
    run: str,
    *,
    at: str,
    failure: str | None = None,
    stopped: str | None = None,
    bottleneck: Sequence[Mapping[str, Any]] = (),
) -> list[Record]:
    """One record for each metric of the cell that the probe answered with, and always one for the primary metric.

    A secondary metric that no answer holds does not apply (a datagrams' loss rate over TCP): it is no missing value.

    Parameters
    ----------
    replicates
        The cell's replicates in the order measured; failed ones included.
    failure
        Why the cell was given up; what was measured before is kept beside it.
    stopped
        Why measuring ended, where it was not the stopping rule that ended it.
    bottleneck
        What limits the cell, the strongest first; kept beside the primary metric.
    """
    good = [replicate for replicate in replicates if replicate["ok"]]
    own = _Measured(cell, replicates, good, plan, run, at, failure or _wrong(replicates), stopped, bottleneck)
    answered = {name for replicate in good for name in replicate["metrics"]}
    primary, *secondary = _told(cell.metrics[0], good) if cell.program == APP else cell.metrics
    applicable = [metric for metric in secondary if metric.name in answered]
    return [own.record(primary, primary=True), *(own.record(metric, primary=False) for metric in applicable)]


@dataclass(frozen=True)
class _Measured:
    """A cell's replicates, and what its records have in common; `good`: those with an answer."""

    cell: Cell
    replicates: Sequence[Replicate]
    good: Sequence[Replicate]
    plan: Plan
    run: str
    at: str
    failure: str | None
    stopped: str | None
    bottleneck: Sequence[Mapping[str, Any]]

    @cached_property
    def disturbed(self) -> dict[str, str]:
        """What else went on beside a node's own probe."""
        return disturbances(self.good) if self.cell.program == NODE else {}

    def record(self, metric: Metric, *, primary: bool) -> Record:
        """The record of a metric; the primary one's says besides what is said of the cell once."""
        cell, good = self.cell, self.good
        samples = samples_of(metric.name, good)
        rule = self.plan.rule_of(cell, metric)
        estimate = rule.estimate(samples)
        odd = flags(samples) if primary else {}
        verdict, reason = _verdict(
            estimate,
            primary=primary,
            width=self.plan.width if cell.wave is None else float("inf"),  # of a wave, the sum is held to it
            odd=odd if cell.wave is None else {},
            failure=self.failure,
            why_none=_first_reason(metric.name, self.replicates),
        )
        if self.disturbed and verdict is Verdict.OK:
            verdict, reason = Verdict.NOISY, next(iter(self.disturbed.values()))
        # a node that answers, with a reason in place of a value, has nothing of the kind
        all_answered = 0 < len(good) == len(self.replicates) and self.failure is None
        lacks = cell.program == NODE and estimate.n == 0 and all_answered
        blocks = list(by_block(metric.name, good))
        of_every_pass = not self.plan.together and cell.wave is None and blocks == list(range(len(blocks)))
        of_cell = self._of_cell(rule, samples) if primary else {}
        return Record(
            run=self.run, subject=cell.subject, probe=cell.program, metric=metric.name, unit=metric.unit,
            params=params_of(cell), value=estimate.value, low=estimate.low, high=estimate.high,
            confidence=estimate.confidence, statistic="median" if estimate.value is not None else None,
            replicates=estimate.n, quantiles=_quantiles(metric.name, good), verdict=verdict, reason=reason,
            provenance=Provenance.MEASURED, samples=samples, at=self.at, supported=not lacks, phase=cell.phase,
            failed_replicates=len(self.replicates) - len(good), blocks=[] if of_every_pass else blocks,
            flags=odd | self.disturbed, info=_info(good), **_named(cell, metric.name), **of_cell,
        )  # fmt: skip

    def _of_cell(self, rule: StoppingRule, samples: Sequence[float]) -> dict[str, Any]:
        """What is said of the cell once."""
        counters: dict[str, Any] = {}
        for replicate in self.good:
            add_counters(counters, replicate.get("counters") or {})
        ended = self.failure or self.stopped or rule.decide(samples).reason
        return {"counters": counters, "stopped": ended, "bottleneck": list(self.bottleneck), **_common_start(self.good)}


WRONG = "wrong"
"""The code of an error: the program ended well, and its answer is wrong."""


def _wrong(replicates: Sequence[Replicate]) -> str | None:
    """A program that is wrong once is not to be trusted when it is fast."""
    said = [replicate["error"]["message"] for replicate in replicates if _is_wrong(replicate)]
    return f"{len(said)} of {len(replicates)} runs gave a wrong answer: {said[0]}" if said else None


def _is_wrong(replicate: Replicate) -> bool:
    return not replicate["ok"] and replicate["error"].get("code") == WRONG


def _told(main: Metric, good: Sequence[Replicate]) -> list[Metric]:
    """What an application measured, in its own words: nothing else knows its figures before it has run."""
    told: dict[str, Metric] = {main.name: main}
    for replicate in good:
        for name, answer in replicate["metrics"].items():
            told[name] = Metric(name, answer.get("unit", "1"), answer.get("better", "lower"))
    return list(told.values())


def replicates_of(cells: Iterable[Cell], replicates: Iterable[Replicate]) -> dict[int, list[Replicate]]:
    """Number of each of these cells → its replicates, in the order measured; those of other cells are left out."""
    found: dict[int, list[Replicate]] = {cell.id: [] for cell in cells}
    for replicate in replicates:
        if replicate["cell"] in found:
            found[replicate["cell"]].append(replicate)
    return found


def records_of_run(
    plan: Plan,
    replicates: Sequence[Replicate],
    run: str,
    *,
    at: str,
    stopped: str | None = None,
    explain: Explain = unexplained,
) -> list[Record]:
    """All records of a plan from all its replicates, as `records_of` a cell; those of another plan are left out."""
    by_cell = replicates_of(plan.cells, replicates)
    return [
        record
        for cell in plan.cells
        for record in records_of(
            cell, by_cell[cell.id], plan, run, at=at, stopped=stopped, bottleneck=explain(cell, by_cell[cell.id])
        )
    ]
