"""Nodes that are worse than their like over the links of a survey, beyond chance and a practical margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtri, stdtrit

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.findings.levelled import figures_of, usable
from wulf.findings.net.standing_out import NAMES
from wulf.findings.node.deviating import doubt
from wulf.measure.comparing import percent
from wulf.measure.mpi.probes import carrier
from wulf.stats.cluster.nodes import LEAST_NODES, MARGIN, Deviation, Screening, screen
from wulf.stats.cluster.outliers import Link, node_reach
from wulf.stats.estimates import Estimate
from wulf.store.run import Facts

CLASS_FACTS = ("cpu.model", "cpu.threads", "memory.size", "system.product")
"""Nodes that agree in these are alike, and are compared."""

_UPPER = 0.975
_NORMAL = float(ndtri(_UPPER))

TOLD = 0.5
"""A visible deviation of more than half is not worth telling."""


def hardware_classes(nodes: Sequence[str], fingerprint: Mapping[str, Facts]) -> list[str]:
    """The hardware class of each node; a node whose facts are not known is of the class of all such."""
    return [str([fingerprint.get(node, {}).get(fact, {}).get("value") for fact in CLASS_FACTS]) for node in nodes]


def deviating(
    records: Sequence[Record],
    fingerprint: Mapping[str, Facts],
    blamed: frozenset[str] = frozenset(),
    *,
    margin: float = MARGIN,
) -> list[Finding]:
    """Nodes that are worse than their like, beyond chance and margin; and how little could have been seen.

    Over what each node reaches on its better links, all metrics together (`wulf.stats.cluster.nodes`).
    """
    reaches, ticks = [], []
    for (transport, pattern), (_, metric, lower) in NAMES.items():
        links, tick = _links(records, transport, pattern, metric, blamed)
        reaches.append(node_reach(links, lower_is_better=lower))
        ticks.append(tick)
    nodes = sorted(set().union(*reaches))
    if len(nodes) < LEAST_NODES:
        return []
    figures = np.array(
        [[_figure(reach.get(node)) for reach in reaches] for node in nodes], dtype=float
    )  # nodes × metrics × (value, error)
    found = screen(
        figures[:, :, 0], errors=figures[:, :, 1], resolution=ticks,
        classes=hardware_classes(nodes, fingerprint),
        worse=[1 if lower else -1 for _, _, lower in NAMES.values()], margin=margin,
    )  # fmt: skip
    words = [name for name, _, _ in NAMES.values()]
    return [_deviation(nodes[d.node], words[d.metric], d, margin) for d in found.deviations] + _visible(words, found)


def _links(
    records: Sequence[Record], transport: str, pattern: str, metric: str, blamed: frozenset[str]
) -> tuple[dict[Link, Estimate], float]:
    """Each link's figure without what the passes had in common, with its 95 % interval, and the figures' resolution."""
    kind = (transport, pattern, metric)
    own = {
        (one.nodes[0], one.nodes[1]): one
        for one in records
        if (carrier(one), one.params.get("pattern"), one.metric) == kind
        and one.phase == "pairs"
        and usable(one)
        and not blamed.intersection(one.nodes)
    }
    found = figures_of(list(own.values()))
    half = np.exp(stdtrit(np.fmax(found.freedom, 1.0), _UPPER) * found.errors)
    links = {
        link: Estimate(value, low, high, 2 * _UPPER - 1, one.replicates)
        for (link, one), value, low, high in zip(
            own.items(), found.values.tolist(), (found.values / half).tolist(), (found.values * half).tolist(),
            strict=True,
        )
    }  # fmt: skip
    return links, found.resolution


def _figure(reach: Estimate | None) -> tuple[float, float]:
    """Value and relative standard error."""
    if reach is None or reach.value is None or reach.low is None or reach.high is None:
        return np.nan, np.nan
    return reach.value, float(np.log(reach.high / reach.low)) / (2 * _NORMAL)


def _deviation(node: str, words: str, found: Deviation, margin: float) -> Finding:
    return Finding(
        kind="deviation", severity=Severity.WARN, subject=node,
        text=f"{node} deviates: {words} over its better links is {percent(found.ratio)} of its like "
        f"({percent(found.low)} to {percent(found.high)}). {doubt([found], margin)}",
        next_step=f"compare {node}'s facts with its like's: clock rate, governor, temperature, slot of the card",
        evidence=[
            Evidence(
                subject=node, metric=f"{words}, node / its like", unit="1", value=found.ratio,
                low=found.low, high=found.high, expected=1.0, p=found.p,
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
