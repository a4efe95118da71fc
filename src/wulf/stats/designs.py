"""Which settings to measure together, and in which order: designs of two-level experiments.

A factor is a knob that is off (-1, the baseline) or on (+1). Changing one at a time spends every run on one knob;
a factorial design spends every run on all of them, and shows interactions besides (Box, Hunter & Hunter, Statistics
for Experimenters, 2nd ed., chapters 5-7 and 9; Montgomery, Design and Analysis of Experiments, 8th ed., chapters 6-8
and 14). Every design here holds the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wulf.stats.samples import Floats

Levels = NDArray[np.int8]
Indices = NDArray[np.intp]

Term = tuple[int, ...]
"""The factors whose levels are multiplied: one for a main effect, two for an interaction."""

Alias = tuple[int, int]
"""(which term, its sign) among terms that cannot be told apart."""

CONTROL = "A/A"
"""Name of the factor that changes nothing. Whatever effect it seems to have is noise, or a fault of the method."""

MOST_FULL = 12
"""Factors of a full factorial at most: 4096 runs."""

LETTERS = "ABCDEFGHJKL"
"""Factors by the books' letters, which leave out I, the identity."""

FRACTIONS = {
    (4, 8): "ABC",
    (5, 16): "ABCD",
    (6, 16): "ABC BCD",
    (6, 32): "ABCDE",
    (7, 16): "ABC BCD ACD",
    (7, 32): "ABCD ABDE",
    (7, 64): "ABCDEF",
    (8, 16): "BCD ACD ABC ABD",
    (8, 32): "ABC ABD BCDE",
    (8, 64): "ABCD ABEF",
    (9, 32): "BCDE ACDE ABDE ABCE",
    (9, 64): "ABCD ACEF CDEF",
    (9, 128): "ACDFG BCEFG",
    (10, 32): "ABCD ABCE ABDE ACDE BCDE",
    (10, 64): "BCDF ACDF ABDE ABCE",
    (10, 128): "ABCG BCDE ACDF",
    (11, 32): "ABC BCD CDE ACD ADE BDE",
    (11, 64): "CDE ABCD ABF BDEF ADEF",
    (11, 128): "ABCG BCDE ACDF ABCDEFG",
}
"""(factors, runs) → generators of the last factors, in order (Montgomery, table 8.14). Resolutions are computed."""

PLACKETT_BURMAN = {
    8: "+++-+--",
    12: "++-+++---+-",
    16: "++++-+-++--+---",
    20: "++--++++-+-+----++-",
    24: "+++++-+-++--++--+-+----",
}
"""Runs → the first row; the others are its cyclic shifts, and all off (Plackett & Burman, Biometrika 33, 1946)."""


class Kind(StrEnum):
    """How a design was made."""

    ABLATION = "ablation"
    FULL = "full factorial"
    FRACTION = "fractional factorial"
    PLACKETT_BURMAN = "Plackett-Burman"


@dataclass(frozen=True, eq=False)
class Design:
    """The runs of an experiment, before they are put in order.

    Attributes
    ----------
    names
        The factors.
    runs
        Levels, shape (runs, factors): -1 off, +1 on; all replicates one after the other.
    kind
        How it was made.
    resolution
        No effect of p factors is aliased with one of fewer than resolution - p; None where nothing is aliased so, or
        where the design is not of that sort.
    replicates
        How often each run occurs.
    """

    names: tuple[str, ...]
    runs: Levels
    kind: Kind
    resolution: int | None = None
    replicates: int = 1


def with_control(names: Sequence[str]) -> tuple[str, ...]:
    """The factors and an A/A arm: one more, whose two levels are the same configuration.

    It is designed, ordered and analysed like the others; `wulf.stats.effects.analyse` reports it as the control.
    """
    return (*names, CONTROL)


def ablation(names: Sequence[str]) -> Design:
    """The baseline, each factor alone, all but each, all: 2k + 2 runs.

    Every run's opposite is among them, so that no main effect is aliased with an interaction of two (foldover; Box,
    Hunter & Hunter, section 6.9): what is attributed to a factor is right, though no interaction is seen by itself.
    """
    factors = _checked_names(names)
    half = _alone(len(factors))[:-1]
    both = np.concatenate([half, -half[::-1]])
    return _design(factors, _combinations(2) if len(factors) == 2 else both, Kind.ABLATION)


