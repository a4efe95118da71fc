"""LogGP of a pair: L, o, g and G, and where the protocol changes.

LogGP (Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995) says that a message of s bytes takes L + 2o + (s-1)·G,
that a sender and a receiver are busy for o each, and that messages follow each other at least g + (s-1)·G apart. Gaps
are found as Netgauge does (Hoefler, Lichei and Rehm, IPDPS 2007), from PRTT(n, d, s): n messages of s bytes with d
seconds between them, and one answer to the last. Overheads are not: a difference of two times of milliseconds is no
measure of a call of microseconds where others take the CPU. They are what the calls take by themselves:

- gap(s) = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n-1), which is g + (s-1)·G: straight lines over s, one a protocol.
- o(s) of the sender: a call that sends, a pause after the one before; of the receiver: one that takes a message that is
  there, of trains that have come while it did something else.
- L = PRTT(1, 0, s)/2 less both, of the smallest s: a round trip has both ends' overheads.

Overheads are measured at both ends of the pair, each way. The lines are found by `wulf.stats.curves.piecewise`; every
third size is held out of them and predicted. So are patterns that are in none of them (`wulf.model.network.patterns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wulf.model.network.loggp import Check, LogGP
from wulf.model.network.patterns import BOTH_WAYS, TOGETHER, TURNS, Patterns, Times, turns_time, window_time
from wulf.stats.curves.piecewise import LEAST_SIZES, PiecewiseCurve, fit
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats, check_confidence, checked

DRAWS = 999

HELD_OUT = 3
"""Every n-th size is held out of the fit; never the first or the last, beyond which nothing is predicted."""

LEAST_REPLICATES = 6
"""Of a size: L's interval at 95 % covers it in 60 % of campaigns with two, in 83 % with three, in 94 % with six."""

LEAST_MESSAGES = 2


class TooFewReplicatesError(ValueError):
    """So few that no interval would cover."""


@dataclass(frozen=True)
class Calls:
    """What calls take by themselves, for messages of one size and one way: each replicate's seconds."""

    bytes: float
    send: Sequence[float]
    receive: Sequence[float]


NOTHING_LEFT = (
    "not identifiable: sending and receiving take as long as the whole way, and nothing is left for the wire; "
    "a CPU of its own for each rank would tell it"
)
"""Why there is no latency."""

NO_SLOPE = "larger messages took no longer than small ones: measure larger ones, or longer"
"""Why there is no time of a byte."""

NOT_TOLD = (
    "what hides behind computing differs too much from time to time, or nothing does, small messages included; "
    "a CPU of its own for each rank would tell it"
)
"""Why it is not known whether large messages get on without calls."""

NO_ORDER = (
    "two large messages of which one begins later take too differently from time to time; "
    "a CPU of its own for each rank would tell it"
)
"""Why it is not known whether requests and answers wait behind data."""

ALL_EAGER = "no size was found from which on a receiver has to ask first"
"""Why there is no eager limit."""


def fit_loggp(
    round_trips: Times,
    trains: Times | None = None,
    calls: Sequence[Calls] = (),
    patterns: Patterns | None = None,
    *,
    messages: int = 1,
    confidence: float = 0.95,
    seed: int = 0,
) -> LogGP:
    """Fit LogGP.

    Parameters
    ----------
    round_trips
        PRTT(1, 0, s): at least four sizes of `LEAST_REPLICATES` or more; sizes of fewer are left out, and that is said.
    trains
        PRTT(n, 0, s), with `messages` n; None where only round trips were measured (TCP's sweep): no o and no g then.
    calls
        Of some of the sizes, one way or both.
    patterns
        What is predicted, and no parameter is taken from.

    Raises
    ------
    TooFewReplicatesError
        A ValueError: too few sizes are left.
    ValueError
        Too few sizes, a time is not above zero, or trains of fewer than two messages.
    """
    if trains and messages < LEAST_MESSAGES:
        raise ValueError(f"a train of {messages} message has no gap: at least {LEAST_MESSAGES} are needed")
    boot, patterns = _Bootstrap(confidence, seed), patterns or Patterns()
    reasons: dict[str, str] = {}
    round_trips, trains, calls = _enough(round_trips, trains, calls, reasons)
    half = {size: (checked(values) / 2).tolist() for size, values in round_trips.items()}
    times, checks = boot.lines(half, "time")
    checks += [boot.check(BOTH_WAYS, size, times, values) for size, values in _usable(patterns.crossings)]
    hidden = {size: boot.median(shares) for size, shares in _usable(patterns.hidden)}
    gaps, gap = None, None
    if trains:
        own = _gaps(round_trips, trains, messages, reasons)
        if own:
            gaps, more = boot.lines(own, "gap")
            gap, checks = boot.median(own[min(own)]), checks + more
    else:
        reasons.setdefault("gap", "only round trips were measured: no messages followed each other")
    if not calls:
        for name in ("send", "receive"):
            reasons.setdefault(name, "only round trips were measured: o is part of them, and can't be told from L")
        reasons["latency"] = "it can't be told from 2o: the first line's α is L + 2o"
        return _told(LogGP(None, None, None, gap, {}, times, gaps, checks, reasons, hidden))
    smallest = min(one.bytes for one in calls)
    latency = _latency([one for one in calls if one.bytes == smallest], round_trips, boot)
    if latency is None:
        reasons["latency"] = NOTHING_LEFT
    found = _overheads(calls, boot)
    checks += _windows(patterns.windows, found, times, gaps, boot)
    made = LogGP(latency, *found[smallest], gap, found, times, gaps, checks, reasons, hidden)
    return _told(_ordered(made, patterns.turns, boot))


