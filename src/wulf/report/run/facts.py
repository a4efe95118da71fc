"""The facts of a run's nodes, grouped by value: which differ, and on which nodes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wulf.core.names import natural, printable
from wulf.core.units import show
from wulf.store.run import Run


@dataclass(frozen=True)
class FactGroup:
    """The nodes on which a fact has one value."""

    text: str
    nodes: tuple[str, ...]
    known: bool
    """False where the value could not be read; `text` is then the reason."""


@dataclass(frozen=True)
class FactRow:
    """One fact over all nodes; the most common value stands first."""

    name: str
    groups: tuple[FactGroup, ...]
    judged: bool
    """Whether a finding is about it: a fact may differ by right (a host name) or not."""

    @property
    def differs(self) -> bool:
        """Whether two nodes have different values, or only some have one."""
        return len(self.groups) > 1


def fact_text(fact: object) -> tuple[str, bool]:
    """A fact as text, and whether it is known: `("64 GiB", True)`, `("no such file", False)`."""
    if not isinstance(fact, Mapping):
        return printable(fact), True
    value = fact.get("value")
    if value is None:
        return printable(fact.get("reason") or "not known"), False
    return value_text(value, str(fact.get("unit") or "")), True


def value_text(value: Any, unit: str = "") -> str:
    """A fact's value for people: scaled where it has a unit, compact JSON where it is a structure."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return show(value, unit, digits=4) if unit else f"{value:,}" if abs(value) >= 1e5 else f"{value}"
    if isinstance(value, list | dict):
        return printable(json.dumps(value, ensure_ascii=False))
    return printable(value) + (f" {unit}" if unit else "")


def fact_rows(run: Run) -> list[FactRow]:
    """Every fact of a run: those with a finding first, then those that differ, then by name."""
    judged = {e.metric for finding in run.findings if finding.kind == "fact" for e in finding.evidence}
    names = {name for facts in run.fingerprint.values() for name in facts}
    rows = [FactRow(name, _groups(run, name), name in judged) for name in names]
    return sorted(rows, key=lambda row: (not row.judged, not row.differs, natural(row.name)))


def _groups(run: Run, name: str) -> tuple[FactGroup, ...]:
    absent = {"value": None, "reason": "not recorded"}
    nodes: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for node, facts in run.fingerprint.items():
        nodes[fact_text(facts.get(name, absent))].append(node)
    groups = [FactGroup(text, tuple(sorted(on, key=natural)), known) for (text, known), on in nodes.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.nodes), natural(group.text))))


def reported_link_speeds(run: Run) -> Counter[str]:
    """How many interfaces report each line rate: the upper bound of any bandwidth over them."""
    speeds: Counter[str] = Counter()
    for facts in run.fingerprint.values():
        for name, fact in facts.items():
            if name.startswith("nic.") and name.endswith(".speed") and isinstance(fact, Mapping):
                text, known = fact_text(fact)
                if known:
                    speeds[text] += 1
    return speeds
