"""trace.json: what belongs to a trace, and what is missing; written when the program has ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired, Required

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from wulf import __version__
from wulf.core.files import replace_file
from wulf.core.given import Unreadable, first_fault, json_of
from wulf.trace.errors import TraceError
from wulf.trace.record import MOST_RANKS

NAME = "trace.json"
VERSION = 1


class ManifestFault(TypedDict):
    """What is wrong with a trace; with a rank where it is one's."""

    kind: str
    text: str
    rank: NotRequired[int]


class Manifest(TypedDict, total=False):
    """What trace.json may say: see `manifest_of`."""

    version: Required[int]
    wulf: str
    kind: str
    command: list[str]
    mpi: str
    ranks: Annotated[int, Field(ge=0, le=MOST_RANKS)]
    hosts: dict[Annotated[str, Field(pattern=r"^\d{1,7}$")], str]
    wall_seconds: float | None
    missing: list[int]
    faults: list[ManifestFault]
    source: str


RANKS, GOAL = "ranks", "goal"
"""What a trace holds: a file a rank, or one schedule."""

SCHEDULE = "program.goal"

_REMOVE = "remove it: the ranks' files are enough to read the trace"


def manifest_of(
    *, command: Sequence[str], ranks: int, mpi: str = "", hosts: Mapping[int, str] = {}, wall: float | None = None,
    missing: Sequence[int] = (), faults: Sequence[Mapping[str, Any]] = (), kind: str = RANKS, source: str = "",
) -> dict[str, Any]:  # fmt: skip # an argument for each field
    """A manifest as JSON holds it.

    Parameters
    ----------
    hosts
        Rank → the host that it ran on.
    wall
        Seconds that the command took, its launcher's included; None: not known.
    missing
        Ranks that left no file.
    faults
        Each with "kind", "text", and "rank" where it is one's.
    source
        The format that it was imported from; empty: traced by wulf.
    """
    return {
        "version": VERSION, "wulf": __version__, "kind": kind, "command": list(command), "mpi": mpi, "ranks": ranks,
        "hosts": {str(rank): host for rank, host in sorted(hosts.items())}, "wall_seconds": wall,
        "missing": list(missing), "faults": [dict(fault) for fault in faults], "source": source,
    }  # fmt: skip


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write it atomically. Raises TraceError where the disk is full, or there is no permission."""
    try:
        replace_file(folder / NAME, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise TraceError(f"can't write {folder / NAME}: {error.strerror}", "free some space") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a trace's manifest says; empty where it has none, as one that was cut short has not.

    Raises
    ------
    TraceError
        It is torn, of another version, or says what no manifest does.
    """
    try:
        found = json_of(folder / NAME)
        if not isinstance(found, dict):
            raise Unreadable("it is no JSON object")
    except Unreadable as error:
        if error.absent:
            return {}
        raise TraceError(f"{folder / NAME} is torn: {error}", _REMOVE) from error
    if found.get("version") != VERSION:
        raise TraceError(
            f"{folder / NAME} has version {found.get('version')}; this wulf reads version {VERSION}",
            "read it with the wulf that wrote it",
        )
    try:
        TypeAdapter(Manifest).validate_python(found, strict=True)
    except ValidationError as error:
        raise TraceError(f"{folder / NAME}: {first_fault(error)}", _REMOVE) from error
    return found