def _windows(
    windows: Times,
    overheads: Mapping[float, tuple[Interval, Interval]],
    times: PiecewiseCurve,
    gaps: PiecewiseCurve | None,
    boot: _Bootstrap,
) -> Iterator[Check]:
    """Windows of sizes whose overheads are known, against what LogGP makes of them; none without gaps."""
    for size, values in _usable(windows):
        if gaps is not None and size in overheads:
            send, receive = (one.value for one in overheads[size])
            expected = window_time(times.at(size), send, receive, gaps.at(size))
            yield boot.check(TOGETHER, size, times, values, expected)


def _ordered(found: LogGP, turns: Times, boot: _Bootstrap) -> LogGP:
    """With whether all leaves in order, and how far off what that makes of the pattern is; of the largest size.

    Messages that are sent at once ask for nothing: nothing is told by them.
    """
    own, eager = _usable(turns), found.eager
    if not own or eager is None or found.latency is None or own[-1][0] <= eager.high:
        return found
    size, values = own[-1]
    alone, data = found.time(size), found.per_byte.value * (size - 1)
    either = {in_order: turns_time(alone, found.latency.value, data, in_order=in_order) for in_order in (False, True)}
    measured, middle = boot.median(values), sum(either.values()) / 2
    in_order = True if measured.low > middle else False if measured.high < middle else None
    if in_order is None:
        return replace(found, reasons={**found.reasons, "in_order": NO_ORDER})
    check = boot.check(TURNS, size, found.times, values, either[in_order])
    return replace(found, in_order=in_order, checks=[*found.checks, check])


def _usable(times: Times) -> list[tuple[float, Sequence[float]]]:
    """Sizes of enough replicates, the smallest first."""
    return sorted((size, values) for size, values in times.items() if len(values) >= LEAST_REPLICATES)


def _overheads(calls: Sequence[Calls], boot: _Bootstrap) -> dict[float, tuple[Interval, Interval]]:
    """Both o(s) by bytes, of all ends that were measured."""
    ends: dict[float, list[tuple[Interval, Interval]]] = {}
    for one in calls:
        ends.setdefault(one.bytes, []).append((boot.median(one.send), boot.median(one.receive)))
    return {size: (_of_ends([send for send, _ in own]), _of_ends([receive for _, receive in own]))
            for size, own in sorted(ends.items())}  # fmt: skip


def _of_ends(ends: Sequence[Interval]) -> Interval:
    middle = float(np.mean([one.value for one in ends]))
    return Interval(middle, min(one.low for one in ends), max(one.high for one in ends))


def _told(found: LogGP) -> LogGP:
    """With the reasons why the lines have no G, or no eager limit."""
    lacking = {"per_byte": NO_SLOPE} if found.per_byte.value <= 0 else {}
    lacking |= {"eager": ALL_EAGER} if found.eager is None else {}
    lacking |= {"progress": NOT_TOLD} if found.hidden and found.progress is None else {}
    return replace(found, reasons={**found.reasons, **lacking})


