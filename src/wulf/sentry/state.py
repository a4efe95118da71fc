"""The sentry's state: one SQLite file that survives kill -9 and power loss, and that others may read meanwhile.

Write-ahead log, `synchronous=FULL`: what was committed is on disk. What belongs together (a run's figures, what the
detectors make of them, incidents, whom to tell) is one transaction, so that a run is taken in whole or not at all.
It is one long file: every statement stands beside the others that keep the same tables in order.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from wulf.core.errors import UsageError, WulfError
from wulf.core.findings import Severity
from wulf.core.places import user_folder
from wulf.sentry.incident import QUIET, Event, Incident, Kind, Observation, State, What
from wulf.sentry.rows import Real, RowError, Text, TextByName, Texts, Time, Times, Whole, checked

VERSION = 1
"""Of the schema: `PRAGMA user_version`."""

PATIENCE = 30.0
"""Seconds that a writer waits for another one."""

UNREADABLE = (sqlite3.DatabaseError, RowError, UnicodeDecodeError)
"""What a damaged file raises; the last one in SQLite's own words about its tables."""

_INCIDENT: dict[str, Any] = {
    "kind": Kind, "node": Text, "metric": Text, "severity": Severity, "state": State, "since": Time, "until": Time,
    "opened": Time, "seen": Time, "closed": Time | None, "openings": Times, "text": Text, "next_step": Text,
    "unit": Text, "before": Real | None, "now": Real | None, "ratio": Real | None, "low": Real | None,
    "high": Real | None, "by": Text, "note": Text, "run": Text,
}  # fmt: skip
"""Columns of an incident behind its number, in the schema's order, and their types."""

_MEASUREMENT = (Whole, Text, Texts, Text, Text, TextByName, Time, Time | None, Real | None, Text, Text)
_FIGURE = (Text, Time, Real, Real | None, Real | None)


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the state is unless it is named: in systemd's $STATE_DIRECTORY, else in the user's own folder."""
    folder = environ.get("STATE_DIRECTORY", "").partition(":")[0]
    return (Path(folder) if folder else user_folder("state", environ)) / "sentry.db"


@dataclass(frozen=True)
class Watched:
    """A node of the plan.

    Attributes
    ----------
    hardware
        Its class.
    since
        In the plan since.
    chance
        That it has changed since it was last measured, as of `as_of`.
    faults
        Changes for the worse that it has had.
    """

    name: str
    hardware: str
    since: float
    chance: float
    faults: float
    as_of: float


@dataclass(frozen=True)
class Measurement:
    """One measuring of some nodes.

    Attributes
    ----------
    measure
        The plan's name for it.
    why
        Why these nodes: `due`, `sign`, `confirm`, `likeliest`, `asked`.
    state
        `running`, `done`, `failed`, `preempted` (its nodes were wanted for a job), or `lost` (the sentry ended).
    holder
        Who measures: boot, pid, and when that was started.
    seconds
        Node-seconds that it took.
    run
        Its directory; empty where it made none.
    reason
        Why it did not succeed.
    """

    id: int
    measure: str
    nodes: tuple[str, ...]
    why: str
    state: str
    holder: Mapping[str, str]
    began: float
    ended: float | None
    seconds: float | None
    run: str
    reason: str


@dataclass(frozen=True)
class Figure:
    """One figure of a node, in its metric's unit."""

    node: str
    metric: str
    at: float
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class MetricInfo:
    """A metric's unit, and which way is better: `lower`, `higher`, or '' where nobody says."""

    name: str
    unit: str
    better: str


@dataclass(frozen=True)
class Sign:
    """A passive sign that a node may have changed; `odds`: how many times likelier it is after a change."""

    node: str
    at: float
    name: str
    odds: float
    text: str


@dataclass(frozen=True)
class Delivery:
    """What a channel is still to be told.

    Attributes
    ----------
    number
        Of the event: a channel that may be told twice, since wulf was killed between telling and noting it, knows it by
        that.
    attempts
        How often it could not be told.
    """

    number: int
    event: Event
    incident: Incident
    channel: str
    attempts: int


