"""A run on disk: a directory that is append-only while it is measured and usable after kill -9.

run.json           id, command, version, seed, started, ended, state
plan.json          every cell, and the order with its seed
fingerprint.json   the facts of every node
settings.json      what the settings of every node are (an audit's)
baseline.json      what every node counted in an idle second before and after
records.jsonl      one record a line, in the order measured; a torn last line is ignored
findings.json      what stands out
report.html
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from errno import ENOSPC
from io import FileIO
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from wulf import __version__
from wulf.core.configuration import configuration
from wulf.core.errors import UsageError
from wulf.core.files import appending, folder, replace_file
from wulf.core.findings import Finding
from wulf.core.given import Unreadable, first_fault, opened
from wulf.core.records import Record
from wulf.store.reading import (
    LONGEST,
    Baseline,
    Fingerprint,
    PlanFile,
    Settings,
    StoreError,
    lines_of,
    read_json,
    read_meta_file,
    read_shaped,
    record_of,
    replicate_of,
)

Facts = dict[str, dict[str, Any]]
"""Of one node: fact name → {"value", "unit"?, "provenance"} or {"value": null, "reason"}."""


def utc_now() -> str:
    """Now, as records and runs hold it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_run_id(command: str) -> str:
    """A run's identifier: sortable by time, readable, unique on a shared file system."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{command}-{secrets.token_hex(2)}"


def runs_directory() -> Path:
    """Where runs go that were not told where: $WULF_RUNS, else the configuration's `runs`, else ./runs.

    Raises
    ------
    UsageError
        The configuration can't be read.
    """
    if "WULF_RUNS" in os.environ:
        return Path(os.environ["WULF_RUNS"])
    return configuration().runs or Path("runs")


@dataclass
class Run:
    """A run as read back from disk."""

    path: Path
    meta: dict[str, Any]
    plan: dict[str, Any] = field(default_factory=dict)
    fingerprint: dict[str, Facts] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    replicates: list[dict[str, Any]] = field(default_factory=list)
    baseline: dict[str, Any] = field(default_factory=dict)
    """"before" and "after" → node → what it counted in an idle second; empty where none was taken."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What an audit read of the nodes' settings, and for which aim; empty where none was made."""
    derived: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was made of it, by name, where that takes long and several ask: never written."""
    torn: int = 0
    """Lines that could not be read (a run cut short leaves at most one a file)."""

    @property
    def id(self) -> str:
        """The run's identifier."""
        return str(self.meta["id"])

    @property
    def being_written(self) -> bool:
        """True while the wulf that measures it is alive; a run 'running' that nobody writes was cut short."""
        try:
            with opened(self.path / ".lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except (OSError, Unreadable):
            return False
        return False


class RunWriter:
    """Writes one run. Use as a context manager; leaving it by an exception marks the run interrupted or failed.

    Parameters
    ----------
    path
        The directory; made if it is absent. One that holds a run already is refused.
    command
        The command's name, for the identifier.
    meta
        More fields for run.json: argv, seed, nodes.
    resume
        Go on with the run that `path` holds, as if it had never ended: `earlier` is what it is so far. Its identifier,
        command and fields stay; its replicates are appended to; its records are to be made anew from all of them.

    Raises
    ------
    UsageError
        Another wulf is writing there, or a run is there already (none, to resume), or there is no permission.
    StoreError
        The disk is full, or a write failed.
    """

    def __init__(
        self, path: Path | None, command: str, meta: dict[str, Any] | None = None, *, resume: bool = False
    ) -> None:
        self.id = new_run_id(command)
        self.path = path if path is not None else runs_directory() / self.id
        self._kept = ExitStack()
        self._folder = self._claim(resume)
        self._meta = {
            "id": self.id, "command": command, "version": __version__, "state": "running",
            "started": utc_now(), "ended": None, **(meta or {}),
        }  # fmt: skip
        self._outdated = False
        self.earlier: Run | None = None
        self.seen: dict[str, Any] = {}
        """What baseline.json holds."""
        if resume:
            self._take_over()
        self.write_json("run.json", self._meta)
        self._records, self._replicates = self._appending("records.jsonl"), self._appending("replicates.jsonl")
        if resume:
            _mend(self._replicates)

    def _take_over(self) -> None:
        """Go on with what is there: as it was, but for a torn last line and the records, which follow from the rest."""
        self.earlier = read_run(self.path)
        self.id = self.earlier.id
        self.seen = self.earlier.baseline
        again = [*self.earlier.meta.get("resumed", []), utc_now()]
        self._meta = {**self.earlier.meta, "state": "running", "ended": None, "resumed": again}
        self._outdated = True

    def _claim(self, resume: bool) -> int:
        """Make the directory and hold its lock, so that two commands never write into one run. Returns its descriptor.

        Whatever is written goes by that: others may own the folder, or one above it.
        """
        try:
            below = self._kept.enter_context(folder(self.path, make=True))
            lock = self._kept.enter_context(appending(Path(".lock"), below))
        except OSError as error:
            raise UsageError(
                f"can't write a run into {self.path}: {error.strerror}", "choose another directory with --out"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._kept.close()
            raise UsageError(
                f"another wulf is writing into {self.path}", "wait for it, or choose another --out"
            ) from error
        if (self.path / "run.json").exists() and not resume:
            self._kept.close()
            raise UsageError(
                f"{self.path} already holds a run; runs are never overwritten",
                f"choose another directory with --out; `wulf resume {self.path}` goes on with that one",
            )
        return below

    def _appending(self, name: str) -> FileIO:
        with self._written(name):
            return self._kept.enter_context(appending(Path(name), self._folder))

    def write_text(self, name: str, text: str) -> Path:
        """Replace one of the run's files atomically and durably; `name` may have folders. Returns its path."""
        with self._written(name):
            replace_file(Path(name), text, below=self._folder)
        return self.path / name

    def make_folder(self, name: str) -> Path:
        """A folder of the run's, made unless it is there. Returns its path."""
        with self._written(name), folder(Path(name), self._folder):
            return self.path / name

    @contextmanager
    def _written(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"can't write {self.path / name}: {error.strerror}", "free some space; what was measured before is kept"
            ) from error

    def write_json(self, name: str, content: Any, *, compact: bool = False) -> None:
        """Replace one of the run's JSON files atomically and durably; a large one `compact`, on one line."""
        layout: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 1}
        self.write_text(name, json.dumps(content, ensure_ascii=False, **layout) + "\n")

    def _append(self, out: FileIO, line: bytes) -> None:
        """Append one line. A write that fails half-way leaves at most one torn line, which readers skip."""
        with self._written(str(out.name)):
            if out.write(line) != len(line):
                raise OSError(ENOSPC, os.strerror(ENOSPC))

    def append(self, record: Record) -> None:
        """Append one complete record; the first one of a resumed run takes the place of all that there were."""
        if self._outdated:
            self._records.truncate(0)
            self._outdated = False
        self._append(self._records, record.model_dump_json().encode() + b"\n")

    def append_replicate(self, replicate: Mapping[str, Any]) -> None:
        """Append what a probe answered to one replicate, so that even kill -9 loses nothing measured."""
        self._append(self._replicates, json.dumps(replicate, separators=(",", ":")).encode() + b"\n")

    def write_findings(self, findings: list[Finding]) -> None:
        """Write findings.json."""
        self.write_json("findings.json", [finding.model_dump(mode="json") for finding in findings])

    def finish(self, state: str, **more: Any) -> None:
        """Mark the run `complete`, `interrupted` or `failed`, with more fields for run.json."""
        self.note(state=state, ended=utc_now(), **more)

    def note(self, **more: Any) -> None:
        """Write more fields into run.json."""
        self._meta |= more
        self.write_json("run.json", self._meta)

    def close(self) -> None:
        """Release the files and the lock."""
        self._kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and self._meta["state"] == "running":
                with suppress(StoreError):  # on a full disk; the error that ends the block says so
                    self.finish("interrupted" if issubclass(kind, KeyboardInterrupt) else "failed")
        finally:
            self.close()


def _mend(lines: FileIO) -> None:
    """Take off a last line that was cut short, so that the next one begins at a line's beginning."""
    size = lines.seek(0, os.SEEK_END)
    last = max(0, size - LONGEST)  # longer than that is no line
    lines.seek(last)
    lines.truncate(last + lines.read().rfind(b"\n") + 1)


T = TypeVar("T")


def _read_lines(path: Path, take: Callable[[bytes], T]) -> tuple[list[T], int]:
    """The lines of a JSON Lines file that `take` takes, and the number of those it refuses; none where it is not."""
    good: list[T] = []
    torn = 0
    with lines_of(path) as lines:
        for line in lines:
            try:
                good.append(take(line))
            except ValueError:
                torn += 1
    return good, torn


def read_meta(path: Path) -> dict[str, Any]:
    """A run's run.json; a run that says it is running but that nobody writes any more is shown as `cut short`.

    StoreError where it can't be read, or is none.
    """
    meta = read_meta_file(path)
    if meta.get("state") == "running" and not Run(path, meta).being_written:
        meta["state"] = "cut short"
    return meta


def read_run(path: Path) -> Run:
    """Read a run back.

    Raises
    ------
    UsageError
        `path` is not a run.
    StoreError
        One of its files can't be read, or is not what it should be.
    """
    if not (path / "run.json").is_file():
        raise UsageError(f"{path} is not a run: it has no run.json", "`wulf runs` lists the runs")
    records, torn_records = _read_lines(path / "records.jsonl", record_of)
    replicates, torn_replicates = _read_lines(path / "replicates.jsonl", replicate_of)
    return Run(
        path=path,
        meta=read_meta_file(path),
        plan=read_shaped(path / "plan.json", PlanFile),
        fingerprint=read_shaped(path / "fingerprint.json", Fingerprint),
        records=records,
        findings=read_findings(path / "findings.json"),
        replicates=replicates,
        baseline=read_shaped(path / "baseline.json", Baseline),
        settings=read_shaped(path / "settings.json", Settings) if (path / "settings.json").exists() else {},
        torn=torn_records + torn_replicates,
    )


def read_findings(path: Path) -> list[Finding]:
    """What findings.json holds; nothing where there is none. Raises StoreError where it is none of wulf's."""
    try:
        return [Finding.model_validate(one) for one in read_json(path, [])]
    except ValidationError as error:
        raise StoreError(f"{path}: a finding's {first_fault(error)}", "it is no findings.json of wulf's") from error
