"""A table of configurations: which settings were changed in each, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from wulf.stats.designs import Levels
from wulf.stats.moments import Moments

NONE = "none"
"""The arm in which nothing is changed."""

Settings = frozenset[str]
"""Those that are changed in an arm."""


@dataclass(frozen=True)
class TableRow:
    """One measurement: its arm, and where the table says so its block, and its place in the order measured."""

    arm: Settings
    value: float
    block: str | None = None
    order: float | None = None


@dataclass(frozen=True)
class SettingTable:
    """A whole table.

    Attributes
    ----------
    factors
        Settings that were changed, in the table's order; of a setting with several levels each but the first.
    arms
        Settings changed → what was measured, the arms in the table's order.
    rows
        Single measurements; empty where the table has means.
    places
        Arm → its place in the order measured, of means where the table says so.
    exclusive
        Factor → the setting whose level it is, of settings with several: two of one are never on together.
    """

    source: str
    factors: tuple[str, ...]
    arms: Mapping[Settings, Moments]
    unit: str
    lower_is_better: bool
    rows: Sequence[TableRow] = ()
    places: Mapping[Settings, float] = field(default_factory=dict)
    exclusive: Mapping[str, str] = field(default_factory=dict)

    @property
    def baseline(self) -> Moments | None:
        """Nothing changed; None where no line is that."""
        return self.arms.get(frozenset())

    @property
    def levels(self) -> Levels:
        """-1 or +1 of each arm, shape (arms, factors)."""
        return np.array([[1 if one in arm else -1 for one in self.factors] for arm in self.arms], dtype=np.int8)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Settings that can be on together, two by two."""
        both = combinations(self.factors, 2)
        return [(a, b) for a, b in both if a not in self.exclusive or self.exclusive[a] != self.exclusive.get(b)]

    @property
    def blocks(self) -> tuple[str, ...]:
        """Blocks by name, in the table's order; empty where a line has none."""
        names = dict.fromkeys(row.block for row in self.rows)
        return () if None in names else tuple(str(name) for name in names)

    def name(self, arm: Settings) -> str:
        """`a + b`."""
        return " + ".join(one for one in self.factors if one in arm) or NONE
