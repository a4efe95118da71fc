"""Where the level of a series of runs changed: E-divisive (Matteson & James, JASA 2014) in one dimension.

A segment is split where the energy distance between the values before and after is greatest, and the halves are split
in turn, as long as a permutation test says that values in random order would hardly ever part so clearly. Nothing is
assumed of their distribution. Runs that resemble their neighbours (a machine that is warm for a week) stay together in
blocks; that is not all of it: an AR(1) series of 100 runs with ρ = 0.5 shows
a change in one case of nine (in almost every second without the blocks), a short one in one of five. A t-test at the
split that was chosen because it is the greatest is no test, and with ddof = 0, as a peer has it, errs even at a given
split.

Where this differs from the paper:

- Values beyond three interquartile ranges from the quartiles count as lying there. The energy statistic weighs by
  distance, and one run in the way of a backup would else hide a change. Medians and ratios are of the values as
  they are.
- The split is tested within its own segment, not over all segments at once, so that one that is noisy does not hide
  the others. With S segments open, the clearest must pass level/S, and one is split at a time: "no more changes than
  found so far" is a chain of nested hypotheses, so that too many are found with the level's chance. In the end each
  change is placed anew between its neighbours, and dropped where it no longer passes the level. Simulated at 5 %: one
  too many in 5 % of series without a change, in 6 to 7 % of those with two to five weak ones, whose places are unsure.
- A segment ends where the neighbours begin (the paper's κ is always the end), so that a level that came and went again
  within a small part of a long series is found late or not at all. One that still lasts is found.

It is one long file, since these departures stand in one another's code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ceil, exp, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wulf.stats.diagnostics import effective_size, robust_sigma
from wulf.stats.ranks import Shift, rank_sum_shift
from wulf.stats.samples import Floats, check_confidence, checked

PERMUTATIONS = 199
"""Random orders for one segment, as in the paper; more for each where several are tested at once."""

LEAST = 5
"""Values on either side of a change, at least: fewer hardly differ from an outlier or two."""

LEVELS = 64
"""Longer series are rounded to so many levels, each the median of as many values: exact up to there."""

_CLIP = 3.0
"""Tukey's outer fences (Exploratory Data Analysis, 1977), in interquartile ranges beyond the quartiles."""

LEAST_BLOCKS = 10
"""Blocks of neighbours that a random order has, at least."""

_EVERY_PLACE = 100
_PLACE_GROWTH = 1.03
"""The test looks at every place so far from an end, then at places 3 % farther each."""

_MOST_AT_ONCE = 2**19
"""Cells of a batch of random orders: as many as stay in the cache."""

_NEAREST = 200
"""Values on either side from which the shift is estimated: the nearest; its cost grows with their product."""

_RESAMPLES = 199
_RESAMPLED = 100
"""For the interval of the place: so often, from the nearest so many values on either side."""

_SETTLE = 5
"""Rounds of placing the changes anew; two or three are enough."""

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Change:
    """One change of level.

    Attributes
    ----------
    at
        Index of the first value after it.
    earliest, latest
        95 % interval of `at`.
    p
        Of so clear a split within its segment where nothing changed; not corrected for the other segments.
    before, after
        Medians from the previous change, and to the next.
    shift, shift_low, shift_high
        By how much the values after lie above those before, in their unit (Hodges & Lehmann), from the nearest 200 on
        either side. The bounds are None where there are too few values.
    ratio, ratio_low, ratio_high
        After / before, likewise; None where a value is not above zero. As every effect that was looked for and found,
        both are a little too great.
    confidence
        Of the two intervals.
    """

    at: int
    earliest: int
    latest: int
    p: float
    before: float
    after: float
    shift: float
    shift_low: float | None
    shift_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    confidence: float

    @property
    def direction(self) -> int:
        """1 where the values rose, -1 where they fell, 0 where the interval allows both: their spread changed."""
        if self.shift_low is None or self.shift_high is None:
            return int(np.sign(self.after - self.before))
        return 1 if self.shift_low > 0 else -1 if self.shift_high < 0 else 0


