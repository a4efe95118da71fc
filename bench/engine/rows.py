"""What the bench says: one row a comparison, with the ratio's interval and what it says of the goal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import exp, inf, log
from pathlib import Path
from statistics import median

from wulf.stats.estimates import Estimate
from wulf.stats.intervals import few_mean_interval, least_samples, median_interval
from wulf.stats.stopping import WidthRule

GOAL = 1.0
"""Of a ratio, unless a row has one of its own: at most this where lower is better, at least this where higher is."""

LIKE = 0.05
"""How far a ratio may lie from 1 where both should say the same."""

TOLERANCE = 0.02
"""How far beyond its goal an interval may end and still prove it: a tool that is just as good stands at 1, and no
interval around 1 ends there. Where both should say the same, `LIKE` is the tolerance."""

FEW_BLOCKS = 3
"""Of what is too dear for the six blocks that an order-statistic interval takes; fewer have none."""

MET, MISSED, OPEN, NONE = "met", "missed", "open", "–"
"""The whole interval lies within the goal; beyond it; on both sides; there is nothing to judge."""


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
    part
        The part of the bench that measured it; "" until it is kept.
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
    part: str = ""

    @property
    def verdict(self) -> str:
        """`MET`, `MISSED` or `OPEN`, by the whole interval; a figure without one leaves open what another would say."""
        if self.ratio is None:
            return NONE
        if self.low is None or self.high is None:
            return OPEN
        least, most = self.allowed
        if least <= self.low and self.high <= most:
            return MET
        return MISSED if self.high < least or most < self.low else OPEN

    @property
    def allowed(self) -> tuple[float, float]:
        """Between which ratios the goal is met."""
        if self.better == "same":
            return self.goal - LIKE, self.goal + LIKE
        if self.better == "lower":
            return 0.0, self.goal * (1 + TOLERANCE)
        return self.goal * (1 - TOLERANCE), inf


Figures = tuple[float, float]
"""One block's figures: ours and the peer's."""


def compared(
    name: str,
    peer_name: str,
    unit: str,
    better: str,
    pairs: Sequence[Figures],
    goal: float = GOAL,
    looks: tuple[int, ...] = (),
) -> Row:
    """The row of interleaved pairs.

    Parameters
    ----------
    looks
        Numbers of pairs at which somebody looked, and might have gone no further; empty: at these alone.
    """
    found = ratio_interval([ours / peer for ours, peer in pairs], looks or (len(pairs),))
    few = len(pairs) < least_samples() and found.value is not None
    reason = found.reason or (f"{len(pairs)} blocks" if few else None)
    told = noted(peer_name, reason) if reason else peer_name
    if found.value is None:
        return without_peer(name, told, unit, better, [ours for ours, _ in pairs])
    low, high = (None, None) if found.reason else (found.low, found.high)
    ours, peer = (float(median(side)) for side in zip(*pairs, strict=True))
    return Row(name, ours, peer, told, unit, found.value, low, high, better, goal)


def noted(peer_name: str, note: str) -> str:
    """The peer's name with one more note, in the parentheses that `merged` leaves out of account."""
    return f"{peer_name[:-1]}; {note})" if peer_name.endswith(")") else f"{peer_name} ({note})"


def ratio_interval(ratios: Sequence[float], looks: tuple[int, ...]) -> Estimate:
    """The typical ratio with a 95 % interval, all looks together.

    Of six blocks and more the median, by order statistics. Of three to five, which bound no median so surely, the
    geometric mean with Student's interval of the logarithms.
    """
    n = len(ratios)
    if n >= least_samples():
        return WidthRule(looks=looks).estimate(ratios)
    if n < FEW_BLOCKS:
        return Estimate.unresolved(n, f"{n} of {FEW_BLOCKS} blocks")
    found = few_mean_interval([log(ratio) for ratio in ratios])
    assert found.value is not None and found.low is not None and found.high is not None  # there are two at least
    return Estimate(exp(found.value), exp(found.low), exp(found.high), found.confidence, n)


def limited(name: str, unit: str, samples: Sequence[float], limit: float, better: str = "lower") -> Row:
    """A figure against its limit, upper or (where higher is better) lower; with an interval where samples suffice."""
    figure = median_interval(samples)
    ours = float(median(samples))
    low, high = (None if bound is None else bound / limit for bound in (figure.low, figure.high))
    return Row(name, ours, limit, "limit", unit, ours / limit, low, high, better, GOAL)


def exact(name: str, ours: float, peer: float, peer_name: str, unit: str) -> Row:
    """What every run makes the same, as the size of a program: its interval is itself."""
    ratio = ours / peer
    return Row(name, ours, peer, peer_name, unit, ratio, ratio, ratio, "lower", GOAL)


def without_peer(name: str, peer_name: str, unit: str, better: str, samples: Sequence[float] = ()) -> Row:
    """A row that can't be judged; `peer_name` has the reason."""
    ours = float(median(samples)) if samples else None
    return Row(name, ours, None, peer_name, unit, None, None, None, better, GOAL)


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
