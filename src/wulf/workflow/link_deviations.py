"""Nodes that are a little worse than their like over the links of a survey, beyond chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.measure.comparing import percent
from wulf.stats.intervals import Estimate
from wulf.stats.nodes import FALSE_DISCOVERIES, Deviation, Screening, screen
from wulf.stats.outliers import node_reach
from wulf.store.run import Facts
from wulf.workflow.standing_out import NAMES, links_of

CLASS_FACTS = ("cpu.model", "cpu.threads", "memory.size", "system.product")
"""Nodes that agree in these are alike, and are compared."""

LEAST_LIKE = 8
"""Of fewer nodes, the spread of so few says nothing that five standard deviations would not."""

TOLD = 0.5
"""A visible deviation of more than half is not worth telling."""


def hardware_classes(nodes: Sequence[str], fingerprint: Mapping[str, Facts]) -> list[str]:
    """The hardware class of each node; a node whose facts are not known is of the class of all such."""
    return [str([fingerprint.get(node, {}).get(fact, {}).get("value") for fact in CLASS_FACTS]) for node in nodes]


def deviating(
    records: Sequence[Record], fingerprint: Mapping[str, Facts], blamed: frozenset[str] = frozenset()
) -> list[Finding]:
    """Nodes that are a little worse than their like, beyond chance; and how little could have been seen.

    Over what each node reaches on its better links, all metrics together (`wulf.stats.nodes`).
    """
    reaches, lowers = [], []
    for (transport, pattern), (_, metric, lower) in NAMES.items():
        clear = {
            link: estimate
            for link, estimate in links_of(records, transport, pattern, metric).items()
            if not blamed.intersection(link)
        }
        reaches.append(node_reach(clear, lower_is_better=lower))
        lowers.append(lower)
    nodes = sorted(set().union(*reaches))
    if len(nodes) < LEAST_LIKE:
        return []
    figures = np.array(
        [[_bounds(reach.get(node)) for reach in reaches] for node in nodes], dtype=float
    )  # nodes × metrics × (value, low, high)
    values, low, high = (np.where(figures[:, :, i] > 0, figures[:, :, i], np.nan) for i in range(3))
    found = screen(
        values, low=low, high=high, classes=hardware_classes(nodes, fingerprint),
        worse=[1 if lower else -1 for lower in lowers],
    )  # fmt: skip
    words = [name for name, _, _ in NAMES.values()]
    return [_deviation(nodes[d.node], words[d.metric], d) for d in found.deviations] + _visible(words, found)


def _bounds(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)


def _deviation(node: str, words: str, found: Deviation) -> Finding:
    return Finding(
        kind="deviation",
        severity=Severity.WARN,
        subject=node,
        text=(
            f"{node} deviates: {words} over its better links is {percent(found.ratio)} of its like "
            f"({percent(found.low)} to {percent(found.high)}); of such accusations, one in {1 / FALSE_DISCOVERIES:.0f} "
            "is false."
        ),
        next_step=f"compare {node}'s facts with its like's: clock rate, governor, temperature, slot of the card",
        evidence=[
            Evidence(
                subject=node, metric=f"{words}, node / its like", unit="1", value=found.ratio,
                low=found.low, high=found.high, expected=1.0,
            )
        ],
    )  # fmt: skip


def _visible(words: Sequence[str], found: Screening) -> list[Finding]:
    """One sentence on what could have been seen, in the largest class that has an answer."""
    least = np.nanmin(found.visible, axis=0, initial=np.inf, where=~np.isnan(found.visible))
    told = [f"{name} {value:.1%}" for name, value in zip(words, least, strict=True) if value <= TOLD]
    if not told:
        return []
    text = f"A node would have been seen to deviate from its like from this on, nine times in ten: {', '.join(told)}."
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]
