"""What the bench says: one row a comparison, with the ratio's interval and whether the goal is met."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from wulf.stats.intervals import least_samples, median_interval

GOAL = 1.0
"""Of a ratio, unless a row has one of its own: at most this where lower is better, at least this where higher is."""

LIKE = 0.05
"""How far a ratio may lie from 1 where both should say the same."""


@dataclass(frozen=True)
class Row:
    """One comparison.

    Parameters
    ----------
    name
        What was measured, and the statistic of both figures.
    ours, peer
        Medians over the blocks, in `unit`; None where there is no figure.
    peer_name
        The other tool; "limit" where the peer is a bound; with the reason where `peer` is None.
    unit
        SI base unit.
    ratio
        Median of the blocks' ratios ours/peer.
    low, high
        Order-statistic interval of the ratio (95 %); None where one figure alone was taken.
    better
        "lower", "higher", or "same": a second tool's word for the same fact, from which ours must not differ.
    goal
        Bound of the ratio.
    met
        Whether the goal is within the interval or surpassed; of the same, whether the interval meets 1 ± `LIKE`.
    """

    name: str
    ours: float | None
    peer: float | None
    peer_name: str
    unit: str
    ratio: float | None
    low: float | None
    high: float | None
    better: str
    goal: float
    met: bool


Figures = tuple[float, float]
"""One block's figures: ours and the peer's."""


def is_met(ratio: float, low: float | None, high: float | None, better: str, goal: float = GOAL) -> bool:
    """Whether the goal lies in the interval, or the whole interval is on its better side."""
    if better == "same":
        return (low or ratio) <= goal + LIKE and (high or ratio) >= goal - LIKE
    if better == "lower":
        return (ratio if low is None else low) <= goal
    return (ratio if high is None else high) >= goal


def compared(name: str, peer_name: str, unit: str, better: str, pairs: Sequence[Figures], goal: float = GOAL) -> Row:
    """The row of interleaved pairs."""
    if len(pairs) < least_samples():
        reason = f"{len(pairs)} of {least_samples()} blocks"
        return without_peer(name, f"{peer_name} ({reason})", unit, better, [ours for ours, _ in pairs])
    ratio = median_interval([ours / peer for ours, peer in pairs])
    ours, peer = (median_interval(side).value for side in zip(*pairs, strict=True))
    assert ratio.value is not None  # there are enough pairs
    met = is_met(ratio.value, ratio.low, ratio.high, better, goal)
    return Row(name, ours, peer, peer_name, unit, ratio.value, ratio.low, ratio.high, better, goal, met)


def limited(name: str, unit: str, samples: Sequence[float], limit: float) -> Row:
    """A figure against its upper limit; with an interval when there are enough samples."""
    if len(samples) < least_samples():
        ours = sorted(samples)[len(samples) // 2]
        ratio, low, high = ours / limit, None, None
    else:
        estimate = median_interval(samples)
        assert estimate.value is not None and estimate.low is not None and estimate.high is not None
        ours, ratio = estimate.value, estimate.value / limit
        low, high = estimate.low / limit, estimate.high / limit
    return Row(name, ours, limit, "limit", unit, ratio, low, high, "lower", GOAL, is_met(ratio, low, high, "lower"))


def without_peer(name: str, peer_name: str, unit: str, better: str, samples: Sequence[float] = ()) -> Row:
    """A row that can't be judged; `peer_name` has the reason."""
    ours = sorted(samples)[len(samples) // 2] if samples else None
    return Row(name, ours, None, peer_name, unit, None, None, None, better, GOAL, False)


def best_of(name: str, rows: Iterable[Row]) -> Row | None:
    """The row against the strongest peer: the one beside which ours looks worst. None where no peer ran."""
    judged = [row for row in rows if row.ratio is not None]
    if not judged:
        return None
    worst = max(judged, key=lambda row: (row.ratio or 0.0) * (1 if row.better == "lower" else -1))
    return Row(**(asdict(worst) | {"name": name}))


def read(path: Path) -> list[Row]:
    """The rows of a file that `write` has written."""
    return [Row(**row) for row in json.loads(path.read_text())]


def write(path: Path, rows: Sequence[Row]) -> None:
    """A JSON list, one row a line."""
    lines = ",\n".join(json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[\n{lines}\n]\n")


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """`old` with its rows replaced by the new ones of the same name and peer; what is new comes last."""
    fresh = {(row.name, _tool(row)): row for row in new}
    kept = [fresh.pop((row.name, _tool(row)), row) for row in old]
    return [*kept, *fresh.values()]


def _tool(row: Row) -> str:
    """The peer without the reason why it is missing; the best peer may change from run to run."""
    return "best" if row.name.endswith(BEST) else row.peer_name.split(" (")[0]


BEST = "best peer"
"""How the name of a row of `best_of` ends."""
