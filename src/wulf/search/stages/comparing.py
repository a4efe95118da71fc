"""Configurations side by side on fresh runs: blocks in random order, compared within each block."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.search.history import History
from wulf.search.plan import LEAST_BLOCKS
from wulf.search.space import Config
from wulf.search.trial import Outcome, Trial
from wulf.stats.comparison import Comparison, PairedRule
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import median_interval


@dataclass(frozen=True)
class Blocks:
    """What the blocks gave.

    Attributes
    ----------
    costs
        Of each configuration by block; None where it had no figure, or was not run any more.
    figures
        The same, as the program gives them.
    """

    size: float
    configs: tuple[Config, ...]
    costs: tuple[tuple[float | None, ...], ...]
    figures: tuple[tuple[float | None, ...], ...]

    def compare(self, a: Config, b: Config, delta: float) -> Comparison:
        """`b` against `a`, over the blocks in which both had a figure."""
        first, second = (self.costs[self.configs.index(one)] for one in (a, b))
        pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
        rule = PairedRule(delta=delta, looks=(max(len(first), len(second), LEAST_BLOCKS),), lower_is_better=True)
        return rule.compare([x for x, _ in pairs], [y for _, y in pairs])

    def contrast(self, configs: Sequence[Config], signs: Sequence[float], delta: float) -> Comparison:
        """Σ sign · ln cost, where the signs add up to zero, over the blocks in which all had a figure."""
        columns = [self.costs[self.configs.index(one)] for one in configs]
        rows = [row for row in zip(*columns, strict=True) if all(cost is not None for cost in row)]
        rule = PairedRule(delta=delta, looks=(max(len(columns[0]), LEAST_BLOCKS),), lower_is_better=True)
        logs = np.log(np.array(rows, dtype=float).reshape(len(rows), len(configs)))
        return rule.judge(logs @ np.asarray(signs, dtype=float))

    def figure(self, config: Config) -> Estimate:
        """The median of a configuration's figures, with its interval."""
        return median_interval([f for f in self.figures[self.configs.index(config)] if f is not None])


def run_blocks(
    history: History, stage: str, configs: Sequence[Config], size: float, blocks: int
) -> Generator[Trial, Outcome, Blocks]:
    """Every configuration once in each block, in random order; ends early where the budget does."""
    costs: list[list[float | None]] = [[] for _ in configs]
    figures: list[list[float | None]] = [[] for _ in configs]
    before = history.spent
    for block in range(blocks):
        each = (history.spent - before) / block if block else 0.0
        if block and not history.affords(each):
            history.notes.append(f"{stage}: the budget ended it after {block} of {blocks} blocks")
            break
        order = list(range(len(configs)))
        history.random.shuffle(order)
        found = {}
        for i in order:
            found[i] = yield from history.ask(stage, configs[i], size, block=block)
        for i in range(len(configs)):
            costs[i].append(found[i].cost)
            figures[i].append(found[i].figure if found[i].cost is not None else None)
    return Blocks(size, tuple(configs), tuple(map(tuple, costs)), tuple(map(tuple, figures)))
