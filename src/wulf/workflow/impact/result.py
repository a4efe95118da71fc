"""An impact as JSON holds it: what pages and programs read, and what stays on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wulf.model.impact import ARMS, BEFORE, FigureRow, Impact, Row
from wulf.model.mpi_share import MpiShare
from wulf.stats.comparison import enough_pairs
from wulf.tune.campaign.wording import comparison_object
from wulf.workflow.impact.profile import Profiled
from wulf.workflow.tune.campaign import CampaignState

MOST_ANSWERS, MOST_LETTERS = 5, 200
"""Of each arm: what differs is seen in a few."""


def impact_object(found: Impact, told: CampaignState, profiles: Mapping[str, Profiled]) -> dict[str, Any]:
    """What was found, what the profiles bound, and what is left."""
    return {
        "state": told.state, "claim": found.claim, "why": found.why,
        "rows": [_row(row) for row in found.rows],
        "failed": {arm: dict(some) for arm, some in found.failed.items()},
        "reasons": {arm: dict(some) for arm, some in found.reasons.items()},
        "same_answers": found.same_answers,
        "answers": {arm: [one[:MOST_LETTERS] for one in some[:MOST_ANSWERS]] for arm, some in found.answers.items()},
        "profiles": {arm: _profile(profiles[arm]) for arm in ARMS if arm in profiles},
        "bound": _bound(found, profiles),
        "leftovers": [asdict(one) for one in told.leftovers],
    }  # fmt: skip


def _row(row: Row) -> dict[str, Any]:
    return {
        **asdict(row.quantity), "mean": dict(row.mean), "deviation": dict(row.deviation), "n": dict(row.n),
        "compared": comparison_object(row.compared, lower_is_better=row.quantity.lower_is_better),
    }  # fmt: skip


def figures_object(
    figures: Sequence[FigureRow], titles: Mapping[str, str], void: bool, alpha: float = 0.05
) -> dict[str, Any]:
    """All of an application's own figures, where it has several: those that are claimed first.

    Parameters
    ----------
    titles
        Name → in words.
    void
        Nothing is claimed of this application.
    """
    leading = [one for one in figures if one.leading]
    rows = [_figure(one, titles, void, alpha) for one in [*leading, *(one for one in figures if not one.leading)]]
    return {"figures": rows, "figures_blocks": enough_pairs(len(leading), alpha) if leading else None}


def _figure(one: FigureRow, titles: Mapping[str, str], void: bool, alpha: float) -> dict[str, Any]:
    name = one.row.quantity.name
    return {
        **_row(one.row), "title": titles.get(name, name), "leading": one.leading, "p_holm": one.holm,
        "proven": not void and one.proven(alpha), "verdict": "not claimed" if void else one.verdict(alpha),
    }  # fmt: skip


def _profile(profiled: Profiled) -> dict[str, Any]:
    share = None if profiled.share is None else asdict(profiled.share)
    whole = None if profiled.share is None else _whole(profiled.share, profiled.wall)
    return {"share": share, "reason": profiled.reason, "wall": profiled.wall, "most_of_wall": whole}


def _whole(share: MpiShare, wall: float | None) -> float | None:
    return None if wall is None else share.most_of(wall)


def _bound(found: Impact, profiles: Mapping[str, Profiled]) -> dict[str, float] | None:
    """The most that a network so much faster as the ping-pong became could save, by the profile from before."""
    before = profiles.get(BEFORE)
    ratio = next((row.compared.ratio for row in found.rows[1:] if row.quantity.lower_is_better), None)
    if before is None or before.share is None or ratio is None:
        return None
    return {"ratio": ratio, "most": 1 - before.share.least_time(ratio), "all": before.share.most}
