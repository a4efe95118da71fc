"""Which BLAS libraries a search has to try: products of HPL's shape by each, before the first solve.

A library is left out only where it is proven to be slower than the fastest one; whatever can't be told apart stays, for
the solves to decide. It is first run once with some block sizes, and then anew with the best of them, in blocks of
random order, so that the choice of the block size favours nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median
from typing import NamedTuple

from wulf.stats.comparison import DELTA, Comparison, Judgement, PairedRule, enough_pairs
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import median_interval

ALPHA = 0.05
"""Of leaving out the fastest library, or block size, all comparisons with the leader together (Bonferroni)."""

LEAST_BLOCKS = 6
FIRST_SIZES = 4
"""Block sizes that every library is tried with once."""


class ProductArm(NamedTuple):
    """A product: by which library, with how many columns of the first factor (HPL's NB)."""

    library: str
    nb: int


@dataclass(frozen=True)
class Rate:
    """flop/s of a product, or why there is none; and what the library says that it is."""

    value: float | None
    reason: str = ""
    title: str = ""


Measure = Callable[[ProductArm], Rate]


@dataclass(frozen=True)
class Standing:
    """How one of several stands.

    Attributes
    ----------
    against
        It against the fastest; None: it is the fastest.
    """

    arm: ProductArm
    rate: Estimate
    against: Comparison | None = None

    @property
    def worse(self) -> bool:
        """Whether it is proven to be slower than the fastest."""
        return self.against is not None and self.against.judgement is Judgement.SLOWER


@dataclass
class Preflight:
    """What the products said.

    Attributes
    ----------
    libraries, sizes
        The fastest first: each library with its best block size; each block size with the fastest library.
    unusable
        Library → why it has no rate.
    titles
        Library → name and version, as it says them.
    notes
        What a reader has to know.
    """

    libraries: list[Standing] = field(default_factory=list)
    sizes: list[Standing] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    products: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> tuple[str, ...]:
        """The fastest library, and those that are not proven to be slower."""
        return tuple(one.arm.library for one in self.libraries if not one.worse)

    @property
    def best_nb(self) -> int | None:
        """The block size with which the fastest library multiplies fastest."""
        return self.sizes[0].arm.nb if self.sizes else None


def blocks_for(rivals: int) -> int:
    """The fewest in which each of so many can be proven slower, if it loses all of them."""
    return max(LEAST_BLOCKS, enough_pairs(rivals, ALPHA))


def spread(values: Sequence[int], count: int) -> list[int]:
    """So many of the values, ends included, at about equal distances in their order."""
    ordered = sorted(set(values))
    if len(ordered) <= count:
        return ordered
    return [ordered[round(i * (len(ordered) - 1) / (count - 1))] for i in range(count)]


def standings(rates: Mapping[ProductArm, Sequence[float]], delta: float = DELTA) -> list[Standing]:
    """The arms by their median rate, each compared with the first over the blocks that both have."""
    ranked = sorted((arm for arm in rates if rates[arm]), key=lambda arm: -median(rates[arm]))
    if not ranked:
        return []
    first = rates[ranked[0]]
    alpha = ALPHA / max(1, len(ranked) - 1)
    found = [Standing(ranked[0], median_interval(first))]
    for arm in ranked[1:]:
        n = min(len(first), len(rates[arm]))
        rule = PairedRule(alpha, delta, (max(n, blocks_for(len(ranked) - 1)),), lower_is_better=False)
        found.append(Standing(arm, median_interval(rates[arm]), rule.compare(first[:n], rates[arm][:n])))
    return found


def compare(
    libraries: Sequence[str], sizes: Sequence[int], measure: Measure, random: Random, *,
    clock: Callable[[], float], limit: float | None = None,
) -> Preflight:  # fmt: skip
    """All products: every library with some sizes once, the libraries in blocks, and the fastest one with all sizes.

    Parameters
    ----------
    limit
        Seconds; what is not proven by then stays. None: as long as it takes.
    """
    return _Comparing(measure, random, clock, limit).run(libraries, sizes)


class _Comparing:
    """The state of a comparison while it is measured."""

    def __init__(self, measure: Measure, random: Random, clock: Callable[[], float], limit: float | None) -> None:
        self._measure, self._random, self._clock = measure, random, clock
        self._began, self._limit = clock(), limit
        self._found = Preflight()

    def run(self, libraries: Sequence[str], sizes: Sequence[int]) -> Preflight:
        found = self._found
        best = self._best_sizes(libraries, spread(sizes, FIRST_SIZES))
        found.libraries = standings(self._blocks([ProductArm(library, nb) for library, nb in best.items()]))
        if found.libraries:
            leader = found.libraries[0].arm.library
            found.sizes = standings(self._blocks([ProductArm(leader, nb) for nb in sorted(set(sizes))]))
        found.seconds = self._clock() - self._began
        return found

    def _best_sizes(self, libraries: Sequence[str], sizes: Sequence[int]) -> dict[str, int]:
        """Each usable library's best size, of one product with each."""
        arms = [ProductArm(library, nb) for library in libraries for nb in sizes]
        self._random.shuffle(arms)
        once = {arm: value for arm in arms if (value := self._rate(arm)) is not None}
        usable = [library for library in libraries if library not in self._found.unusable]
        return {
            library: max((arm for arm in once if arm.library == library), key=lambda arm: once[arm]).nb
            for library in usable
        }

    def _blocks(self, arms: Sequence[ProductArm]) -> dict[ProductArm, list[float]]:
        """Every arm once in each block, in random order; a library that fails is out, with all that it had."""
        rates: dict[ProductArm, list[float]] = {arm: [] for arm in arms}
        for done in range(blocks_for(len(arms) - 1)):
            if done and self._late():
                self._note(f"The time for products was over after {done} blocks: what was not proven by then stays.")
                break
            for arm in self._random.sample(list(arms), len(arms)):
                value = self._rate(arm)
                if value is not None:
                    rates[arm].append(value)
        return {arm: some for arm, some in rates.items() if arm.library not in self._found.unusable}

    def _rate(self, arm: ProductArm) -> float | None:
        found = self._found
        if arm.library in found.unusable:
            return None
        rate = self._measure(arm)
        found.products += 1
        if rate.title:
            found.titles[arm.library] = rate.title
        if rate.value is None:
            found.unusable[arm.library] = rate.reason
        return rate.value

    def _late(self) -> bool:
        return self._limit is not None and self._clock() - self._began >= self._limit

    def _note(self, text: str) -> None:
        if text not in self._found.notes:
            self._found.notes.append(text)