def full_factorial(names: Sequence[str]) -> Design:
    """All 2^k combinations, in standard order: the first factor changes fastest.

    Raises
    ------
    ValueError
        No factors, one named twice, or more than twelve.
    """
    factors = _checked_names(names)
    if len(factors) > MOST_FULL:
        raise ValueError(
            f"{len(factors)} factors make 2^{len(factors)} runs, and {MOST_FULL} are the most: "
            "take fewer, or a Plackett-Burman design to screen them"
        )
    return _design(factors, _combinations(len(factors)), Kind.FULL)


def fractional_factorial(names: Sequence[str], resolution: int = 5, runs: int | None = None) -> Design:
    """The regular fraction 2^(k-p) of at least this resolution: the smallest, or the one of so many runs.

    Resolution IV keeps main effects clear of interactions of two, V also those of one another. The generators' signs
    are such that the baseline is among the runs. Where no fraction will do, it is the full factorial.

    Parameters
    ----------
    resolution
        4 or 5; more runs may give more than that.
    runs
        A power of two; None: as few as possible.

    Raises
    ------
    ValueError
        No factors, one named twice, more than eleven; a resolution that so many runs cannot have, or no such fraction.
    """
    factors = _checked_names(names)
    k = len(factors)
    if resolution not in (4, 5):
        raise ValueError(f"resolution {resolution} is not offered: 4 and 5 are, and plackett_burman has 3")
    if k > len(LETTERS):
        raise ValueError(
            f"{k} factors are too many for a fraction: {len(LETTERS)} are the most, or plackett_burman's 23"
        )
    sizes = [size for of, size in FRACTIONS if of == k]
    enough = [size for size in sizes if _resolution(_words(k, size)) >= resolution]
    least = min(enough, default=2**k)
    if runs is None:
        runs = least
    elif runs not in (*sizes, 2**k):
        offered = ", ".join(str(size) for size in (*sizes, 2**k))
        raise ValueError(f"there is no fraction of {runs} runs for {k} factors: {offered} are offered")
    elif runs != 2**k and runs not in enough:
        raise ValueError(f"{runs} runs of {k} factors cannot have resolution {resolution}: {least} are needed")
    return full_factorial(factors) if runs == 2**k else _fraction(factors, runs)


def _fraction(factors: tuple[str, ...], size: int) -> Design:
    """The table's fraction; each word of its defining relation has the sign that its letters have in the baseline."""
    generators = FRACTIONS[len(factors), size].split()
    levels = _combinations(len(factors) - len(generators))
    for generator in generators:
        parts = [LETTERS.index(letter) for letter in generator]
        sign = 1 if len(parts) % 2 else -1
        levels = np.column_stack([levels, sign * levels[:, parts].prod(axis=1)])
    return replace(_design(factors, levels, Kind.FRACTION), resolution=_resolution(_words(len(factors), size)))


def _words(k: int, size: int) -> list[int]:
    """The generating words as bit masks of factors."""
    generators = FRACTIONS[k, size].split()
    own = range(k - len(generators), k)
    return [sum(1 << LETTERS.index(g) for g in text) | 1 << at for at, text in zip(own, generators, strict=True)]


def _resolution(words: Sequence[int]) -> int:
    """The shortest word of the defining relation: of all products of the generating words."""
    products = [0]
    for word in words:
        products += [word ^ product for product in products]
    return min(product.bit_count() for product in products[1:])


