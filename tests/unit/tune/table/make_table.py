"""Tables of tuning experiments, whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

import numpy as np

from wulf.stats.moments import Moments
from wulf.tune.table.arms import Settings, SettingTable, TableRow

PAPER = {"none": (50.03, 4.31), "coalescing": (31.63, 0.83), "firewall": (41.62, 8.90), "irqbalance": (49.72, 9.68)}
"""Arms of Garabato, Moré and Rosales, table 3: mean and standard deviation in µs."""


def arm(text: str) -> Settings:
    """`a + b`; `none`."""
    return frozenset() if text == "none" else frozenset(text.replace(" ", "").split("+"))


def means(arms: Mapping[str, tuple[float, float] | float], n: int | None = 10) -> SettingTable:
    """A table of means, with or without deviations."""
    found = {
        arm(name): Moments(one) if isinstance(one, float) else Moments(*one, n) for name, one in arms.items()
    }  # fmt: skip
    factors = tuple(dict.fromkeys(part for name in arms for part in name.replace(" ", "").split("+") if part != "none"))
    return SettingTable("a table", factors, found, "s", lower_is_better=True)


def measured(
    arms: Sequence[str], effects: Mapping[str, float], *, blocks: int = 6, noise: float = 0.01, drift: float = 0.0,
    named: bool = False, ordered: bool = False, seed: int = 1,
) -> SettingTable:  # fmt: skip
    """Measurements in blocks: of logarithms of ratios, `a` or `a × b`; drift over the whole, in random order."""
    random = np.random.default_rng(seed)
    rows, order, total = [], 0, blocks * len(arms)
    for block in range(blocks):
        for at in random.permutation(len(arms)):
            on = arm(arms[at])
            shift = sum(size for name, size in effects.items() if set(name.split(" × ")) <= on)
            value = exp(shift + drift * order / (total - 1) + noise * random.standard_normal())
            rows.append(TableRow(on, value, str(block) if named else None, float(order) if ordered else None))
            order += 1
    own = {arm(name): Moments.of([row.value for row in rows if row.arm == arm(name)]) for name in arms}
    factors = tuple(dict.fromkeys(part for name in arms for part in name.replace(" ", "").split("+") if part != "none"))
    return SettingTable("a table", factors, own, "s", lower_is_better=True, rows=rows)
