"""A prediction for programs, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.model.foresight.forecast import Forecast
from wulf.model.foresight.prediction import Differences, Path, Prediction, Scaling, TraceFit
from wulf.model.foresight.worth import NetworkCandidate, Piecewise, Tolerance, best_of
from wulf.report.kit.view import interval_object
from wulf.stats.estimates import Interval

MOST_KINDS = 40
"""Kinds of calls that differ from the traced run, the largest differences first."""


def predict_object(found: Prediction) -> dict[str, Any]:
    """All of it but the timeline."""
    best = best_of(found.candidates)
    return {
        "trace": {
            "path": found.traced.path, "command": found.traced.command, "mpi": found.traced.mpi,
            "ranks": found.program.ranks, "hosts": len(set(found.traced.hosts)) or None,
            "connect": found.program.connect, "connecting": found.program.connecting,
            "operations": found.program.ops, "messages": found.program.messages, "bytes": found.program.bytes,
        },
        "coverage": {
            "share": found.program.covered, "met": found.met,
            "left_out": [
                {"what": one.what, "calls": one.calls, "seconds": one.seconds, "why": one.why}
                for one in found.program.left_out
            ],
        },
        "calibration": {
            "predicted": found.calibration.predicted, "measured": found.calibration.measured,
            "error": found.calibration.error, "runs": list(found.calibration.runs),
            "between_runs": found.calibration.between_runs,
        },
        "differences": _differences(found.differences),
        "fit": None if found.fit is None else _fit(found.fit),
        "engine": found.engine,
        "baseline": {**_forecast(found.baseline), "from": found.baseline_from, **_tolerances(found, found.baseline)},
        "candidates": [{**_candidate(one), **_tolerances(found, one.forecast)} for one in found.candidates],
        "best": best.forecast.name if best else None,
        "currency": found.currency,
        "changes": [
            {"what": one.what, **_forecast(one.forecast), "saved": _interval(one.gain)} for one in found.changes
        ],
        "curves": [_curve(one) for one in found.curves],
        "critical_path": _path(found.path),
        "scaling": [_scaling(one) for one in found.scaling],
        "beside": [
            {
                "network": one.network,
                "jobs": [
                    {"command": job, "alone": alone, "together": together}
                    for job, alone, together in zip(one.jobs, one.alone, one.together, strict=True)
                ],
            }
            for one in found.beside
        ],
        "notes": list(found.notes),
    }  # fmt: skip


def _differences(found: Differences) -> dict[str, Any] | None:
    if not found.kinds:
        return None
    kinds = [
        {
            "call": one.call, "up_to_bytes": one.up_to, "with": one.peer or None, "calls": one.calls,
            "traced": one.traced, "replayed": one.replayed,
            "worst": dict(zip(("rank", "record", "traced", "replayed"), one.worst, strict=True)),
        }
        for one in found.largest[:MOST_KINDS]
    ]  # fmt: skip
    return {"traced": found.traced, "replayed": found.replayed, "kinds": found.kinds, "largest": kinds}


def _fit(found: TraceFit) -> dict[str, Any]:
    parts = {name: {"measured": before, "fitted": _interval(after)} for name, (before, after) in found.parts.items()}
    halves = {
        name: dict(zip(("traced", "replayed"), half, strict=True))
        for name, half in (("fitted", found.fitted), ("held_out", found.held_out))
    }
    return {"parts": parts, **halves, "held_out_error": found.error, "replays": found.replays}


def _interval(one: Interval | None) -> Mapping[str, float | None] | None:
    return None if one is None else interval_object(one)


def _forecast(one: Forecast) -> dict[str, Any]:
    return {
        "network": one.name, "seconds": _interval(one.interval), "replayed": one.replayed, "parts": dict(one.parts),
        "inversions": one.inversions,
    }  # fmt: skip


def _candidate(one: NetworkCandidate) -> dict[str, Any]:
    return {
        **_forecast(one.forecast), "saved": _interval(one.gain), "saved_with_doubts": _interval(one.bounds),
        "required_gain": one.required, "price": one.offer.price, "price_from": one.offer.source or None,
        "saved_by_thousand": _interval(one.saved_by_thousand), "verdict": one.verdict.word, "why": one.verdict.why,
        "next_step": one.verdict.next_step or None, "estimates": list(one.estimates),
    }  # fmt: skip


def _tolerances(found: Prediction, one: Forecast) -> dict[str, Any]:
    def each(some: Sequence[Tolerance]) -> list[dict[str, float | None]]:
        return [{"share": tol.share, "latency": tol.latency, "byte": tol.byte} for tol in some]

    return {"tolerances": each(found.tolerances.get(one.name, ()))}


def _curve(one: Piecewise) -> dict[str, Any]:
    return {"over": one.over, "x": list(one.x), "seconds": list(one.seconds), "slopes": list(one.slopes)}


def _path(path: Path) -> dict[str, Any]:
    steps = [
        {
            "rank": one.rank, "begin": one.begin, "end": one.end, "kind": one.kind, "call": one.call or None,
            "record": one.mark or None, "from": one.source, "to": one.to, "bytes": one.bytes,
        }
        for one in path.steps
    ]  # fmt: skip
    ranks = [{"rank": rank, "parts": dict(parts)} for rank, parts in path.ranks.items()]
    return {"count": path.count, "steps": steps, "ranks": ranks}


def _scaling(one: Scaling) -> dict[str, Any]:
    held = one.study.held_out[one.study.best].error if one.study is not None and one.study.best else None
    return {
        "network": one.network, "form": one.study.best if one.study is not None else None, "held_out_error": held,
        "at": [{"ranks": count, "seconds": _interval(at)} for count, at in one.at.items()],
        "refused": one.refused or None,
    }  # fmt: skip
