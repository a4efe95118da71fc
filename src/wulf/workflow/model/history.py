"""`wulf history`: where a metric's level changed over many runs, and what else changed just there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wulf.agent.facts import is_uniform
from wulf.core.errors import UsageError
from wulf.findings.facts.deviations import Fingerprint
from wulf.findings.history import CoincidentChange, JudgedSeries, MetricHistory, SeriesStep
from wulf.stats.series.changes import Change, change_points_of
from wulf.stats.series.wandering import doubt
from wulf.store.history import Collection, Series, Source, collect, fingerprint, metrics_of, place

WINDOW = 20
"""Runs on either side of a change whose facts are looked at, within its two segments."""

ALSO = frozenset({"kernel.boot_id", "kernel.cmdline"})
"""Facts that equal nodes need not share, yet one node keeps from run to run: a reboot, the boot command line."""

Read = Callable[[Source], Fingerprint]


def settled(name: str) -> bool:
    """Whether a fact stays as it is unless somebody or something changes the node.

    Those on which nodes should agree, and `ALSO`. Left out are uptime, the clock's momentary errors, counts of how
    often a link came and went, and the memory's size to the page.
    """
    return is_uniform(name) or name in ALSO


def history(
    metric: str,
    directory: Path | None = None,
    *,
    subject: str | None = None,
    params: Mapping[str, str] | None = None,
    level: float = 0.05,
    seed: int = 0,
) -> MetricHistory:
    """One metric over the runs under a directory, with its changes.

    Raises
    ------
    UsageError
        No run there has such a record.
    """
    collected = collect(metric, directory, subject, params)
    if not collected.series:
        raise _nothing(metric, directory, subject, params, collected)

    @cache
    def read(source: Source, nodes: tuple[str, ...]) -> Fingerprint:
        return fingerprint(source, nodes)

    return explain(metric, collected, lambda nodes: lambda source: read(source, nodes), level=level, seed=seed)


def explain(
    metric: str,
    collected: Collection,
    facts_of: Callable[[tuple[str, ...]], Read],
    *,
    level: float = 0.05,
    seed: int = 0,
) -> MetricHistory:
    """The changes of all series, each with the facts that changed there.

    Parameters
    ----------
    facts_of
        From a series' nodes to a function that reads a run's facts of them.
    """
    found = change_points_of(
        [[point.value for point in series.points] for series in collected.series], level=level, seed=seed
    )
    told = tuple(
        JudgedSeries(
            series,
            tuple(_steps(series, changes, facts_of(series.nodes))),
            doubt([point.value for point in series.points], changes),
        )
        for series, changes in zip(collected.series, found, strict=True)
    )
    return MetricHistory(metric, told, collected.runs, level, collected.unread, collected.torn)


def _steps(series: Series, changes: Sequence[Change], read: Read) -> list[SeriesStep]:
    sources = [point.run for point in series.points]
    ends = [0, *(change.at for change in changes), len(sources)]
    return [
        SeriesStep(change, tuple(fact_changes(sources, change, (start, stop), read)))
        for change, start, stop in zip(changes, ends, ends[2:], strict=False)
    ]


def fact_changes(
    sources: Sequence[Source], change: Change, within: tuple[int, int], read: Read
) -> list[CoincidentChange]:
    """Facts that had one value in the runs before a change and another in those after.

    Exactly one, over up to `WINDOW` runs on either side: a fact that comes and goes explains nothing. It must change
    where the metric may have changed, from `change.earliest` to `change.latest`. A run that knows nothing of a fact
    says nothing. wulf's own version counts as a fact.

    Parameters
    ----------
    sources
        The series' runs, oldest first.
    within
        The first run of the segment before, and the one past the segment after.
    read
        A run's facts: node → fact → {"value": …}.
    """
    first = max(within[0], min(change.at - WINDOW, change.earliest - 1))
    last = min(within[1], max(change.at + WINDOW, change.latest + 1))
    seen: dict[tuple[str, str], list[tuple[int, Any]]] = {}
    for index in range(first, last):
        for node, facts in read(sources[index]).items():
            for name, fact in facts.items():
                if settled(name) and (fact.get("value") is not None or fact.get("absent")):
                    seen.setdefault((node, name), []).append((index, fact.get("value")))
        seen.setdefault(("", "wulf version"), []).append((index, sources[index].version))
    found = [_stepped(node, name, values, change) for (node, name), values in sorted(seen.items())]
    return [fact for fact in found if fact is not None]


def _stepped(node: str, name: str, values: list[tuple[int, Any]], change: Change) -> CoincidentChange | None:
    """The one step that the values of a fact make, if it is where the change may be."""
    texts = [json.dumps(value, sort_keys=True) for _, value in values]
    steps = [i for i in range(1, len(texts)) if texts[i] != texts[i - 1]]
    if len(steps) != 1:
        return None
    (old, before), (new, after) = values[steps[0] - 1], values[steps[0]]
    if new < change.earliest or old + 1 > change.latest:
        return None
    return CoincidentChange(node, name, before, after, min(max(change.at, old + 1), new) - change.at)


def _nothing(
    metric: str, directory: Path | None, subject: str | None, params: Mapping[str, str] | None, collected: Collection
) -> UsageError:
    """Why there is no series, and what there is instead."""
    where = place(directory)
    if not collected.runs:
        why = f": {collected.unread[0][0]}: {collected.unread[0][1]}" if collected.unread else ""
        return UsageError(f"no runs under {where}{why}", "`wulf survey` makes one; --in names another directory")
    if subject is not None or params:
        cells = collect(metric, directory).series
        if cells:
            subjects = sorted({series.subject for series in cells})
            of = sorted({f"{name}={value}" for series in cells for name, value in series.params.items()})
            return UsageError(
                f"no run under {where} has {metric!r} of that subject with those parameters",
                f"subjects: {_some(subjects)}; parameters: {_some(of)}",
            )
    names = metrics_of(directory)
    there = f"metrics there are: {_some(sorted(names))}" if names else "the newest runs there have no records at all"
    return UsageError(f"none of the {collected.runs} runs under {where} has the metric {metric!r}", there)


def _some(names: Sequence[str], limit: int = 12) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")
