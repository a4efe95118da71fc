"""Traces that are there: shown, brought in from other tools' formats, written in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from wulf.core.errors import FOUND, OK, UsageError
from wulf.core.files import copy_file
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.report.trace import trace_view
from wulf.store.index import find_run
from wulf.store.run import RunWriter
from wulf.trace.errors import TraceError
from wulf.trace.exports import Lowered, export_named
from wulf.trace.imports import EXPANDED, Imported, import_named
from wulf.trace.imports.goal import read_goal
from wulf.trace.manifest import GOAL, SCHEDULE, manifest_of, read_manifest, write_manifest
from wulf.trace.reader import open_trace
from wulf.trace.summary import Summary
from wulf.workflow.engine.done import Done
from wulf.workflow.foresight.replaying import Replay, ReplayError, replay_session
from wulf.workflow.trace.run import FOLDER, SUMMARY, read_summary, result_of


def trace_at(name: str) -> Path:
    """The folder of the trace that a user names: a run, its identifier, `last`, or a folder of ranks' files.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    given = Path(name)
    for folder in (given, given / FOLDER):
        if any(folder.glob("rank-*.wtr")) or (folder / SCHEDULE).is_file():
            return folder
    folder = find_run(name) / FOLDER
    if not folder.is_dir():
        raise UsageError(f"{find_run(name)} holds no trace", "`wulf trace -- mpirun …` makes one")
    return folder


def show_trace(name: str, *, watch: Watcher = UNWATCHED) -> tuple[dict[str, Any], int]:
    """What a trace holds, read anew, and the exit code: 1 where something is wrong with it."""
    folder = trace_at(name)
    manifest = read_manifest(folder)
    if manifest.get("kind") == GOAL:
        return _of_goal(folder, manifest), OK
    told = manifest.get("faults", [])
    if manifest and not any(folder.glob("rank-*.wtr")):
        empty = result_of(Summary(int(manifest["ranks"]), [], []), manifest, folder.parent.name, folder)
        return empty | {"faults": told}, FOUND
    found = read_summary(folder, watch)
    told = [fault for fault in told if fault["kind"] == "program"]
    result = result_of(found, manifest | {"kind": "ranks"}, folder.parent.name, folder)
    result["faults"] = [*told, *result["faults"]]
    result["mpi"] = result["mpi"] or next((rank.mpi for rank in found.ranks), "")
    return result, FOUND if result["faults"] else OK


def _of_goal(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    schedule = read_goal(folder / SCHEDULE)
    counts = {kind: sum(one[kind] for one in schedule.counts.values()) for kind in ("calc", "send", "recv")}
    goal = {**counts, "bytes": sum(schedule.bytes.values()),
            "calculated_seconds": max(schedule.calculated.values(), default=0) * 1e-9}  # fmt: skip
    empty = result_of(Summary(schedule.ranks, [], []), manifest, folder.parent.name, folder)
    return empty | {"kind": GOAL, "goal": goal}


def export_trace(name: str, to: str, place: Path) -> list[str]:
    """Write a trace in another format; notes for the user.

    Raises
    ------
    TraceError
        The trace is not whole, and the format needs it whole; the disk is full.
    UsageError
        There is no such trace, or the place is taken.
    """
    folder = trace_at(name)
    module = export_named(to)
    if read_manifest(folder).get("kind") == GOAL:
        return _export_goal(folder, to, place)
    if place.is_dir() and not module.FOLDER:
        raise UsageError(f"{place} is a folder; {to} is one file", f"name the file: {place}/trace.{to}")
    if not place.parent.is_dir():
        raise UsageError(f"there is no folder {place.parent}", "make it first")
    return module.write(open_trace(folder), place, partial(_lowered, folder))


@contextmanager
def _lowered(folder: Path, collectives: Mapping[str, str | float]) -> Iterator[Lowered]:
    """The trace as messages, in a session of wulf-replay. TraceError where that is not to be had."""
    with replay_session() as session:
        replay = Replay(session)
        try:
            program = replay.load(folder, "trace", collectives, 1.0, None)
        except ReplayError as error:
            raise TraceError(f"the trace can't be written as messages: {error.reason}", _WHOLE) from error

        def write(target: str, place: Path) -> None:
            try:
                replay.write(program, target, place)
            except ReplayError as error:
                raise TraceError(f"the export stopped: {error.reason}", error.next_step) from error

        yield Lowered(program, write)


_WHOLE = "`wulf trace show` says what is wrong with it; Perfetto's format takes what there is"


def _export_goal(folder: Path, to: str, place: Path) -> list[str]:
    if to != GOAL:
        raise UsageError(f"a GOAL schedule has no times: it can't be written as {to}", "export the trace it came from")
    copy_file(folder / SCHEDULE, place)
    return []


def import_trace(
    paths: Sequence[Path],
    source: str,
    writer: RunWriter,
    *,
    options: Mapping[str, float] | None = None,
    watch: Watcher = UNWATCHED,
) -> Done:
    """Bring files of another tool's format in, as a run; options are those that the format's `bring` takes.

    Raises
    ------
    FormatError
        A file is not as its format wants it.
    """
    folder = writer.make_folder(FOLDER)
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} is not there", "name the files of the trace")
        for each in path.iterdir() if path.is_dir() else [path]:
            if not (each.is_file() or each.is_dir()):
                raise UsageError(f"{each} is no file", "a trace is read more than once: write it into a file first")
    watch.say(f"reading {len(paths)} files as {source}")
    with _expanding(source) as expand:
        brought = import_named(source).bring(paths, folder, **(options or {}), **expand)
    manifest = manifest_of(command=[], ranks=brought.ranks, kind=brought.kind, source=source)
    write_manifest(folder, manifest)
    result, code = _shown(folder, brought, watch)
    writer.write_json(SUMMARY, result | {"exit_code": code})
    writer.write_findings([])
    writer.finish("complete", exit_code=code, headline=trace_view(result).headline)
    return Done(result | {"run": writer.id, "exit_code": code}, writer.path, code)


@contextmanager
def _expanding(source: str) -> Iterator[dict[str, Any]]:
    """What makes messages of collectives, for formats that need it."""
    if source not in EXPANDED:
        yield {}
        return
    with replay_session() as session:
        # ranks are written one after the other, and each has few kinds of collectives
        yield {"expand": lru_cache(maxsize=64)(Replay(session).expand)}


def _shown(folder: Path, brought: Imported, watch: Watcher) -> tuple[dict[str, Any], int]:
    try:
        result, code = show_trace(str(folder), watch=watch)
    except TraceError as error:
        raise TraceError(f"what was brought in can't be read: {error.what}", error.next_step) from error
    return result | {"notes": list(brought.notes)}, code
