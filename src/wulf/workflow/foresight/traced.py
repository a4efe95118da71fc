"""A trace as a prediction needs it: where it is, its ranks' hosts, and how long the program took."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import Traced
from wulf.store.index import find_run
from wulf.trace.errors import TraceError
from wulf.trace.manifest import NAME, SCHEDULE, read_manifest
from wulf.trace.reader import RankFile, Totals
from wulf.trace.record import UNTIMED, Record

RANK_FILES = "rank-*.wtr"
FOLDER = "trace"
"""Where a run of `wulf trace` keeps its trace."""

FINALIZE = "finalize"
NANO = 1e-9


def find_trace(name: str, directory: Path | None = None) -> Path:
    """The directory of a trace: the one named, or a run's.

    Raises
    ------
    UsageError
        No trace is there.
    """
    for place in (Path(name), Path(name) / FOLDER):
        if _is_trace(place):
            return place
    if Path(name).is_dir() and not (Path(name) / "run.json").is_file():
        raise UsageError(f"{name} holds no trace: neither {NAME} nor {RANK_FILES} is there", _HOW)
    run = find_run(name, directory)
    for place in (run, run / FOLDER):
        if _is_trace(place):
            return place
    raise UsageError(f"the run {run} holds no trace", _HOW)


_HOW = "`wulf trace -- mpirun … ./app` makes one"


def _is_trace(place: Path) -> bool:
    return (place / NAME).is_file() or any(place.glob(RANK_FILES))


def read_traced(path: Path) -> Traced:
    """What a trace says of itself.

    Raises
    ------
    TraceError
        Its manifest can't be read.
    """
    manifest = read_manifest(path)
    files = [one for file in sorted(path.glob(RANK_FILES)) if (one := _rank_file(file)) is not None]
    headers = {one.rank: one.header for one in files}
    first = next(iter(headers.values()), {})
    ranks = int(manifest.get("ranks") or first.get("size") or len(files))
    notes = [fault["text"] for fault in manifest.get("faults", ())]
    seconds, cut = _measured(files, ranks)
    return Traced(
        str(path), _command(manifest, first), str(manifest.get("mpi") or first.get("mpi") or ""), ranks,
        _hosts(manifest, headers, ranks), seconds, (*notes, *cut),
    )  # fmt: skip


def middle_of(traces: Sequence[Traced]) -> Traced:
    """Of traces of one program, repeated, the one that took the middle time; it has the times of all.

    Of an even number the faster of the two in the middle. Those of which no time is known stand behind.
    """
    known = sorted((one for one in traces if one.seconds is not None), key=lambda one: one.seconds or 0.0)
    if not known:
        return traces[-1]
    return replace(known[(len(known) - 1) // 2], runs=tuple(one.seconds for one in known if one.seconds is not None))


def source_of(path: Path) -> tuple[Path, Literal["trace", "goal"]]:
    """What the replay is to load of a trace, and as what: an import may hold one schedule, and no ranks' files."""
    if not any(path.glob(RANK_FILES)) and (path / SCHEDULE).is_file():
        return path / SCHEDULE, "goal"
    return path, "trace"


def _rank_file(path: Path) -> RankFile | None:
    """A rank's file; None where it is torn: the replay tells what is wrong, and where."""
    try:
        return RankFile(path)
    except TraceError:
        return None


def _measured(files: Sequence[RankFile], ranks: int) -> tuple[float | None, list[str]]:
    """Seconds from MPI_Init to MPI_Finalize on the rank where that took longest; None where that is not known.

    MPI_Finalize itself is not replayed. The command's own time is longer: it has the launcher in it and what is outside
    of MPI, and no network changes that.
    """
    if any(file.header.get("clock") == UNTIMED for file in files):
        return None, ["the trace was imported, and has no times of calls: how long the program took is not known"]
    endings = [found for file in files if (found := file.ending()) is not None and not found[0].cut]
    if not files or len(endings) < ranks:
        said = f"{ranks - len(endings)} of {ranks} ranks have no end in the trace: what was measured is not known"
        return None, [said] if files else []
    return max(_until_finalize(*ending) for ending in endings) * NANO, []


def _until_finalize(totals: Totals, last: Record | None) -> int:
    """Nanoseconds from MPI_Init to the begin of MPI_Finalize."""
    return totals.end_ns - (last.call_ns if last is not None and last.op == FINALIZE else 0)


def _command(manifest: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    command = manifest.get("command") or header.get("command") or ""
    return command if isinstance(command, str) else shlex.join(str(part) for part in command)


def _hosts(manifest: Mapping[str, Any], headers: Mapping[int, Mapping[str, Any]], ranks: int) -> tuple[str, ...]:
    """Each rank's host; empty where one is not known."""
    known = {int(rank): host for rank, host in manifest.get("hosts", {}).items()}
    known |= {rank: str(one["host"]) for rank, one in headers.items() if rank not in known and one.get("host")}
    return tuple(known[rank] for rank in range(ranks)) if all(rank in known for rank in range(ranks)) else ()
