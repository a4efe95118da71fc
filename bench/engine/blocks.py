"""Randomised blocks: in each, every contest once, ours and the peer back to back, all orders drawn.

What drifts over minutes then touches both sides of a ratio alike (Box, Hunter & Hunter, Statistics for Experimenters,
2nd ed., chapter 4).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.engine.errors import BenchError
from bench.engine.rows import GOAL, MET, MISSED, Figures, Row, compared, without_peer

MOST_FAILURES = 3


@dataclass
class Contest:
    """Ours and a peer doing the same work; each call is one replicate.

    Parameters
    ----------
    name, peer_name, unit, better
        As in `Row`.
    ours, peer
        One replicate each: a figure in `unit`, or BenchError.
    goal
        As in `Row`.
    """

    name: str
    peer_name: str
    unit: str
    better: str
    ours: Callable[[], float]
    peer: Callable[[], float]
    goal: float = GOAL
    pairs: list[Figures] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """The longest that a pair took."""
    looks: tuple[int, ...] = ()
    """After which numbers of pairs it might have ended: see `Effort`."""

    def row(self) -> Row:
        """What the pairs say."""
        if len(self.failures) >= MOST_FAILURES:
            return without_peer(self.name, f"{self.peer_name} (failed)", self.unit, self.better)
        return compared(self.name, self.peer_name, self.unit, self.better, self.pairs, self.goal, self.looks)


@dataclass(frozen=True)
class Effort:
    """How long to go on.

    Parameters
    ----------
    looks
        Numbers of blocks after which a contest may end, because its goal is met or missed, or its interval narrow;
        after the last it ends in any case. Its interval allows for all of them.
    width
        Relative width of a ratio's interval at which a contest ends.
    until
        No pair begins that would not end by then, on `clock`.
    """

    looks: tuple[int, ...]
    width: float
    until: float
    clock: Callable[[], float] = time.monotonic


def run_blocks(contests: Sequence[Contest], effort: Effort, rng: random.Random, say: Callable[[str], None]) -> None:
    """Fill the contests' pairs, block by block, until every goal is met or missed, or the time is over."""
    block = 0
    going = list(contests)
    for contest in going:
        contest.looks = effort.looks
    while going:
        block += 1
        left = effort.until - effort.clock()
        say(f"block {block}: {len(going)} of {len(contests)} comparisons, at most {max(left, 0):.0f} s left")
        for contest in rng.sample(going, len(going)):
            if effort.clock() + contest.seconds <= effort.until:
                _one_pair(contest, effort, rng, say)
        going = [contest for contest in going if not _is_done(contest, effort)]


def _is_done(contest: Contest, effort: Effort) -> bool:
    pairs = len(contest.pairs)
    late = effort.clock() + contest.seconds > effort.until
    if late or pairs >= effort.looks[-1] or len(contest.failures) >= MOST_FAILURES:
        return True
    return pairs in effort.looks and _is_answered(contest.row(), effort.width)


def _is_answered(row: Row, width: float) -> bool:
    """Whether the goal is met or missed, or the interval so narrow that more pairs would hardly tell."""
    if row.ratio is None or row.low is None or row.high is None:
        return False
    return row.verdict in (MET, MISSED) or row.high - row.low <= width * row.ratio


def _one_pair(contest: Contest, effort: Effort, rng: random.Random, say: Callable[[str], None]) -> None:
    began = effort.clock()
    figures = {}
    try:
        for side in rng.sample(["ours", "peer"], 2):
            figures[side] = contest.ours() if side == "ours" else contest.peer()
    except BenchError as error:
        contest.failures.append(str(error))
        say(f"{contest.name}, beside {contest.peer_name}: {error}")
        return
    contest.pairs.append((figures["ours"], figures["peer"]))
    contest.seconds = max(contest.seconds, effort.clock() - began)
