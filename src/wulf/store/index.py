"""Which runs there are, and which one a user means by a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wulf.core.errors import INCOMPLETE, UsageError
from wulf.core.findings import Severity
from wulf.store.reading import StoreError
from wulf.store.run import read_findings, read_meta, runs_directory


def headline_of(path: Path, meta: Mapping[str, Any]) -> str:
    """What a run came to: its headline; without one the gravest of what was found, or nothing."""
    if meta.get("headline"):
        return str(meta["headline"])
    try:
        found = read_findings(path / "findings.json")
    except StoreError:
        return ""
    return next((one.text for grave in (Severity.BAD, Severity.WARN) for one in found if one.severity is grave), "")


def list_runs(directory: Path | None = None) -> Iterator[Path]:
    """The runs under a directory, by name; some may be torn: `read_meta` says so.

    Without one: those in the directory of runs, then those that `--out NAME` left in the current one.
    """
    roots = (directory,) if directory is not None else (runs_directory(), Path())
    for root in {place.resolve(): place for place in roots}.values():
        if root.is_dir():
            yield from sorted(path.parent for path in root.glob("*/run.json"))


def read_metas(directory: Path | None = None) -> tuple[dict[Path, dict[str, Any]], dict[Path, str]]:
    """Of the runs under a directory what run.json says, oldest first; and of those that can't be read why."""
    found: dict[Path, dict[str, Any]] = {}
    unread: dict[Path, str] = {}
    for path in list_runs(directory):
        try:
            found[path] = read_meta(path)
        except StoreError as error:
            unread[path] = error.what
    return dict(sorted(found.items(), key=lambda one: (str(one[1].get("started")), one[0]))), unread


def newest_run(command: str, directory: Path | None = None, *, state: str | None = None) -> Path | None:
    """The newest run of a command, in that state where one is given; None where there is none that can be read."""
    found = [
        path
        for path, meta in read_metas(directory)[0].items()
        if meta.get("command") == command and state in (None, meta.get("state"))
    ]
    return found[-1] if found else None


def find_run(name: str, directory: Path | None = None, *, empty: bool = False) -> Path:
    """The run that a user named: a path, a folder's name or an identifier, its unambiguous beginning, or `last`.

    `last` is the newest that can be read, whatever its folder is called; one that failed before anything was measured
    only where `empty` is true, or no other is there.

    Raises
    ------
    UsageError
        None, or several, answer to the name.
    """
    if (Path(name) / "run.json").is_file():
        return Path(name)
    metas, unread = read_metas(directory)
    runs = [*unread, *metas]
    root = directory if directory is not None else runs_directory()
    if name == "last" and runs:
        with_something = [run for run in metas if empty or not _came_to_nothing(run, metas[run])]
        return (with_something or runs)[-1]
    names = {run: (run.name, str(metas[run]["id"]) if run in metas else "") for run in runs}
    matches = [run for run in runs if any(own.startswith(name) for own in names[run])]
    exact = [run for run in matches if name in names[run]]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    what = "no run" if not matches else f"{len(matches)} runs"
    raise UsageError(f"{what} named {name!r} under {root}", "`wulf runs` lists the runs")


def _came_to_nothing(run: Path, meta: Mapping[str, Any]) -> bool:
    """Whether the run failed, with nothing measured: no node could be reached, say."""
    if meta["state"] != "failed" and meta.get("exit_code") != INCOMPLETE:
        return False
    measured = (run / "replicates.jsonl", run / "records.jsonl")
    return not any(file.is_file() and file.stat().st_size for file in measured)
