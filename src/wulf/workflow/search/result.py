"""What a search found as one object: what --json prints, search.json keeps, and terminal and page show."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from wulf.search.history import COMPARED
from wulf.search.space import Config
from wulf.search.stages.claims import Proof
from wulf.search.stages.comparing import Blocks
from wulf.search.stages.joint import Interaction
from wulf.search.stages.path import changed_names
from wulf.search.strategy import SearchOutcome
from wulf.search.trial import CUT, OK
from wulf.stats.comparison import Comparison
from wulf.stats.estimates import Estimate

BEST = 10
"""Configurations of the table of the fastest."""


def result_object(found: SearchOutcome, name: str, figure: str, unit: str, better: str) -> dict[str, Any]:
    """All of it, in SI units; costs are compared, figures are shown."""
    plan, history = found.history.plan, found.history
    named = plan.space.named
    return {
        "name": name, "figure": figure, "unit": unit, "better": better,
        "sizes": list(plan.sizes), "seed": plan.seed, "configurations": plan.space.size,
        "winner": None if found.winner is None else named(found.winner),
        "value": _winner_value(found),
        "baselines": {label: named(config) for label, config in plan.baselines.items()},
        "against": found.against,
        "confirmation": _comparison(found.confirmation),
        "confirmed": None if found.confirmed is None else {
            "size": found.confirmed.size,
            "winner": _estimate(found.confirmed.figure(found.confirmed.configs[1])),
            "baseline": _estimate(found.confirmed.figure(found.confirmed.configs[0])),
        },
        "delta": plan.delta,
        "path": _path(found), "others": _others(found),
        "together": _together(found), "joint": [_interaction(one) for one in found.joint],
        "drift": None if found.drift is None else asdict(found.drift),
        "best": _best(found), "failed": _failed(found),
        "cost": _cost(found), "notes": history.notes, "files": [],
    }  # fmt: skip


def _comparison(one: Comparison | None) -> dict[str, Any] | None:
    """Cost of B against A as an improvement: how much more of the rate, or the same work in how much less time."""
    if one is None:
        return None
    found = {key: getattr(one, key) for key in ("ratio", "low", "high", "p", "n", "reason")}
    return {**found, "judgement": str(one.judgement), "speedup": _inverse(one.ratio),
            "speedup_low": _inverse(one.high), "speedup_high": _inverse(one.low)}  # fmt: skip


def _inverse(value: float | None) -> float | None:
    return 1 / value if value else None


def _estimate(one: Estimate) -> dict[str, Any]:
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n, "reason": one.reason}


def _winner_value(found: SearchOutcome) -> dict[str, Any] | None:
    """The winner's figure at the full size: of the fresh runs, or of those before where there are none."""
    if found.winner is None:
        return None
    full = found.history.plan.full
    if found.confirmed is not None and found.confirmed.size == full:
        return _estimate(found.confirmed.figure(found.winner))
    figures = sorted(o.figure for t, o in found.history.lines
                     if t.config == found.winner and t.size == full and o.figure is not None)  # fmt: skip
    return {"value": figures[len(figures) // 2] if figures else None, "low": None, "high": None, "n": len(figures),
            "reason": "of the runs that chose it: no fresh ones"}  # fmt: skip


def _path(found: SearchOutcome) -> list[dict[str, Any]]:
    """Every step with what it changed, its figure, and how it compares with the step before and with the start."""
    space, delta = found.history.plan.space, found.history.plan.delta
    steps: list[dict[str, Any]] = []
    for before, now in zip([None, *found.path], found.path, strict=False):
        names = [] if before is None else changed_names(space, before, now)
        values = space.named(now)
        step: dict[str, Any] = {"changed": {name: values[name] for name in names}, "configuration": values}
        if found.walked is not None:
            step["figure"] = _estimate(found.walked.figure(now))
            if before is not None and found.proofs is not None:
                step["step"] = _proof(found.proofs.steps[len(steps) - 1])
                step["total"] = _comparison(found.walked.compare(found.path[0], now, delta))
        steps.append(step)
    return steps


def _proof(one: Proof) -> dict[str, Any]:
    """A comparison with what it proves beside the others."""
    return {**(_comparison(one.comparison) or {}), "p_corrected": one.p, "proven": one.proven}


def _together(found: SearchOutcome) -> dict[str, Any] | None:
    """The pair of knobs that was tested, as cost of both against what they do one by one; None: none was."""
    if found.pair is None or found.proofs is None or found.proofs.pair is None:
        return None
    return {"names": list(found.pair.names), **_proof(found.proofs.pair)}


def _interaction(one: Interaction) -> dict[str, Any]:
    """Two of what the program was built with: what both are worth together, and the second one's other value alone."""
    alone = [None, None] if one.alone is None else [_comparison(each) for each in one.alone]
    return {
        "names": list(one.names), "values": [list(each) for each in one.values], "alone": alone,
        "together": None if one.proof is None else _proof(one.proof),
    }  # fmt: skip


def _others(found: SearchOutcome) -> list[dict[str, Any]]:
    """The winner against each baseline, at the path's size."""
    if found.walked is None or found.winner is None:
        return []
    plan, walked = found.history.plan, found.walked
    return [
        {"name": name, "size": walked.size, "figure": _estimate(walked.figure(config)),
         "comparison": _comparison(walked.compare(config, found.winner, plan.delta))}
        for name, config in plan.baselines.items() if config in walked.configs and config != found.winner
    ]  # fmt: skip


def _best(found: SearchOutcome) -> list[dict[str, Any]]:
    """The fastest at the full size, with all runs that looked for it."""
    plan = found.history.plan
    rows: dict[Config, list[tuple[float, float]]] = {}
    for trial, outcome in found.history.lines:
        if trial.size == plan.full and trial.stage not in COMPARED and outcome.figure is not None:
            rows.setdefault(trial.config, []).append((outcome.cost or 0.0, outcome.figure))
    ranked = sorted(rows.items(), key=lambda item: sorted(item[1])[len(item[1]) // 2][0])
    return [
        {"configuration": plan.space.named(config), "figures": [figure for _, figure in sorted(some)]}
        for config, some in ranked[:BEST]
    ]


def _failed(found: SearchOutcome) -> list[dict[str, Any]]:
    """Every configuration that failed, and why; those that were cut are no failures."""
    seen: dict[Config, tuple[str, str, float]] = {}
    for trial, outcome in found.history.lines:
        if outcome.verdict not in (OK, CUT):
            seen.setdefault(trial.config, (outcome.verdict, outcome.reason, trial.size))
    text = found.history.plan.space.text
    return [
        {"configuration": text(config), "verdict": verdict, "reason": reason, "size": size}
        for config, (verdict, reason, size) in seen.items()
    ]


def _cost(found: SearchOutcome) -> dict[str, Any]:
    """Runs and seconds, by stage; and against all configurations at full size, each once."""
    history = found.history
    stages = Counter(trial.stage for trial, _ in history.lines)
    seconds = dict.fromkeys(stages, 0.0)
    for trial, outcome in history.lines:
        seconds[trial.stage] += outcome.seconds
    full = [o.seconds for t, o in history.lines if t.size == history.plan.full and o.verdict == OK]
    typical = sorted(full)[len(full) // 2] if full else None
    return {
        "runs": len(history.lines), "seconds": history.spent,
        "verdicts": dict(Counter(outcome.verdict for _, outcome in history.lines)),
        "stages": {stage: {"runs": n, "seconds": seconds[stage]} for stage, n in stages.items()},
        "grid_seconds": None if typical is None else typical * history.plan.space.size,
    }  # fmt: skip


__all__ = ["Blocks", "result_object"]
