"""What `wulf sentry metrics` shows: the state, and the newest run of `wulf links` that it knows."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median

from wulf.core.errors import WulfError
from wulf.core.findings import Severity
from wulf.core.records import Record
from wulf.measure.net.traffic import AGAIN, LEAST, RATE, RTT, SENT, is_whole, pair_of
from wulf.scrape.openmetrics import Family, Form, Sample, exposition
from wulf.sentry.metrics import MOST_LINKS, SERIES, families, label, snapshot, unreadable
from wulf.sentry.rows import Text, Time
from wulf.sentry.state import SentryState
from wulf.store.run import Run, read_meta, read_run

FRESH = 60.0
"""Seconds that an answer is good for while the state's file stays as it is: what is of the last 24 hours ages."""

NEWEST = """SELECT run, MAX(ended) FROM measurement WHERE state = 'done' AND run <> '' AND ended > ?
GROUP BY measure ORDER BY MAX(ended) DESC"""
"""Of each measure the newest run that has figures; which command made it is said in the run."""

LINKS_FOR = 7 * 86400.0
"""Seconds after which the figures of links are too old to be shown."""


def shown(state: SentryState, now: float, series: int = SERIES) -> list[Family]:
    """A state as metrics, with what the newest run of `wulf links` says of pairs."""
    with state.snapshot():
        found = snapshot(state, now)
        runs = [Path(run) for run, _ in state.rows(NEWEST, (now - LINKS_FOR,), Text, Time)]
    return families(found, now, series, links_of(runs))


def links_of(runs: Sequence[Path]) -> list[list[Sample]]:
    """Samples of the families of links, of the first of these runs that `wulf links` made; empty without one."""
    for path in runs:
        try:
            if read_meta(path).get("command") == "links":
                return link_samples(read_run(path))
        except (WulfError, OSError):  # removed, or torn: `wulf runs` says so
            continue
    return []


def link_samples(run: Run) -> list[list[Sample]]:
    """Samples of the families of links, in the table's order; the pairs that matter most first."""
    whole = [record for record in run.records if is_whole(record) and record.value is not None]
    values = {(one.metric, pair_of(one)): one.value for one in whole}
    pairs = _by_importance(run, whole)[:MOST_LINKS]
    severities = Counter(one.severity for one in run.findings)
    ended = str(run.meta.get("ended") or run.meta["started"])
    made: list[list[Sample]] = [
        [({}, datetime.fromisoformat(ended).timestamp())],
        [({}, float(len({pair_of(one) for one in whole})))],
        [({"severity": str(severity)}, float(severities[severity])) for severity in Severity],
    ]
    of_pairs: list[list[Sample]] = [
        [
            ({"sender": label(pair[0]), "receiver": label(pair[1])}, value)
            for pair in pairs
            if (value := values.get((metric, pair))) is not None
        ]
        for metric in (LEAST, RTT, AGAIN, RATE, SENT)
    ]
    return [*made, *of_pairs]


def _by_importance(run: Run, whole: Sequence[Record]) -> list[tuple[str, str]]:
    """Pairs: those that a finding names, or one of whose nodes it does, then those that are worst for a metric."""
    named = {one.subject for one in run.findings if one.severity is not Severity.INFO}
    worst: dict[tuple[str, str], float] = {}
    for metric, sign in ((LEAST, 1), (RTT, 1), (AGAIN, 1), (RATE, -1)):
        own = {pair_of(one): one.value for one in whole if one.metric == metric and one.value}
        middle = median(own.values()) if own else 1.0
        for pair, value in own.items():
            worst[pair] = max(worst.get(pair, 0.0), (value / middle) ** sign)
    pairs = {pair_of(one) for one in whole}
    return sorted(pairs, key=lambda pair: (not named & {*pair, ">".join(pair)}, -worst.get(pair, 0.0), pair))


@dataclass
class Metrics:
    """The metrics of a state's file as text; made anew only when the file has changed, however many ask.

    Attributes
    ----------
    form
        The one format that all get; None: what each asks for.
    """

    path: Path
    series: int = SERIES
    form: Form | None = None
    clock: Callable[[], float] = time.time
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: dict[Form, tuple[tuple[int, ...], float, str]] = field(default_factory=dict)

    def __call__(self, asked: Form) -> str:
        """The text; where the state can't be read, that alone."""
        form = self.form or asked
        with self._lock:
            stamp, now = tuple(_stamp(self.path)), self.clock()
            kept = self._kept.get(form)
            if kept is None or kept[0] != stamp or not 0 <= now - kept[1] < FRESH:
                kept = stamp, now, self._text(form, now)
                self._kept[form] = kept
            return kept[2]

    def _text(self, form: Form, now: float) -> str:
        try:
            return self.text(form, now)
        except WulfError:
            return exposition(unreadable(), form)

    def text(self, form: Form, now: float) -> str:
        """The text, made now.

        Raises
        ------
        UsageError
            There is no such state, or it can't be read.
        """
        with SentryState(self.path, read_only=True) as state:
            return exposition(shown(state, now, self.series), form)


def _stamp(path: Path) -> Iterator[int]:
    """Changes whenever the state is written: the file, or its log, of which a reader makes an empty one."""
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            found = each.stat()
        except OSError:
            yield 0
        else:
            yield from (found.st_mtime_ns, found.st_size, found.st_ino) if found.st_size else (0,)
