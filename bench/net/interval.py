"""Part `interval`: how long it takes until a round trip's interval is ±1 %, beside netperf's fixed runs.

Both sides have the same driver, pair and confidence; what differs is the length of a run and the rule that ends. Each
has its own figure: ours the median of the runs' medians, netperf's the mean of the runs' means (its transactions a
second are one over the mean round trip).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bench.engine.blocks import Contest, Effort, run_blocks
from bench.engine.context import Context
from bench.engine.pair import Pair, Placement, placements
from bench.engine.rows import Row, noted
from wulf.stats.intervals import few_mean_interval
from wulf.stats.stopping import WatchRule

WIDTH, CONFIDENCE = 0.02, 0.99
"""±1 %, and the greater of the two confidences that netperf knows: `netperf -I 99,2`."""

RUN_SECONDS = 10.0
"""netperf's test length unless asked otherwise (`-l`)."""

LEAST_RUNS, MOST_RUNS = 3, 30
"""netperf's `-i 30,3`: it never ends before the least, and warns after the most."""

LIMIT = 90.0
"""Seconds after which a side is given up: its time is then said to be the limit."""

BLOCKS = 6
SECONDS = 900.0
"""The part's own time, so that it takes none of the others'."""

PEER = "fixed 10 s runs"
"""The peer's name: netperf's rule, not its program."""

Decide = Callable[[Sequence[float]], bool]


@dataclass
class Racer:
    """One side: measures runs until its rule is content, or the limit is there.

    Parameters
    ----------
    measure
        One run: its figure in seconds.
    decide
        All figures so far → whether the interval is narrow enough.
    run_seconds
        How long a run takes: none begins that would not end by the limit.
    most
        Runs after which it ends in any case; None: no such number.
    """

    measure: Callable[[], float]
    decide: Decide
    run_seconds: float = 0.0
    most: int | None = None
    clock: Callable[[], float] = time.monotonic
    given_up: int = 0

    def time(self) -> float:
        """Seconds from the first run's start until the rule was content; the limit where it never was."""
        began, figures = self.clock(), list[float]()
        while len(figures) != self.most and self.clock() - began + self.run_seconds <= LIMIT:
            figures.append(self.measure())
            seconds = self.clock() - began
            if self.decide(figures) and seconds <= LIMIT:
                return seconds
        self.given_up += 1
        return LIMIT


def netperf_decides(means: Sequence[float]) -> bool:
    """Student's interval of the runs' means is narrow enough (netperf's manual, -I and -i)."""
    width = few_mean_interval(means, CONFIDENCE).width
    return len(means) >= LEAST_RUNS and width is not None and width <= WIDTH


def wulf_decides(medians: Sequence[float]) -> bool:
    """The rule of `wulf watch` and of every plan that may go on: a confidence sequence, looked at after each run."""
    return WatchRule(WIDTH, CONFIDENCE).decide(medians).stop


@dataclass
class Race:
    """Both sides over one pair."""

    ours: Racer
    peer: Racer
    name: str
    contest: Contest = field(init=False)

    def __post_init__(self) -> None:
        self.contest = Contest(self.name, PEER, "s", "lower", self.ours.time, self.peer.time)

    def row(self) -> Row:
        """The ratio of the times; how often a side was given up stands beside the peer's name.

        One side's limit in place of its time brings the ratio nearer to 1, and proves nothing that is not so. Blocks
        in which both were given up say nothing of the ratio at all: it then has no interval.
        """
        row = self.contest.row()
        words = f"past {LIMIT:g} s: ours {self.ours.given_up}, theirs {self.peer.given_up}"
        row = replace(row, peer_name=noted(row.peer_name, words))
        neither = any(ours >= LIMIT and peer >= LIMIT for ours, peer in self.contest.pairs)
        return replace(row, low=None, high=None) if neither else row


def race(pair: Pair, place: Placement) -> Race:
    """TCP, 1 B, there and back."""

    def median() -> float:
        return float(pair.wulf(place, "pingpong", "tcp", bytes=1)["metrics"]["rtt"]["value"])

    def mean() -> float:
        answer = pair.wulf(place, "pingpong", "tcp", bytes=1, seconds=RUN_SECONDS)
        return float(answer["metrics"]["rtt"]["mean"])

    name = f"time to ±1 % of the TCP 1 B round trip, {CONFIDENCE:.0%} confidence, {place.name}"
    return Race(Racer(median, wulf_decides), Racer(mean, netperf_decides, RUN_SECONDS, MOST_RUNS), name)


def measure(context: Context) -> list[Row]:
    """One row, for both ends on one CPU, as wulf puts two nodes of one machine by itself."""
    one = race(context.pair, placements()[0])
    effort = Effort((BLOCKS,), float("inf"), time.monotonic() + SECONDS)
    run_blocks([one.contest], effort, context.rng, context.say)
    return [one.row()]
