"""Why a node may deviate from its like: what in its facts, counters or clock differs too, and speaks to the figures.

A cause is likely, not proven: it differs where the figures differ, and is known to act on them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from statistics import median
from typing import Any

from wulf.core.records import Record
from wulf.core.units import show
from wulf.findings.facts.deviations import FactDeviation, deviating_facts
from wulf.measure.engine.disturbance import CLOCK_MOVED
from wulf.measure.node.derived import CLOCK
from wulf.store.run import Facts


@dataclass(frozen=True)
class Cause:
    """A fact that acts on figures.

    Attributes
    ----------
    facts
        Its name, or a pattern of names.
    rows
        Patterns of the rows that it acts on.
    words
        What it means.
    step
        What to do about it.
    """

    facts: str
    rows: tuple[str, ...]
    words: str
    step: str


@cache
def causes() -> tuple[Cause, ...]:
    """The table of causes.toml, the most telling first."""
    content = tomllib.loads((files("wulf.findings.node") / "causes.toml").read_text(encoding="utf-8"))
    return tuple(Cause(**{**entry, "rows": tuple(entry["rows"])}) for entry in content["cause"])


@dataclass(frozen=True)
class Likely:
    """A likely cause: in words, with what to do."""

    text: str
    step: str


def differing_facts(like: Sequence[str], fingerprint: Mapping[str, Facts]) -> list[FactDeviation]:
    """The facts in which nodes of one class differ: found once for all of them that deviate, as they may be 10,000."""
    return deviating_facts(
        {one: {name: dict(fact) for name, fact in fingerprint.get(one, {}).items()} for one in like}, lambda _: True
    )


def likely_causes(
    node: str, rows: Sequence[str], like: Sequence[str], differing: Sequence[FactDeviation],
    records: Mapping[str, Mapping[str, Record]],
) -> list[Likely]:  # fmt: skip
    """What may make a node deviate in these rows, the most telling first; empty where nothing known differs.

    Parameters
    ----------
    like
        The nodes of its class, itself included.
    differing
        The facts in which these differ: `differing_facts`.
    records
        Node → row → record.
    """
    found = [*_stolen(node, rows, records), *_slower_clock(node, like, records)]
    odd = {one.fact: (one.nodes[node], one.majority) for one in differing if node in one.nodes and one.has_majority}
    for cause in causes():
        facts = [name for name in odd if fnmatchcase(name, cause.facts)]
        if facts and any(fnmatchcase(row, pattern) for row in rows for pattern in cause.rows):
            own, others = odd[facts[0]]
            more = f" and {len(facts) - 1} more" if len(facts) > 1 else ""
            text = f"{cause.words} ({facts[0]}{more}: {_shown(own)}, the others {_shown(others)})"
            found.append(Likely(text, cause.step))
    return found


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _stolen(node: str, rows: Sequence[str], records: Mapping[str, Mapping[str, Record]]) -> list[Likely]:
    for row in rows:
        record = records.get(node, {}).get(row)
        words = record.flags.get("steal") if record else None
        if words:
            return [Likely(str(words), "ask who else runs on the machine beneath; measure again when it is quiet")]
    return []


def _slower_clock(node: str, like: Sequence[str], records: Mapping[str, Mapping[str, Record]]) -> list[Likely]:
    """Its effective clock rate is not that of the others: whatever the settings say."""
    rates = {one: record.value for one in like if (record := records.get(one, {}).get(CLOCK)) and record.value}
    others = [rate for one, rate in rates.items() if one != node]
    if node not in rates or not others:
        return []
    usual = median(others)
    if abs(rates[node] / usual - 1) <= CLOCK_MOVED:
        return []
    text = f"its clock ran at {show(rates[node], 'Hz')}, the others' at {show(usual, 'Hz')}"
    return [Likely(text, "look at governor, turbo, power limits and temperature (`turbostat`)")]