def plackett_burman(names: Sequence[str], runs: int | None = None) -> Design:
    """Screens up to 23 factors in few runs: balanced, main effects orthogonal, but interactions go into them.

    Parameters
    ----------
    runs
        8, 12, 16, 20 or 24; None: the fewest that are more than the factors.

    Raises
    ------
    ValueError
        No factors, one named twice, or too many for the runs.
    """
    factors = _checked_names(names)
    k = len(factors)
    size = runs if runs is not None else min((n for n in PLACKETT_BURMAN if n > k), default=0)
    if runs is not None and runs not in PLACKETT_BURMAN:
        raise ValueError(f"there is no design of {runs} runs here: {', '.join(map(str, PLACKETT_BURMAN))} are offered")
    if k >= (size or max(PLACKETT_BURMAN)):
        raise ValueError(f"{k} factors are too many for {size or max(PLACKETT_BURMAN)} runs: measure them in groups")
    row = np.array([1 if sign == "+" else -1 for sign in PLACKETT_BURMAN[size]])
    shifts = np.stack([np.roll(row, i) for i in range(size - 1)])
    levels = np.vstack([shifts, -np.ones(size - 1)])[:, :k]
    return replace(_design(factors, levels, Kind.PLACKETT_BURMAN), resolution=3)


def replicate(design: Design, times: int) -> Design:
    """The whole design so many times.

    Raises
    ------
    ValueError
        Fewer than once.
    """
    if times < 1:
        raise ValueError(f"a design cannot be measured {times} times: once is the least")
    runs = np.tile(design.runs, (times, 1))
    runs.setflags(write=False)
    return replace(design, runs=runs, replicates=design.replicates * times)


def order(design: Design, random: np.random.Generator) -> Indices:
    """In which order to measure: indices of runs, each once, at random, so that drift favours no factor.

    Each replicate is complete before the next begins, so that a campaign cut short is balanced but for the last.
    """
    replicates = np.split(np.arange(len(design.runs)), design.replicates)
    return np.concatenate([random.permutation(block) for block in replicates])


def _design(names: tuple[str, ...], levels: NDArray[Any], kind: Kind) -> Design:
    runs: Levels = levels.astype(np.int8)
    runs.setflags(write=False)
    return Design(names, runs, kind)


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ValueError(f"{names!r} is one name: give a list of factors")
    factors = tuple(names)
    if not factors:
        raise ValueError("no factors: a design needs one at least")
    twice = [name for i, name in enumerate(factors) if name in factors[:i]]
    if twice:
        raise ValueError(f"factor {twice[0]!r} is named twice: names must differ")
    return factors


def _combinations(k: int) -> NDArray[np.int64]:
    """All 2^k levels, the first factor changing fastest, the baseline first."""
    return (np.arange(2**k)[:, None] >> np.arange(k) & 1) * 2 - 1


def _alone(k: int) -> NDArray[np.int64]:
    """All off, each on alone, all on, for one factor without repetition."""
    off = -np.ones((1, k), dtype=np.int64)
    each = 2 * np.eye(k, dtype=np.int64) - 1
    return np.concatenate([off, each, -off] if k > 1 else [off, each])


def model_terms(k: int) -> list[Term]:
    """The main effects of k factors, and then their interactions of two."""
    return [(i,) for i in range(k)] + list(combinations(range(k), 2))


def columns(levels: NDArray[Any], terms: Sequence[Term]) -> Floats:
    """The model matrix of these terms, shape (runs, terms): products of levels."""
    return np.stack([levels[:, list(term)].prod(axis=1) for term in terms], axis=1).astype(float)


def alias_groups(products: Floats) -> list[list[Alias]]:
    """Terms whose columns are the same, or opposite: together by their first; those that never vary left out.

    Products have shape (runs, terms).
    """
    groups: list[list[Alias]] = []
    for i, column in enumerate(products.T):
        if np.ptp(column) == 0:
            continue
        for group in groups:
            first = products[:, group[0][0]]
            if np.array_equal(column, first) or np.array_equal(column, -first):
                group.append((i, int(column[0] * first[0])))
                break
        else:
            groups.append([(i, 1)])
    return groups


def group_names(names: Sequence[str], terms: Sequence[Term], group: Sequence[Alias]) -> tuple[str, ...]:
    """Aliased terms by name, those with the opposite sign behind a minus sign."""
    return tuple(("" if sign > 0 else "−") + " × ".join(names[i] for i in terms[at]) for at, sign in group)


def signed_sum(names: Sequence[str]) -> str:
    """Aliased terms as what is seen of them: "a + b × c", "a − b × c"."""
    return " + ".join(names).replace("+ −", "− ")
