"""What was found, in words and as JSON holds it."""

from __future__ import annotations

from typing import Any

from wulf.core.units import show
from wulf.stats.comparison import Comparison
from wulf.tune.campaign.deciding import CLAMPED, INERT, REFUSED, UNCLAIMED, ArmRow, CampaignMetric, FactorFinding


def impact(ratio: float | None, *, lower_is_better: bool) -> float | None:
    """Improvement as the papers give it: .37 is 37 % less time, or 37 % more of a rate."""
    if ratio is None:
        return None
    return 1 - ratio if lower_is_better else ratio - 1


def least_visible(compared: Comparison | None, base: float | None, unit: str) -> str:
    """`minimum detectable 1.2 µs`; empty where it is not known."""
    if compared is None or compared.least_visible is None or base is None:
        return ""
    return f"minimum detectable {show(compared.least_visible * base, unit)}"


def verdict(found: FactorFinding, base: float | None, metric: CampaignMetric) -> str:
    """A factor's verdict in words: what became of the write first, then what it did."""
    if found.outcome.what == REFUSED:
        return f"refused: {found.outcome.reason}"
    if found.level is None:
        return f"{found.outcome.what}, and nothing changed" + (
            f": {found.outcome.reason}" if found.outcome.reason else ""
        )
    judged: str = found.judgement
    if judged == "none":
        judged = _none(found.effect, base, metric)
    elif judged == "not claimed":
        judged = UNCLAIMED
    if found.outcome.what == INERT:
        return f"inert: {judged}"
    return f"clamped ({found.outcome.reason}): {judged}" if found.outcome.what == CLAMPED else judged


def _none(compared: Comparison | None, base: float | None, metric: CampaignMetric) -> str:
    seen = least_visible(compared, base, metric.unit)
    return f"no detectable effect{f'; {seen}' if seen else ''}"


def row_verdict(row: ArmRow, base: float | None, metric: CampaignMetric, *, proven: bool, alarm: bool = False) -> str:
    """An arm's verdict in words.

    Parameters
    ----------
    proven
        It differs among all arms of its stage, too, and not by itself alone.
    alarm
        The A/A arm of its stage differs from itself.
    """
    compared = row.against_default
    if compared is None:
        return ""
    if alarm:
        return "not claimed"
    if compared.changed:
        return f"{compared.judgement}{'' if proven else ' by itself'}"
    return _none(compared, base, metric)


def comparison_object(compared: Comparison | None, *, lower_is_better: bool) -> dict[str, Any] | None:
    """A comparison as JSON holds it, its improvement beside it."""
    if compared is None:
        return None
    ends = [
        impact(compared.low, lower_is_better=lower_is_better),
        impact(compared.high, lower_is_better=lower_is_better),
    ]
    low, high = (None, None) if None in ends else sorted(end for end in ends if end is not None)
    return {
        "judgement": str(compared.judgement), "ratio": compared.ratio, "low": compared.low, "high": compared.high,
        "improvement": impact(compared.ratio, lower_is_better=lower_is_better),
        "improvement_low": low, "improvement_high": high,
        "p": compared.p, "n": compared.n, "least_visible": compared.least_visible,
    }  # fmt: skip