class SentryState:
    """The file, opened.

    Parameters
    ----------
    path
        Made where there is none, unless only read.
    read_only
        For reports and metrics: never waits for the sentry, and never makes it wait.

    Raises
    ------
    UsageError
        There is none to read, it is no state of the sentry's, or of a newer wulf's.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if read_only and not path.is_file():
            raise UsageError(f"{path}: there is no state of a sentry", "`wulf sentry run PLAN` makes one")
        try:
            self._db = _connected(path, read_only)
            _adopted(self._db, path, read_only)
        except UNREADABLE as error:
            raise _unreadable(path, error) from error

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    def __enter__(self) -> SentryState:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Give the file back. Raises UsageError where it was found damaged meanwhile."""
        self.close()
        if isinstance(error, UNREADABLE):
            raise _unreadable(self.path, error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written in the block, or nothing of it; blocks within one another are one.

        Raises
        ------
        WulfError
            The disk is full, it may not be written, or another writer does not end.
        """
        if self._db.in_transaction:
            yield
            return
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            raise WulfError(
                f"{self.path} can't be written: {error}",
                "make room, or see who else writes it; nothing is half written",
            ) from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read in the block is of one moment."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:  # SQLite ends it where it finds the file damaged
                self._db.execute("COMMIT")

    def rows(self, query: str, values: Sequence[Any], *columns: Any) -> list[tuple[Any, ...]]:
        """What a query answers, by the types of its columns (`rows.py`); for the modules of this room.

        Raises
        ------
        RowError, sqlite3.DatabaseError
            A value, or the file; the `with` in which the state was opened makes a UsageError of it.
        """
        return checked(self._db.execute(query, values), columns)

    # nodes

    def watch(self, hardware: Mapping[str, str], at: float, chance: float) -> None:
        """The plan's nodes are these, with their classes; those that are no longer in it are kept, as gone.

        Parameters
        ----------
        chance
            Of one that is new, that it is not as it should be.
        """
        with self.transaction():
            self._db.executemany(
                "INSERT INTO node VALUES (?, ?, ?, NULL, ?, 0, ?) "
                "ON CONFLICT (name) DO UPDATE SET class = excluded.class, gone = NULL",
                [(name, own, at, chance, at) for name, own in hardware.items()],
            )
            known = {name for (name,) in self.rows("SELECT name FROM node WHERE gone IS NULL", (), Text)}
            self._db.executemany(
                "UPDATE node SET gone = ? WHERE name = ?", [(at, name) for name in known - hardware.keys()]
            )

    def nodes(self) -> list[Watched]:
        """The plan's nodes, by name."""
        query = "SELECT name, class, since, chance, faults, as_of FROM node WHERE gone IS NULL ORDER BY name"
        return [Watched(*row) for row in self.rows(query, (), Text, Text, Time, Real, Real, Time)]

    def counts(self) -> tuple[int, int]:
        """How many nodes the plan has, and how many metrics are known."""
        query = "SELECT (SELECT COUNT(*) FROM node WHERE gone IS NULL), (SELECT COUNT(*) FROM metric)"
        ((nodes, metrics),) = self.rows(query, (), Whole, Whole)
        return nodes, metrics

    def classify(self, hardware: Mapping[str, str]) -> None:
        """Write down the classes of some nodes."""
        with self.transaction():
            self._db.executemany(
                "UPDATE node SET class = ? WHERE name = ?", [(own, name) for name, own in hardware.items()]
            )

    def facts(self, nodes: Iterable[str]) -> dict[str, dict[str, str]]:
        """Node → fact → what it was when the node was last measured; of nodes of which some are known."""
        found: dict[str, dict[str, str]] = {}
        for node in nodes:
            rows = self.rows("SELECT name, value FROM fact WHERE node = ?", (node,), Text, Text)
            if rows:
                found[node] = dict(rows)
        return found

    def keep_facts(self, facts: Mapping[str, Mapping[str, str]]) -> None:
        """Write down facts of nodes."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO fact VALUES (?, ?, ?)",
                [(node, name, value) for node, own in facts.items() for name, value in own.items()],
            )

    def believe(self, nodes: Iterable[Watched]) -> None:
        """Write down chances and faults."""
        with self.transaction():
            self._db.executemany(
                "UPDATE node SET chance = ?, faults = ?, as_of = ? WHERE name = ?",
                [(one.chance, one.faults, one.as_of, one.name) for one in nodes],
            )

    # measurements

    def claim(
        self, measure: str, nodes: Sequence[str], why: str, at: float, holder: Mapping[str, str], *,
        run: Callable[[int], str] = lambda _: "",
    ) -> int | None:  # fmt: skip
        """Begin to measure some nodes: the measurement's number; None where one of them is being measured.

        Parameters
        ----------
        run
            Where its run will lie, by its number: known from the start, so that a run that ends without us is found.
        """
        try:
            with self.transaction():
                cursor = self._db.execute(
                    "INSERT INTO measurement (measure, nodes, why, state, holder, began) "
                    "VALUES (?, ?, ?, 'running', ?, ?)",
                    (measure, json.dumps(list(nodes)), why, json.dumps(dict(holder)), at),
                )
                number = int(cursor.lastrowid or 0)
                self._db.execute("UPDATE measurement SET run = ? WHERE id = ?", (run(number), number))
                self._db.executemany("INSERT INTO claim VALUES (?, ?)", [(node, number) for node in nodes])
        except sqlite3.IntegrityError:
            return None
        return number

    def finish(
        self, number: int, state: str, at: float, seconds: float, *, reason: str = "", measured: Iterable[str] = ()
    ) -> None:
        """A measurement has ended; `measured`: the nodes that it has figures of."""
        with self.transaction():
            self._db.execute(
                "UPDATE measurement SET state = ?, ended = ?, seconds = ?, reason = ? WHERE id = ?",
                (state, at, seconds, reason, number),
            )
            self._db.execute("DELETE FROM claim WHERE measurement = ?", (number,))
            ((measure,),) = self.rows("SELECT measure FROM measurement WHERE id = ?", (number,), Text)
            self._db.executemany(
                "INSERT INTO measured VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at",
                [(node, measure, at) for node in measured],
            )

    def running(self) -> list[Measurement]:
        """The measurements that have begun and not ended."""
        return self._measurements("state = 'running'", ())

    def measurements(self, since: float) -> list[Measurement]:
        """Those that began since then, the newest first."""
        return self._measurements("began >= ?", (since,))

    def _measurements(self, where: str, values: tuple[Any, ...]) -> list[Measurement]:
        query = (
            "SELECT id, measure, nodes, why, state, holder, began, ended, seconds, run, reason FROM measurement "  # noqa: S608
            f"WHERE {where} ORDER BY began DESC, id DESC"  # one of the two above
        )
        return [Measurement(*row) for row in self.rows(query, values, *_MEASUREMENT)]

    def spent(self, since: float, until: float) -> float:
        """Node-seconds that measurements took which ended within that time."""
        query = "SELECT TOTAL(seconds) FROM measurement WHERE ended > ? AND ended <= ?"
        ((seconds,),) = self.rows(query, (since, until), Real)
        return float(seconds)

    def usual_seconds(self, measure: str, newest: int = 100) -> float | None:
        """Node-seconds for each node that the newest successful measurements took, in the mean; None: there is none."""
        query = "SELECT seconds, nodes FROM measurement WHERE measure = ? AND state = 'done' ORDER BY id DESC LIMIT ?"
        each = [seconds / len(nodes) for seconds, nodes in self.rows(query, (measure, newest), Real, Texts) if nodes]
        return sum(each) / len(each) if each else None

    def last_measured(self) -> dict[tuple[str, str], float]:
        """(Node, measure) → when it last was."""
        rows = self.rows("SELECT node, measure, at FROM measured", (), Text, Text, Time)
        return {(node, measure): at for node, measure, at in rows}

    def last_seen(self) -> dict[str, float]:
        """Node → when it last was measured, by whatever measure."""
        return dict(self.rows("SELECT node, MAX(at) FROM measured GROUP BY node", (), Text, Time))

    # figures

    def metric(self, info: MetricInfo) -> int:
        """A metric's number, which it gets when it is first seen."""
        with self.transaction():
            self._db.execute(
                "INSERT INTO metric (name, unit, better) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, better = excluded.better",
                (info.name, info.unit, info.better),
            )
        ((number,),) = self.rows("SELECT id FROM metric WHERE name = ?", (info.name,), Whole)
        return int(number)

    def metrics(self) -> dict[str, MetricInfo]:
        """Name → what is known of it."""
        rows = self.rows("SELECT name, unit, better FROM metric ORDER BY name", (), Text, Text, Text)
        return {name: MetricInfo(name, unit, better) for name, unit, better in rows}

    def add(self, measurement: int, figures: Iterable[Figure]) -> None:
        """Figures of a measurement, whose metrics are known."""
        numbers = self._metric_numbers()
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO figure VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(numbers[one.metric], one.node, one.at, one.value, one.low, one.high, measurement) for one in figures],
            )

    def figures(self, metric: str, since: float, nodes: Iterable[str] | None = None) -> list[Figure]:
        """One metric's figures since then, by node and time."""
        query = (
            "SELECT node, at, value, low, high FROM figure JOIN metric ON metric.id = figure.metric "
            "WHERE name = ? AND at >= ?"
        )
        if nodes is None:
            rows = self.rows(f"{query} ORDER BY node, at", (metric, since), *_FIGURE)
        else:  # each by its key: of one node ten thousand others' are not read
            rows = [
                row
                for node in sorted(set(nodes))
                for row in self.rows(f"{query} AND node = ? ORDER BY at", (metric, since, node), *_FIGURE)
            ]
        return [Figure(node, metric, at, value, low, high) for node, at, value, low, high in rows]

    def newest(self, metric: str, since: float, nodes: Iterable[str]) -> dict[str, float]:
        """Node → one metric's last figure since then, of those that have one."""
        query = (
            "SELECT value FROM figure WHERE metric = (SELECT id FROM metric WHERE name = ?) AND node = ? AND at >= ? "
            "ORDER BY at DESC LIMIT 1"
        )
        return {node: value for node in nodes for (value,) in self.rows(query, (metric, node, since), Real)}

    def by_day(self, metric: str, since: float) -> list[tuple[str, int, float]]:
        """Node, day (since 1970, UTC), and the mean of its figures of that day."""
        query = (
            "SELECT node, CAST(at / 86400 AS INTEGER) AS day, AVG(value) FROM figure JOIN metric "
            "ON metric.id = figure.metric WHERE name = ? AND at >= ? GROUP BY node, day"
        )
        return [(node, day, value) for node, day, value in self.rows(query, (metric, since), Text, Whole, Real)]

    def _metric_numbers(self) -> dict[str, int]:
        return dict(self.rows("SELECT name, id FROM metric", (), Text, Whole))

    # incidents

    def newest_incident(self, kind: str, node: str, metric: str) -> Incident | None:
        """The newest of a key, open or closed."""
        found = self._incidents(
            "kind = ? AND node = ? AND metric = ? ORDER BY opened DESC, id DESC LIMIT 1", (kind, node, metric)
        )
        return found[0] if found else None

    def incidents(self, *, open_only: bool = False, since: float = 0.0) -> list[Incident]:
        """Incidents that were open at some time since then, the oldest first."""
        if open_only:
            return self._incidents("state <> 'closed' ORDER BY opened, id", ())
        return self._incidents("(closed IS NULL OR closed >= ?) ORDER BY opened, id", (since,))

    def incident(self, number: int) -> Incident | None:
        """The one of that number."""
        found = self._incidents("id = ?", (number,))
        return found[0] if found else None

    def keep(self, one: Incident, what: What | None, at: float, channels: Sequence[str] = ()) -> Incident:
        """Write an incident down, with what happened to it, and whom that is to be told: the incident, numbered."""
        own = one.what
        values = (
            str(own.kind), own.node, own.metric, str(own.severity), str(one.state), own.since, own.until,
            one.opened_at, one.seen_at, one.closed_at, json.dumps(one.openings), own.text, own.next_step, own.unit,
            own.before, own.now, own.ratio, own.low, own.high, one.by, one.note, one.run,
        )  # fmt: skip
        with self.transaction():
            marks = ", ".join("?" * len(values))
            changes = ", ".join(f"{name} = excluded.{name}" for name in _INCIDENT)
            cursor = self._db.execute(  # of our own names of columns
                f"INSERT INTO incident VALUES (?, {marks}) ON CONFLICT (id) DO UPDATE SET {changes}",  # noqa: S608
                (one.id or None, *values),
            )
            number = one.id or int(cursor.lastrowid or 0)
            if what is not None:
                self._tell(number, at, what, one.note if what is What.ACKNOWLEDGED else own.text, channels)
        return replace(one, id=number)

    def _tell(self, incident: int, at: float, what: What, text: str, channels: Sequence[str]) -> None:
        cursor = self._db.execute(
            "INSERT INTO event (incident, at, what, text) VALUES (?, ?, ?, ?)", (incident, at, str(what), text)
        )
        if what not in QUIET:
            self._db.executemany(
                "INSERT INTO delivery (event, channel, next_at) VALUES (?, ?, ?)",
                [(cursor.lastrowid, channel, at) for channel in channels],
            )

    def events(self, incident: int | None = None, since: float = 0.0) -> list[Event]:
        """What happened, the oldest first: to one incident, or to all."""
        query = "SELECT incident, at, what, text FROM event WHERE at >= ? AND (? IS NULL OR incident = ?) ORDER BY id"
        return [Event(*row) for row in self.rows(query, (since, incident, incident), Whole, Time, What, Text)]

    def _incidents(self, where: str, values: tuple[Any, ...]) -> list[Incident]:
        query = f"SELECT id, {', '.join(_INCIDENT)} FROM incident WHERE {where}"  # noqa: S608 - of those above
        return [_incident(row) for row in self.rows(query, values, Whole, *_INCIDENT.values())]

    # whom to tell

    def due(self, at: float, most: int = 100) -> list[Delivery]:
        """What channels are to be told now, the oldest first."""
        rows = self.rows(
            "SELECT event.id, delivery.channel, delivery.attempts, incident, event.at, what, text FROM delivery "
            "JOIN event ON event.id = delivery.event WHERE next_at <= ? ORDER BY event.id LIMIT ?",
            (at, most), Whole, Text, Whole, Whole, Time, What, Text,
        )  # fmt: skip
        found = []
        for number, channel, attempts, incident, when, what, text in rows:
            known = self.incident(incident)
            assert known is not None  # noqa: S101 - it is referenced
            found.append(Delivery(number, Event(incident, when, what, text), known, channel, attempts))
        return found

    def delivered(self, one: Delivery) -> None:
        """A channel was told."""
        self.write("DELETE FROM delivery WHERE event = ? AND channel = ?", [(one.number, one.channel)])

    def undelivered(self, one: Delivery, next_at: float, error: str) -> None:
        """A channel could not be told: when to try again, and why."""
        self.write(
            "UPDATE delivery SET attempts = attempts + 1, next_at = ?, error = ? WHERE event = ? AND channel = ?",
            [(next_at, error, one.number, one.channel)],
        )

    def waiting(self) -> dict[str, int]:
        """Channel → how many messages wait for it."""
        return dict(self.rows("SELECT channel, COUNT(*) FROM delivery GROUP BY channel", (), Text, Whole))

    # signs

    def note_signs(self, signs: Iterable[Sign]) -> None:
        """Write down passive signs."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO sign VALUES (?, ?, ?, ?, ?)",
                [(one.node, one.at, one.name, one.odds, one.text) for one in signs],
            )

    def signs(self, since: float) -> list[Sign]:
        """Those since then, the oldest first."""
        query = "SELECT node, at, name, odds, text FROM sign WHERE at >= ? ORDER BY at"
        return [Sign(*row) for row in self.rows(query, (since,), Text, Time, Text, Real, Text)]

    # whom Slurm drains, and what is kept besides

    def drained(self) -> set[tuple[str, int, float]]:
        """(Node, incident, opening) that Slurm was asked to drain for."""
        rows = self.rows("SELECT node, incident, opening FROM drained", (), Text, Whole, Time)
        return {(node, incident, opening) for node, incident, opening in rows}

    def note_drained(self, node: str, incident: int, opening: float) -> None:
        """Slurm was asked to drain a node."""
        self.write("INSERT OR IGNORE INTO drained VALUES (?, ?, ?)", [(node, incident, opening)])

    def keep_text(self, name: str, text: str) -> None:
        """Keep a text under a name, in the place of an older one."""
        self.write("INSERT OR REPLACE INTO kept VALUES (?, ?)", [(name, text)])

    def text(self, name: str) -> str | None:
        """The text of that name."""
        rows = self.rows("SELECT value FROM kept WHERE name = ?", (name,), Text)
        return rows[0][0] if rows else None

    # what only the detectors write

    def write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement of another module of this room for each row."""
        with self.transaction():
            self._db.executemany(statement, rows)

    def forget(self, before: float) -> None:
        """Remove figures, measurements and signs older than that; incidents stay."""
        with self.transaction():
            self._db.execute("DELETE FROM figure WHERE at < ?", (before,))
            self._db.execute("DELETE FROM sign WHERE at < ?", (before,))
            self._db.execute(
                "DELETE FROM measurement WHERE ended < ? AND NOT EXISTS "
                "(SELECT 1 FROM figure WHERE figure.measurement = measurement.id)",
                (before,),
            )


