"""What other nodes of the same hardware have, from the state of a sentry."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from wulf.core.durations import DAY
from wulf.core.names import natural
from wulf.findings.node.fleet import Fleet, Usual
from wulf.sentry.harvest import class_of
from wulf.sentry.state import SentryState
from wulf.store.run import Facts

LEAST = 5
"""Other nodes of a hardware class of which something is usual."""

MOST = 200
"""Of a larger class so many are asked, evenly chosen: their median is known as well as any figure."""

RECENT = 90 * DAY
"""Older figures say what nodes were like."""

WITHIN = (5.0, 95.0)
"""Percentiles between which nine of ten nodes lie."""


def fleet_of(path: Path, fingerprint: Mapping[str, Facts], rows: Iterable[str], at: float | None = None) -> Fleet:
    """The fleet's figures for some nodes: of others of their class, those with an open incident left out.

    Parameters
    ----------
    path
        The sentry's state; it is only read.
    fingerprint
        The nodes' facts, by which their classes are told.
    rows
        Of the node survey.
    at
        Now, Unix seconds.

    Raises
    ------
    UsageError
        There is no such state.
    """
    since = (time.time() if at is None else at) - RECENT
    hardware = {node: class_of(facts) for node, facts in fingerprint.items()}
    with SentryState(path, read_only=True) as state, state.snapshot():
        ill = {one.what.node for one in state.incidents(open_only=True)}
        members: dict[str, list[str]] = {}
        for watched in state.nodes():
            if watched.name not in ill:
                members.setdefault(watched.hardware, []).append(watched.name)
        asked = {kind: _some(members.get(kind, [])) for kind in set(hardware.values()) if kind}
        known = set(state.metrics())
        figures = {
            kind: {row: state.newest(row, since, nodes) for row in rows if row in known}
            for kind, nodes in asked.items()
        }
    usual: dict[str, dict[str, Usual]] = {}
    for node, kind in hardware.items():
        of_rows = {row: _usual(own, node) for row, own in figures.get(kind, {}).items()}
        usual[node] = {row: one for row, one in of_rows.items() if one is not None}
    return Fleet(usual, hardware, f"sentry, {path}")


def _some(nodes: Sequence[str]) -> list[str]:
    ordered = sorted(nodes, key=natural)
    places = np.linspace(0, len(ordered) - 1, min(MOST, len(ordered))).round().astype(int)
    return [ordered[place] for place in places]


def _usual(figures: Mapping[str, float], node: str) -> Usual | None:
    """Of the others."""
    others = [value for name, value in figures.items() if name != node and value > 0]
    if len(others) < LEAST:
        return None
    low, middle, high = np.percentile(others, [WITHIN[0], 50.0, WITHIN[1]])
    return Usual(float(middle), float(low), float(high), len(others))
