"""What each setting of a table does, alone and averaged over the others, and what settings do together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

import numpy as np

from wulf.stats.comparison import DELTA, Comparison, holm_of
from wulf.stats.designs import alias_groups, columns, group_names, model_terms
from wulf.stats.intervals import few_mean_interval
from wulf.stats.moments import WeightedSum, compared, linear_sum, log_sum
from wulf.tune.campaign.contrasts import Contrast, difference, in_blocks, main_effects
from wulf.tune.table.arms import Settings, SettingTable

ALPHA = 0.05


@dataclass(frozen=True)
class TableEffect:
    """A comparison, and its p corrected over all of its kind (Holm); None where there is no interval."""

    name: str
    compared: Comparison
    holm: float | None = None

    @property
    def proven(self) -> bool:
        """Whether it is a difference among all of its kind."""
        return self.holm is not None and self.holm <= ALPHA


@dataclass(frozen=True)
class SettingEffect:
    """What a setting does.

    Attributes
    ----------
    effect
        The mean over all pairs of arms that differ in it alone; by least squares where there are none. None: the arms
        can't tell.
    alone
        Against the baseline; None where it was never measured alone.
    """

    name: str
    effect: TableEffect | None
    alone: TableEffect | None


@dataclass(frozen=True)
class Together:
    """An arm of several settings, beside what each of them does alone.

    Attributes
    ----------
    product, sum
        The mean that is expected where the settings' ratios, or their differences, were those that each has alone.
    over_product
        The arm by `product`: their interaction.
    over_sum, low, high
        The arm less `sum`, with its interval.
    """

    arm: Settings
    product: float
    sum: float
    over_product: TableEffect
    over_sum: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TableAnalysis:
    """What a table says.

    Attributes
    ----------
    arms
        Each arm but the baseline against it, in the table's order.
    pairs
        Interactions of two that can be told, averaged over what else was on.
    unseen
        Pairs of which nothing can be told.
    aliased
        Effects of which the sum alone is seen.
    """

    arms: tuple[tuple[Settings, TableEffect], ...]
    settings: tuple[SettingEffect, ...]
    together: tuple[Together, ...]
    pairs: tuple[TableEffect, ...]
    unseen: tuple[tuple[str, str], ...]
    aliased: tuple[tuple[str, ...], ...]


def analysed(table: SettingTable, delta: float = DELTA) -> TableAnalysis:
    """Effects and interactions; claims of each kind are corrected for their number."""
    scale = _Scale(table, delta)
    effects = scale.claims(_effects(table))
    alone = scale.claims({name: scale.between([], [name]) for name in table.factors})
    settings = tuple(SettingEffect(name, effects.get(name), alone.get(name)) for name in table.factors)
    pairs = {pair: _interaction(scale, *pair) for pair in table.pairs}
    arms = scale.claims({table.name(arm): scale.between([], arm) for arm in table.arms if arm})
    return TableAnalysis(
        tuple((arm, arms[table.name(arm)]) for arm in table.arms if table.name(arm) in arms),
        settings,
        _together(scale),
        tuple(scale.claims({" × ".join(pair): found for pair, found in pairs.items()}).values()),
        tuple(pair for pair, found in pairs.items() if found is None),
        _aliased(table),
    )


class _Scale:
    """Arms by their place, and contrasts of them: within blocks where the table has them, else by means."""

    def __init__(self, table: SettingTable, delta: float) -> None:
        self.table, self._delta = table, delta
        self.at = {arm: place for place, arm in enumerate(table.arms)}
        self.moments = list(table.arms.values())
        self._blocks = self._logs()

    def _logs(self) -> list[dict[int, float]]:
        """Of each block, arm → mean logarithm."""
        found: dict[str, dict[int, list[float]]] = {name: defaultdict(list) for name in self.table.blocks}
        for row in self.table.rows if found else ():
            found[str(row.block)][self.at[row.arm]].append(log(row.value))
        return [{arm: fmean(values) for arm, values in block.items()} for block in found.values()]

    def between(self, before: Sequence[str], after: Sequence[str] | Settings) -> Contrast | None:
        """One arm against another; None where one of them was not measured."""
        a, b = self.at.get(frozenset(before)), self.at.get(frozenset(after))
        return None if a is None or b is None else difference(a, b)

    def weighed(self, contrast: Contrast) -> WeightedSum:
        """The contrast of logarithms: within blocks, if two have all arms that it needs."""
        within = in_blocks(self._blocks, contrast)
        if within.size < 2:
            return log_sum((weight, self.moments[arm]) for arm, weight in contrast.items())
        found = few_mean_interval(within)
        error = float(within.std(ddof=1)) / within.size**0.5
        return WeightedSum(found.value or 0.0, error or None, within.size - 1)

    def claims(self, contrasts: Mapping[str, Contrast | None]) -> dict[str, TableEffect]:
        """Those that there are, compared, with p of all of them corrected."""
        asked = {name: one for name, one in contrasts.items() if one is not None}
        found = {name: self._compared(one, len(asked)) for name, one in asked.items()}
        corrected = holm_of({name: one.p for name, one in found.items()})
        return {name: TableEffect(name, one, corrected.get(name)) for name, one in found.items()}

    def _compared(self, contrast: Contrast, among: int) -> Comparison:
        n = min((self.moments[arm].n or 1 for arm, weight in contrast.items() if weight), default=0)
        return compared(
            self.weighed(contrast), n, delta=self._delta, lower_is_better=self.table.lower_is_better, alpha=ALPHA,
            among=among,
        )  # fmt: skip


def _effects(table: SettingTable) -> dict[str, Contrast | None]:
    """Main effects, of those settings that the arms can tell from the mean and from each other."""
    levels = table.levels
    model = np.column_stack([np.ones(len(levels)), levels.astype(float)])
    seen = np.linalg.pinv(model) @ model  # the identity in the rows of what can be told
    told = np.isclose(np.diag(seen), 1.0)[1:]
    found = main_effects(levels)
    return {name: found[i] if told[i] else None for i, name in enumerate(table.factors)}


def _interaction(scale: _Scale, a: str, b: str) -> Contrast | None:
    """How much the effect of one changes with the other, averaged over whatever else was on in all four arms."""
    corners = [[arm, arm | {a}, arm | {b}, arm | {a, b}] for arm in scale.at if not arm & {a, b}]
    whole = [four for four in corners if all(arm in scale.at for arm in four)]
    return {
        scale.at[arm]: sign / len(whole) for four in whole for arm, sign in zip(four, (1, -1, -1, 1), strict=True)
    } or None


def _together(scale: _Scale) -> tuple[Together, ...]:
    """Arms of several settings, each of which was measured alone."""
    base, contrasts = scale.at.get(frozenset()), {}
    for arm, place in scale.at.items():
        alone = [scale.at.get(frozenset({one})) for one in arm]
        if len(arm) > 1 and base is not None and None not in alone:
            contrasts[arm] = {place: 1.0, **{one: -1.0 for one in alone if one is not None}, base: len(arm) - 1.0}
    named = scale.claims({scale.table.name(arm): contrast for arm, contrast in contrasts.items()})
    return tuple(_beside(scale, arm, one, named[scale.table.name(arm)]) for arm, one in contrasts.items())


def _beside(scale: _Scale, arm: Settings, contrast: Contrast, over_product: TableEffect) -> Together:
    parts = [(weight, scale.moments[place]) for place, weight in contrast.items()]
    mean, over_sum = scale.table.arms[arm].mean, linear_sum(parts)
    low, high = over_sum.within(1 - ALPHA) or (None, None)
    product = mean / exp(log_sum(parts).value)
    return Together(arm, product, mean - over_sum.value, over_product, over_sum.value, low, high)


def _aliased(table: SettingTable) -> tuple[tuple[str, ...], ...]:
    """Effects and interactions of two of which this design shows the sum alone."""
    terms = [t for t in model_terms(len(table.factors))
             if len(t) == 1 or (table.factors[t[0]], table.factors[t[1]]) in set(table.pairs)]  # fmt: skip
    groups = alias_groups(columns(table.levels, terms))
    return tuple(group_names(table.factors, terms, group) for group in groups if len(group) > 1)
