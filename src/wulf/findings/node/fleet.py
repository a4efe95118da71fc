"""Is a node as fast as others of its hardware were? Its figures beside the fleet's, which a sentry keeps; pure.

No other node need be measured with it. Whether it *deviates* from those measured with it is `deviating`'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wulf.core.findings import EXPECTED, Evidence, Finding, Severity
from wulf.core.names import fold, plural
from wulf.core.records import Record
from wulf.core.units import show
from wulf.findings.expected import MOST_EVIDENCE
from wulf.findings.levelled import usable
from wulf.measure.node.rows import Row, display_unit, rows_of, table

WHAT = "Beside the fleet"

MARGIN = 0.05
"""Less is no difference to look after: the others were measured on other days, unlike those of one survey."""

MOST_TOLD = 4
"""Rows that the sentence names."""

FLEET = "fleet"
"""In what a finding is about: it holds figures against the fleet's."""


@dataclass(frozen=True)
class Usual:
    """What a row is on other nodes of the same hardware.

    Attributes
    ----------
    value
        Their median.
    low, high
        Within which nine of ten of them lie.
    nodes
        How many.
    """

    value: float
    low: float
    high: float
    nodes: int


@dataclass(frozen=True)
class Fleet:
    """What others of the same hardware have.

    Attributes
    ----------
    usual
        Node → row → that.
    hardware
        Node → its class, in words.
    source
        Whose figures they are, in words.
    """

    usual: Mapping[str, Mapping[str, Usual]]
    hardware: Mapping[str, str]
    source: str


@dataclass(frozen=True)
class _Beside:
    node: str
    row: Row
    record: Record
    value: float
    usual: Usual

    @property
    def share(self) -> float:
        """Of the fleet's median that is reached; of what is better the less, the inverse."""
        return self.usual.value / self.value if self.row.worse > 0 else self.value / self.usual.value

    @property
    def slower(self) -> bool:
        """Whether its whole interval is worse than nine of ten others, and by more than `MARGIN`."""
        low, high = (end if end is not None else self.value for end in (self.record.low, self.record.high))
        worst = low > self.usual.high if self.row.worse > 0 else high < self.usual.low
        return worst and self.share < 1 - MARGIN


def fleet_findings(records: Sequence[Record], fleet: Fleet) -> list[Finding]:
    """One a hardware class: how its nodes' figures are beside others of it, and which are not as they should be."""
    nodes: dict[str, list[str]] = {}
    beside: dict[str, list[_Beside]] = {}
    for node, rows in rows_of(records).items():
        kind = fleet.hardware.get(node, "")
        nodes.setdefault(kind, []).append(node)
        beside.setdefault(kind, []).extend(_of_node(node, rows, fleet.usual.get(node, {})))
    return [
        _finding(own, sorted(beside[kind], key=lambda one: one.share), f"with {kind} ({fleet.source})")
        if beside[kind] else _none(own, kind, fleet.source)
        for kind, own in nodes.items()
    ]  # fmt: skip


def _of_node(node: str, rows: Mapping[str, Record], usual: Mapping[str, Usual]) -> list[_Beside]:
    known = table().by_name
    return [
        _Beside(node, known[name], record, record.value, usual[name])
        for name, record in rows.items()
        if name in usual and name in known and known[name].worse and usable(record) and record.value is not None
    ]


def _none(nodes: Sequence[str], kind: str, source: str) -> Finding:
    text = (
        f"{fold(nodes)} can't be held against the fleet: such figures are known of too few other nodes with "
        f"{kind or 'hardware that facts do not tell'} ({source})."
    )
    return Finding(kind="note", severity=Severity.INFO, subject=fold(nodes), text=text)


def _finding(nodes: Sequence[str], beside: Sequence[_Beside], whose: str) -> Finding:
    slow = [one for one in beside if one.slower]
    most = max(one.usual.nodes for one in beside)
    source = f"the median of {plural(most, 'other node')} {whose}"
    middle = median(one.share for one in beside)
    reach = "reaches" if len(nodes) == 1 else "reach"
    text = f"{WHAT}, {fold(nodes)} {reach} {middle:.0%} of {source}, over {plural(len(beside), 'figure')}."
    if slow:
        text += f" Slower than nine of ten of them: {', '.join(_words(one) for one in slow[:MOST_TOLD])}"
        text += f", and {len(slow) - MOST_TOLD:,} more." if len(slow) > MOST_TOLD else "."
    return Finding(
        kind=EXPECTED, severity=Severity.INFO,
        subject=fold(dict.fromkeys(one.node for one in slow) if slow else nodes), text=text,
        next_step="`wulf audit` over these and others of their hardware shows what is set otherwise" if slow else "",
        evidence=[
            Evidence(
                subject=one.node, metric=one.record.metric, unit=display_unit(one.record), value=one.value,
                low=one.record.low, high=one.record.high, expected=one.usual.value, measured=one.row.name,
                row=one.row.name,
            )
            for one in beside[:MOST_EVIDENCE]
        ],
        about={
            "share": beside[0].share, "least": 1 - MARGIN, "source": source, "slow": len(slow), "of": len(beside),
            FLEET: True,
        },
    )  # fmt: skip


def _words(one: _Beside) -> str:
    unit = display_unit(one.record)
    return f"{one.node}'s {one.row.name} {show(one.value, unit)} ({one.share:.0%} of {show(one.usual.value, unit)})"