def _unreadable(path: Path, error: Exception) -> UsageError:
    return UsageError(f"{path}: no state of a sentry can be read: {error}", "name another file, or restore this one")


def _connected(path: Path, read_only: bool) -> sqlite3.Connection:
    where = f"file:{_quoted(path)}?mode={'ro' if read_only else 'rwc'}"
    db = sqlite3.connect(where, timeout=PATIENCE, isolation_level=None, uri=True)
    try:
        if not read_only:
            path.chmod(0o644)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _adopted(db: sqlite3.Connection, path: Path, read_only: bool) -> None:
    """Make the tables where there are none, and refuse what is not ours."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    with closing(db.execute("SELECT COUNT(*) FROM sqlite_master")) as counted:
        (tables,) = counted.fetchone()
    if version > VERSION:
        db.close()
        raise UsageError(f"{path} was written by a newer wulf (schema {version}, here {VERSION})", "use that one")
    if tables or read_only:
        db.close()
        raise UsageError(f"{path} is no state of a sentry", "name another file with --state")
    script = files("wulf.sentry").joinpath("schema.sql").read_text(encoding="utf-8")
    db.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {VERSION};\nCOMMIT;")


def _incident(row: Sequence[Any]) -> Incident:
    (number, kind, node, metric, severity, state, since, until, opened, seen, closed, openings, text, next_step, unit,
     before, now, ratio, low, high, by, note, run) = row  # fmt: skip
    what = Observation(kind, node, metric, severity, since, until, text, next_step, unit, before, now, ratio, low, high)
    return Incident(number, what, state, opened, seen, openings, closed, by, note, run)


def in_state(path: Path, read: Callable[[SentryState], Any]) -> Any:
    """What a function reads of a state, all of one moment."""
    with SentryState(path, read_only=True) as state, state.snapshot():
        return read(state)
