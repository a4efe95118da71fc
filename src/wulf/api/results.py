"""Runs: what there is, and what one of them measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from wulf.api import html
from wulf.api.pictures import Map, Picture, maps_of, pictures_of
from wulf.api.tabular import Column, Kind, Tabular, columns_of
from wulf.core.findings import Finding, Severity
from wulf.core.names import plural
from wulf.core.records import Record
from wulf.report.kit.matrices import run_nodes
from wulf.report.run.html import write_report
from wulf.report.run.summary import duration, exit_code, ordered_findings
from wulf.report.run.view import report_view, run_headline
from wulf.store.export import COLUMNS
from wulf.store.index import find_run, headline_of, read_metas
from wulf.store.run import Run
from wulf.workflow.engine import recover

KINDS: dict[str, Kind] = {"VARCHAR": str, "DOUBLE": float, "INTEGER": int}

ENDS: dict[str, Kind] = {"client": str, "server": str}
"""Columns beside `subject`: the node, or both of the pair."""


class Results(Tabular):
    """What a run measured: its records as a table, findings, facts, maps and pictures.

    A notebook shows what it came to. A run that is still being measured is as it was when it was loaded.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def path(self) -> Path:
        """The run's directory."""
        return self._run.path

    @property
    def name(self) -> str:
        """What it is called: the name of its directory."""
        return self._run.path.resolve().name

    @property
    def id(self) -> str:
        """Its identifier, which no other run has."""
        return self._run.id

    @property
    def command(self) -> str:
        """What measured it: "survey", "node", "net-pingpong"."""
        return str(self._run.meta.get("command", ""))

    @property
    def started(self) -> str:
        """When it began: ISO 8601, UTC."""
        return str(self._run.meta.get("started", ""))

    @property
    def state(self) -> str:
        """How it ended: "complete", "interrupted" or "failed"; "running" where it has not."""
        return str(self._run.meta.get("state", ""))

    @property
    def exit_code(self) -> int:
        """As the command's: 0 all well, 1 something stands out, 3 incomplete, 130 interrupted."""
        return exit_code(self._run)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node that was asked for, in natural order."""
        return tuple(run_nodes(self._run))

    @cached_property
    def headline(self) -> str:
        """The one sentence that a person should take away."""
        return run_headline(self._run)

    @property
    def records(self) -> tuple[Record, ...]:
        """All that was measured, in that order."""
        return tuple(self._run.records)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What stands out, the gravest first."""
        return tuple(ordered_findings(self._run))

    @property
    def facts(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """Node → fact → {"value", "unit", "provenance"}, or {"value": None, "reason"} where it is not known."""
        return self._run.fingerprint

    @cached_property
    def maps(self) -> Mapping[str, Map]:
        """Title → one metric between all nodes; empty where no pairs were measured."""
        return maps_of(self._run)

    @cached_property
    def pictures(self) -> Mapping[str, Picture]:
        """Title → what the report draws: heat maps, and curves with their intervals."""
        return pictures_of(report_view(self._run))

    def report(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the report as one HTML file that works offline, beside the records or to `path`.

        Raises
        ------
        StoreError
            The disk is full, or there is no permission.
        """
        return write_report(self._run, None if path is None else Path(path))

    def _columns(self) -> list[Column]:
        return record_columns(self.records)

    def __repr__(self) -> str:
        return f"<Results of {self.id}: {self.headline}>"

    def _repr_html_(self) -> str:
        took = duration(self._run)
        about = [self.id, self.state, plural(len(self.nodes), "node"), plural(len(self.records), "record")]
        told = [(one.severity, one.text) for one in self.findings if one.severity is not Severity.INFO]
        return "".join(
            [html.paragraph(self.headline, strong=True), html.items(told[: html.MOST_ROWS]),
             html.paragraph(", ".join([*about, *([took] if took else [])]), faint=True)]
        )  # fmt: skip


def record_columns(records: Sequence[Record]) -> list[Column]:
    """The fields that are a table's, with a column for each parameter, and for both ends of a pair."""
    kinds: dict[str, Kind] = {}
    for name, kind in COLUMNS.items():
        kinds |= {name: KINDS[kind]} | (ENDS if name == "subject" else {})
    own = [name for name in kinds if name not in ENDS]
    rows = [
        {name: getattr(record, name) for name in own}
        | {"client": record.nodes[0], "server": record.nodes[1] if len(record.nodes) > 1 else None,
           "verdict": str(record.verdict)}
        for record in records
    ]  # fmt: skip
    return columns_of(rows, kinds, within="params")


@dataclass(frozen=True)
class RunEntry:
    """A run as the list of runs has it.

    Attributes
    ----------
    headline
        What it came to; empty where nothing is known of that.
    exit_code
        None where it has none, or not yet.
    path
        Its directory.
    """

    name: str
    id: str
    command: str
    started: str
    state: str
    exit_code: int | None
    nodes: tuple[str, ...]
    headline: str
    path: Path

    def load(self) -> Results:
        """What it measured."""
        return load(self.path)


class Runs(Sequence[RunEntry], Tabular):
    """The runs that there are, oldest first. A notebook shows them as a table."""

    def __init__(self, entries: Sequence[RunEntry], unread: Mapping[Path, str]) -> None:
        self._entries = tuple(entries)
        self.unread = dict(unread)
        """Runs that can't be read → why."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[RunEntry]:
        return iter(self._entries)

    @overload
    def __getitem__(self, place: int) -> RunEntry: ...
    @overload
    def __getitem__(self, place: slice) -> Runs: ...
    def __getitem__(self, place: int | slice) -> RunEntry | Runs:
        return Runs(self._entries[place], {}) if isinstance(place, slice) else self._entries[place]

    def _columns(self) -> list[Column]:
        kinds: dict[str, Kind] = {one.name: int if one.name == "exit_code" else str for one in fields(RunEntry)}
        rows = [
            {name: getattr(entry, name) for name in kinds} | {"nodes": ",".join(entry.nodes), "path": str(entry.path)}
            for entry in self
        ]
        return columns_of(rows, kinds)

    def __repr__(self) -> str:
        return f"<Runs: {', '.join(entry.name for entry in self)}>"

    def _repr_html_(self) -> str:
        rows = [(one.name, one.command, one.started[:16], one.state, one.headline) for one in reversed(self._entries)]
        return html.table(["run", "command", "started", "state", "what it came to"], rows)


def runs(directory: str | os.PathLike[str] | None = None) -> Runs:
    """The runs that there are, as `wulf runs` lists them.

    Parameters
    ----------
    directory
        Where; None: in the directory of runs ($WULF_RUNS, the configuration's, or ./runs) and the current one.
    """
    metas, unread = read_metas(None if directory is None else Path(directory))
    entries = [
        RunEntry(
            path.name, meta["id"], meta.get("command", ""), meta.get("started", ""), meta["state"],
            meta.get("exit_code"), tuple(meta.get("nodes", ())), headline_of(path, meta), path,
        )
        for path, meta in metas.items()
    ]  # fmt: skip
    return Runs(entries, unread)


def load(name: str | os.PathLike[str] = "last", directory: str | os.PathLike[str] | None = None) -> Results:
    """A run, also one that was cut short: it has what its replicates say.

    Parameters
    ----------
    name
        A path, a folder's name, an identifier, its unambiguous beginning, or "last".
    directory
        Where runs are; None: as `runs`.

    Raises
    ------
    UsageError
        None, or several, answer to the name.
    StoreError
        One of the run's files can't be read, or is not what it should be.
    """
    return Results(recover.load(find_run(os.fspath(name), None if directory is None else Path(directory))))
