"""A campaign's outcome as JSON holds it: what pages and programs read, and what stays on disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wulf.tune.campaign.deciding import ArmRow, FactorFinding, alarms, holm_of_rows
from wulf.tune.campaign.plan import Campaign, folded
from wulf.tune.campaign.wording import comparison_object, row_verdict, verdict
from wulf.tune.kept import CONFIRMED
from wulf.tune.values import Catalogue, level_text
from wulf.workflow.tune.campaign import CampaignState
from wulf.workflow.tune.outcomes import KeptSetting

Dump = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Node → setting → place → reading."""


def result_object(identifier: str, campaign: Campaign, catalogue: Catalogue, told: CampaignState) -> dict[str, Any]:
    """All that a campaign found, did, and left."""
    base = default_of(told)
    lower, corrected = campaign.metric.lower_is_better, holm_of_rows(told.rows)
    alarmed = alarms(told.rows, told.result)
    return {
        "campaign": identifier, "aim": str(campaign.aim), "nodes": list(campaign.nodes), "measured": campaign.measured,
        "metric": asdict(campaign.metric), "blocks": campaign.blocks, "seed": campaign.seed,
        "design": design_text(told), "alpha": campaign.alpha, "delta": campaign.delta, "state": told.state,
        "default": base,
        "alarms": sorted(alarmed),
        "rows": [_row(row, base, campaign, corrected.get((row.stage, row.name)), alarmed) for row in told.rows],
        "settings": [_finding(one, base, campaign, catalogue) for one in told.findings],
        "control": comparison_object(told.result.control if told.result else None, lower_is_better=lower),
        "interactions": _interactions(told),
        "drift": _drift(told),
        "confirmation": comparison_object(told.confirmation, lower_is_better=lower),
        "together": comparison_object(told.together, lower_is_better=lower),
        "kept": [kept_object(one, campaign, catalogue) for one in told.kept],
        "omitted": [asdict(one) for one in campaign.selection.omitted],
        "leftovers": [asdict(one) for one in told.leftovers],
        "notes": told.notes,
    }  # fmt: skip


def default_of(told: CampaignState) -> float | None:
    """The default's mean: of the main stage, or of the first one that has one."""
    means = {row.stage: row.mean for row in told.rows if row.kind == "baseline"}
    return means.get("main", next(iter(means.values()), None))


def design_text(told: CampaignState) -> str:
    """The main stage's design."""
    return next((str(run.stage.kind) for run in told.runs if run.stage.kind), "")


def _row(
    row: ArmRow, base: float | None, campaign: Campaign, holm: float | None, alarmed: Collection[str]
) -> dict[str, Any]:
    proven = _proven(holm, campaign.alpha)
    compared = comparison_object(row.against_default, lower_is_better=campaign.metric.lower_is_better)
    return {
        "stage": row.stage, "name": row.name, "kind": row.kind, "n": row.n, "mean": row.mean,
        "deviation": row.deviation, "against_default": compared, "p_holm": holm,
        "verdict": row_verdict(row, base, campaign.metric, proven=proven, alarm=row.stage in alarmed),
    }  # fmt: skip


def _finding(found: FactorFinding, base: float | None, campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    lower = campaign.metric.lower_is_better
    parts = {name: comparison_object(getattr(found, name), lower_is_better=lower)
             for name in ("effect", "alone", "in_company", "interaction", "confirmed")}  # fmt: skip
    return {
        "name": found.name, "value": level_text(catalogue, found.level) if found.level else None,
        "outcome": found.outcome.what, "outcome_reason": found.outcome.reason, **parts, "p_holm": found.holm,
        "interaction_shown": found.judgement != "not claimed" and _proven(found.interaction_holm, campaign.alpha),
        "judgement": found.judgement, "verdict": verdict(found, base, campaign.metric),
        "worth_keeping": found.kept, "why": found.why,
    }  # fmt: skip


def _interactions(told: CampaignState) -> list[dict[str, Any]]:
    """Interactions of two that the design shows by themselves."""
    if told.result is None or told.result.analysis is None:
        return []
    alpha = 1 - told.result.analysis.confidence
    return [
        {"name": one.name, "ratio": one.contrast.value, "low": one.contrast.low, "high": one.contrast.high,
         "p_holm": one.holm, "proven": not told.result.alarm and _proven(one.holm, alpha)}
        for one in told.result.analysis.effects if "×" in one.name
    ]  # fmt: skip


def _proven(p: float | None, alpha: float) -> bool:
    return p is not None and p <= alpha


def _drift(told: CampaignState) -> dict[str, Any] | None:
    found = told.result.analysis.drift if told.result and told.result.analysis else None
    return None if found is None else {"ratio": found.value, "low": found.low, "high": found.high, "p": found.p}


def kept_object(kept: KeptSetting, campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """One line of kept.json, with the effect that was measured once it was confirmed: improvement, as a share."""
    effect = comparison_object(kept.effect.confirmed, lower_is_better=campaign.metric.lower_is_better)
    told = None if effect is None or effect["improvement"] is None else {
        "value": effect["improvement"], "low": effect["improvement_low"], "high": effect["improvement_high"],
        "unit": "1", "metric": campaign.metric.name, "verdict": effect["judgement"], "basis": CONFIRMED,
    }  # fmt: skip
    networks = catalogue[kept.name].target.get("networks")
    value = " ".join(networks) if networks and kept.value is True else kept.value  # a bypass is kept as its networks
    return {
        "name": kept.name, "place": kept.place, "value": value, "before": kept.before, "effect": told,
        "nodes": folded(kept.nodes),
    }  # fmt: skip


def differences(before: Dump, after: Dump, kept: Sequence[KeptSetting]) -> list[dict[str, Any]]:
    """Readings that are not as they were, but for those that were kept, or that the node itself sets all the time."""
    stays = {(node, one.name, one.place) for one in kept for node in one.nodes}
    found = []
    for node in sorted({*before, *after}):
        first, second = before.get(node, {}), after.get(node, {})
        moving = _moving(first) & _moving(second)
        for name in sorted({*first, *second}):
            for place in sorted({*first.get(name, {}), *second.get(name, {})}):
                was, now = first.get(name, {}).get(place), second.get(name, {}).get(place)
                if was != now and (node, name, place) not in stays and name not in moving:
                    found.append({"node": node, "name": name, "place": place, "before": was, "after": now})
    return found


def _moving(readings: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Settings that a service of this node changes by itself."""
    return {name for name, service in MOVED_BY.items() if readings.get(service, {}).get("", {}).get("value") is True}


MOVED_BY = {"irq.affinity": "irq.balance_active"}
"""Setting → the one that says whether the service runs which moves it from one moment to the next."""