class _Bootstrap:
    """Intervals of medians and of what is made of them."""

    def __init__(self, confidence: float, seed: int) -> None:
        check_confidence(confidence)
        self._confidence, self._seed = confidence, seed
        self._random = np.random.default_rng(seed)

    def draw(self, values: Floats) -> Floats:
        """Medians of resamples, shape (draws,), widened by √(n/(n-1)) for the few values that there are."""
        drawn = np.median(self._random.choice(values, (DRAWS, values.size)), axis=1)
        middle = np.median(values)
        wider = middle + (drawn - middle) * (values.size / (values.size - 1)) ** 0.5
        result: Floats = np.clip(wider, values.min(), values.max())
        return result

    def interval(self, value: float, drawn: Floats) -> Interval:
        """The value with the quantiles of its draws."""
        low, high = np.quantile(drawn, [(1 - self._confidence) / 2, (1 + self._confidence) / 2])
        return Interval(value, min(float(low), value), max(float(high), value))

    def median(self, samples: Sequence[float]) -> Interval:
        """The median with its interval."""
        return self.interval(float(np.median(samples)), self.draw(checked(samples)))

    def lines(self, samples: Times, what: str) -> tuple[PiecewiseCurve, list[Check]]:
        """The lines through all sizes; and how those through two of three predict the third ones.

        Where too few sizes would be left none is held out.
        """
        sizes = sorted(samples)
        out = sizes[HELD_OUT - 1 : -1 : HELD_OUT]
        checks: list[Check] = []
        if len(sizes) - len(out) > LEAST_SIZES:
            shown = {size: samples[size] for size in sizes if size not in out}
            partial = fit(shown, confidence=self._confidence, seed=self._seed)
            checks = [self.check(what, size, partial, samples[size]) for size in out]
        return fit(samples, confidence=self._confidence, seed=self._seed), checks

    def check(
        self, what: str, size: float, curve: PiecewiseCurve, samples: Sequence[float], expected: float | None = None
    ) -> Check:
        """What lines say of a size that is not among theirs; or of another pattern, what is `expected` of it [s]."""
        drawn = self.draw(checked(samples))
        measured = self.interval(float(np.median(samples)), drawn)
        predicted = curve.at(size) if expected is None else expected
        error = self.interval(predicted / measured.value - 1, predicted / drawn - 1)
        on_a_line = any(line.first <= size <= line.last for line in curve.lines)
        return Check(what, size, predicted, measured, error, not on_a_line)


def _enough(
    round_trips: Times, trains: Times | None, calls: Sequence[Calls], reasons: dict[str, str]
) -> tuple[Times, Times | None, Sequence[Calls]]:
    """What has replicates enough for an interval that covers; what has not is left out, by name."""
    trips = {size: values for size, values in round_trips.items() if len(values) >= LEAST_REPLICATES}
    if len(trips) < min(LEAST_SIZES, len(round_trips)):
        raise TooFewReplicatesError(
            f"{len(trips)} of {len(round_trips)} sizes have {LEAST_REPLICATES} replicates or more; intervals of fewer "
            f"cover too rarely, and lines need {LEAST_SIZES} sizes"
        )
    rows = None if trains is None else {size: row for size, row in trains.items() if len(row) >= LEAST_REPLICATES}
    left = round_trips.keys() - trips.keys()
    timed = [one for one in calls if min(len(one.send), len(one.receive)) >= LEAST_REPLICATES and one.bytes not in left]
    untimed = {one.bytes for one in calls if one not in timed}
    few = sorted(left | untimed | ((trains or {}).keys() - (rows or {}).keys()))
    if few:
        named = ", ".join(f"{size:g} B" for size in few)
        reasons["left out"] = f"{named}: fewer than {LEAST_REPLICATES} replicates of what was measured there"
    if trains and not rows:
        reasons["gap"] = f"no train of messages has {LEAST_REPLICATES} replicates"
    if calls and not timed:
        reasons |= dict.fromkeys(("send", "receive"), f"no train with pauses has {LEAST_REPLICATES} replicates")
    return trips, rows, timed


def _gaps(round_trips: Times, trains: Times, messages: int, reasons: dict[str, str]) -> dict[float, list[float]]:
    """gap(s) of every train, less the median round trip; one that drowns in noise is left out, and that is said."""
    both = sorted(set(round_trips) & set(trains))
    found = {}
    for size in both:
        alone = float(np.median(round_trips[size]))
        gaps = [(train - alone) / (messages - 1) for train in trains[size]]
        if min(gaps, default=0.0) > 0:
            found[size] = gaps
    if len(found) < len(both):
        left = ", ".join(f"{size:g} B" for size in both if size not in found)
        reasons["gaps left out"] = f"{left}: {messages} messages took no longer than one at times"
    if len(found) < LEAST_SIZES:
        reasons["gap"] = f"{len(found)} sizes have gaps above zero: {LEAST_SIZES} are needed"
        return {}
    return found


def _latency(calls: Sequence[Calls], round_trips: Times, boot: _Bootstrap) -> Interval | None:
    """L = PRTT(1, 0, s)/2 - o of the sender - o of the receiver, of one size; of both ways their mean.

    None where the overheads are all of it.
    """
    size = calls[0].bytes
    if size not in round_trips:
        raise ValueError(f"calls for messages of {size:g} bytes were timed, but there are no round trips of them")
    trips, sides = checked(round_trips[size]), ([one.send for one in calls], [one.receive for one in calls])

    def of(middle: Callable[[Floats], Floats]) -> Floats:
        overheads = [np.mean([middle(checked(values)) for values in side], axis=0) for side in sides]
        return np.asarray(middle(trips) / 2 - sum(overheads))

    value = float(of(lambda values: np.median(values, keepdims=True))[0])
    return boot.interval(value, of(boot.draw)) if value > 0 else None