def in_levels(values: Floats) -> tuple[Ints, Floats]:
    """For every value the number of its level, and the gaps between the levels. Shapes (n,) and (levels - 1,).

    Up to 64 distinct values are levels of their own; more are rounded to 64 levels of equally many values.
    """
    levels, bins = np.unique(values, return_inverse=True)
    if levels.size > LEVELS:
        ordered = np.sort(values)
        cuts = np.unique(ordered[np.arange(1, LEVELS) * values.size // LEVELS])
        bins = np.unique(np.searchsorted(cuts, values, side="right"), return_inverse=True)[1]
        counts = np.bincount(bins)
        ends = np.cumsum(counts)
        first = ends - counts
        levels = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2
    return bins, np.diff(levels)


def energies(bins: Ints, gaps: Floats, places: Ints) -> Floats:
    """The energy statistic of each split: τ(n-τ)/n times the energy distance between the first τ values and the rest.

    In one dimension the energy distance is 2∫(F-G)² (Székely & Rizzo 2013), so that with C_τ(b) the number of the first
    τ values ≤ b, and w_b the gap from b to the next greater value, all splits have
    Q(τ) = 2n / (τ(n-τ)) · Σ_b w_b (C_τ(b) - τ/n · C_n(b))².

    Parameters
    ----------
    bins, gaps
        Several orders of the values, shape (orders, n), and the gaps between levels, by `in_levels`.
    places
        The τ wanted, ascending, between 1 and n-1.

    Returns
    -------
    array
        Shape (orders, places).
    """
    orders, n = bins.shape
    parts, levels = places.size + 1, gaps.size + 1
    part = np.searchsorted(places, np.arange(n), side="right")
    cells = (np.arange(orders)[:, None] * parts + part) * levels + bins
    counts = np.bincount(cells.ravel(), minlength=orders * parts * levels).reshape(orders, parts, levels)
    below = counts.cumsum(axis=1).cumsum(axis=2).astype(float)[:, :, :-1]
    apart = below[:, :-1] - (places / n)[:, None] * below[:, -1:]
    apart *= np.sqrt(gaps)
    result: Floats = np.einsum("opl,opl->op", apart, apart) * (2 * n / (places * (n - places)))
    return result


def _places(n: int, least: int) -> Ints:
    """Where the test looks: dense at the ends, where a place too far costs most; nowhere off by more than 1.5 %."""
    far = [*range(least, min(_EVERY_PLACE, n // 2) + 1)]
    while far and far[-1] < n // 2:
        far.append(min(n // 2, max(far[-1] + 1, int(far[-1] * _PLACE_GROWTH))))
    near = np.asarray(far, dtype=np.intp)
    return np.unique(np.concatenate([near, n - near]))


def _clipped(values: Floats) -> Floats:
    """With outliers at Tukey's outer fences, where the quartiles differ."""
    low, high = np.quantile(values, [0.25, 0.75])
    reach = _CLIP * (high - low)
    return np.clip(values, low - reach, high + reach) if reach > 0 else values


def _together(values: Floats) -> int:
    """How many neighbours stay together in a random order: one where they do not resemble each other.

    From differences to the next value and to the one behind it, which a change of level hardly touches: their mean
    squares are as 1 to 1+ρ in an AR(1) series. What chance may add to ρ is taken off. Nearly twice as many stay
    together as amount to one independent value, since a block's ends are torn from their neighbours.
    """
    n = values.size
    if n < 2 * LEAST_BLOCKS:
        return 1
    near, far = (_mean_square(values[lag:] - values[:-lag]) for lag in (1, 2))
    rho = float(np.clip(far / near - 1 - n**-0.5, 0.0, 0.9)) if near > 0 else 0.0
    return round(2 * (1 + rho) / (1 - rho) - 1)


def _mean_square(differences: Floats) -> float:
    """Without the outliers: beyond five robust standard deviations a difference counts as lying there."""
    reach = 5 * robust_sigma(differences)
    return float(np.mean(np.clip(differences, -reach, reach) ** 2)) if reach > 0 else 0.0


class _Segment:
    """A stretch of the series, and how far its permutation test has come.

    Sequential (Besag & Clifford 1991): it ends for good at so many orders that part as clearly as what was measured;
    p is then their share, and valid. Else it goes on when a stricter level asks for more orders.
    """

    def __init__(self, values: Floats, start: int, least: int, random: np.random.Generator, block: int) -> None:
        self.values, self.start, self.least, self.random, self.together = values, start, least, random, block
        self.testable = values.size >= 2 * least and float(np.ptp(values)) > 0
        self.drawn = self.exceeded = 0
        self.total = 0.0
        if self.testable:
            self.bins, self.gaps = in_levels(_clipped(values))
            self.places = _places(values.size, least)
            self.greatest = float(energies(self.bins[None, :], self.gaps, self.places).max())
            self.block = max(1, min(block, values.size // LEAST_BLOCKS))

    @property
    def stop(self) -> int:
        return self.start + self.values.size

    @property
    def excess(self) -> float:
        """How many times as clear as in random order."""
        return self.greatest * self.drawn / self.total if self.total > 0 else 0.0

    def p(self, enough: int) -> float:
        return self.exceeded / self.drawn if self.exceeded >= enough else (1 + self.exceeded) / (1 + self.drawn)

    def passes(self, level: float, enough: int) -> bool:
        """Whether p is at most the level; draws as many orders as this takes."""
        wanted = ceil(enough / level * (1 - 1e-12)) - 1
        while self.drawn < wanted and self.exceeded < enough:
            self._draw(wanted - self.drawn, enough)
        return self.p(enough) <= level * (1 + 1e-12)

    def _draw(self, most: int, enough: int) -> None:
        """A batch of random orders; what follows the last exceedance that was needed does not count."""
        at_once = _MOST_AT_ONCE // ((self.places.size + 1) * (self.gaps.size + 1))
        orders = self._orders(max(1, min(most, 32, at_once)))
        found = energies(orders, self.gaps, self.places).max(axis=1)
        clear = found >= self.greatest * (1 - 1e-9)  # ties by rounding count against a change
        last = int(np.searchsorted(np.cumsum(clear), enough - self.exceeded)) + 1
        self.drawn += min(last, found.size)
        self.exceeded += int(clear[:last].sum())
        self.total += float(found[:last].sum())

    def _orders(self, count: int) -> Ints:
        """Random orders of the blocks, shape (count, n); where a block begins is random, too, so that all are alike."""
        if self.block == 1:
            return self.random.permuted(np.tile(self.bins, (count, 1)), axis=1)
        n = self.bins.size
        whole = n // self.block
        turned = (np.arange(n)[None, :] + self.random.integers(n, size=(count, 1))) % n
        blocks = self.random.permuted(np.tile(np.arange(whole), (count, 1)), axis=1)
        within = (blocks[:, :, None] * self.block + np.arange(self.block)).reshape(count, whole * self.block)
        rest = np.tile(np.arange(whole * self.block, n), (count, 1))
        orders: Ints = self.bins[np.take_along_axis(turned, np.concatenate([within, rest], axis=1), axis=1)]
        return orders

    def place(self) -> int:
        """The first value after the greatest statistic of all places."""
        places = np.arange(self.least, self.values.size - self.least + 1)
        return self.start + int(places[np.argmax(energies(self.bins[None, :], self.gaps, places)[0])])

    def part(self, start: int, stop: int) -> _Segment:
        """A part of it, by places in the whole series."""
        return _Segment(
            self.values[start - self.start : stop - self.start], start, self.least, self.random, self.together
        )


def change_points(
    values: ArrayLike,
    *,
    level: float = 0.05,
    permutations: int = PERMUTATIONS,
    least: int = LEAST,
    seed: int | np.random.Generator = 0,
) -> list[Change]:
    """The changes of one series, in its order; see `change_points_of`. Shape (n,)."""
    return change_points_of([values], level=level, permutations=permutations, least=least, seed=seed)[0]


def change_points_of(
    series: Iterable[ArrayLike],
    *,
    level: float = 0.05,
    permutations: int = PERMUTATIONS,
    least: int = LEAST,
    seed: int | np.random.Generator = 0,
) -> list[list[Change]]:
    """The changes of several series.

    A series in which nothing changed shows a change with no greater chance than the level. Of many series, those that
    changed at all are chosen with that false discovery rate (Benjamini & Hochberg 1995), and within each of the k
    chosen among N the level is level · k/N (Benjamini & Bogomolov 2014). A stricter level takes more random orders,
    some `permutations` · N in all.

    Parameters
    ----------
    series
        Each of shape (n,), in the order measured. Fewer than 2 · `least` values, or all equal ones, have no change.
    level
        Chance of a change too many.
    permutations
        For one segment; (1 + permutations) · level must be at least 1.
    least
        Values on either side of a change.
    seed
        Of the random orders: the same gives the same answer.

    Raises
    ------
    ValueError
        A value is NaN or infinite, or the parameters can never find anything.
    """
    check_confidence(1 - level)
    enough = round(level * (permutations + 1))
    if enough < 1:
        raise ValueError(f"{permutations} permutations never convince at a level of {level:g}")
    if least < 2:
        raise ValueError(f"a segment of {least} values has no distribution: at least 2 are needed")
    arrays = [checked(values) for values in series]
    spawned = np.random.default_rng(seed).spawn(len(arrays))
    roots = [
        _Segment(values, 0, least, random, _together(values)) for values, random in zip(arrays, spawned, strict=True)
    ]
    chosen, share = _screened([root for root in roots if root.testable], level, enough)
    passed = {id(root) for root in chosen}
    return [_changes(root, level, level * share, enough) if id(root) in passed else [] for root in roots]


def _screened(roots: list[_Segment], level: float, enough: int) -> tuple[list[_Segment], float]:
    """Those that change at all, by Benjamini and Hochberg's step-up from above, and which share of all they are."""
    chosen, share = roots, 1.0
    while chosen:
        share = len(chosen) / len(roots)
        kept = [root for root in chosen if root.passes(level * share, enough)]
        if len(kept) == len(chosen):
            break
        chosen = kept
    return chosen, share


def _changes(root: _Segment, level: float, within: float, enough: int) -> list[Change]:
    """Bisect a series until no segment passes, then look at each change again between its neighbours."""
    waiting, p_of = [root], {}
    while waiting:
        clear = [segment for segment in waiting if segment.passes(within / len(waiting), enough)]
        if not clear:
            break
        best = min(clear, key=lambda segment: (segment.p(enough), -segment.excess))
        waiting.remove(best)
        at = best.place()
        p_of[at] = best.p(enough)
        halves = (root.part(best.start, at), root.part(at, best.stop))
        waiting += [half for half in halves if half.testable]
    places = _refined(root, sorted(p_of), within, enough) if len(p_of) > 1 else p_of
    ends = [0, *places, root.stop]
    segments = [root.part(start, stop) for start, stop in pairwise(ends)]
    return [_change(a, b, places[b.start], level) for a, b in pairwise(segments)]


def _refined(root: _Segment, places: list[int], within: float, enough: int) -> dict[int, float]:
    """Each change placed anew between its neighbours, and dropped where there is none any more; with its p.

    Bisection places the first changes while the others still disturb, and a misplaced one leaves a few values on the
    wrong side that pass for a change of their own (as Inclán & Tiao 1994 refine theirs).
    """

    @cache
    def look(start: int, stop: int) -> tuple[int, float, float]:
        segment = root.part(start, stop)
        if not segment.testable:
            return (start + stop) // 2, 1.0, 0.0
        segment.passes(within, enough)
        return segment.place(), segment.p(enough), segment.excess

    while places:
        for _ in range(_SETTLE):
            old = list(places)
            for i in range(len(places)):
                ends = [0, *places, root.stop]
                places[i] = look(ends[i], ends[i + 2])[0]
            if places == old:
                break
        ends = [0, *places, root.stop]
        found = [look(start, stop) for start, stop in zip(ends, ends[2:], strict=False)]
        worst = max(range(len(found)), key=lambda i: (found[i][1], -found[i][2]))
        if found[worst][1] <= within:
            return {place: p for place, (_, p, _) in zip(places, found, strict=True)}
        del places[worst]
    return {}


def _change(before: _Segment, after: _Segment, p: float, level: float) -> Change:
    first, second = before.values[-_NEAREST:], after.values[:_NEAREST]
    shift = _shift(first, second, level)
    positive = float(min(before.values.min(), after.values.min())) > 0
    ratio = _shift(np.log(first), np.log(second), level) if positive else None
    early, late = _misplaced(before.values, after.values, before.least, after.random)
    return Change(
        at=after.start,
        earliest=max(before.start + 1, after.start - late),
        latest=min(after.stop - 1, after.start - early),
        p=p,
        before=float(np.median(before.values)),
        after=float(np.median(after.values)),
        shift=shift.value,
        shift_low=_bounded(shift.low),
        shift_high=_bounded(shift.high),
        ratio=exp(ratio.value) if ratio else None,
        ratio_low=exp(ratio.low) if ratio and isfinite(ratio.low) else None,
        ratio_high=exp(ratio.high) if ratio and isfinite(ratio.high) else None,
        confidence=1 - level,
    )


def _shift(first: Floats, second: Floats, level: float) -> Shift:
    effect = max(first.size / effective_size(first), second.size / effective_size(second))
    return rank_sum_shift(first, second, level, effect)


def _bounded(value: float) -> float | None:
    return value if isfinite(value) else None


def _misplaced(before: Floats, after: Floats, least: int, random: np.random.Generator) -> tuple[int, int]:
    """95 % interval of how far too late such a change is found: by resampling both sides (Hušková & Kirch 2008)."""
    first, second = before[-_RESAMPLED:], after[:_RESAMPLED]
    bins, gaps = in_levels(_clipped(np.concatenate([first, second])))
    drawn = np.concatenate(
        [
            random.choice(bins[: first.size], (_RESAMPLES, first.size)),
            random.choice(bins[first.size :], (_RESAMPLES, second.size)),
        ],
        axis=1,
    )
    places = np.arange(min(least, first.size), bins.size - min(least, second.size) + 1)
    found = [energies(part, gaps, places).argmax(axis=1) for part in np.array_split(drawn, max(1, drawn.size // 4096))]
    late = places[np.concatenate(found)] - first.size
    low, high = np.quantile(late, [0.025, 0.975], method="inverted_cdf")
    return int(low), int(high)
