"""A run's files, taken in at one edge: a run may have been cut short, or come from anybody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, NotRequired, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from typing_extensions import TypedDict

from wulf.core import given
from wulf.core.errors import USAGE, WulfError
from wulf.core.foreign import is_plain, parse
from wulf.core.records import Counters, During, Record, Sides, held_to

LARGEST = 1 << 30
"""Bytes of a JSON file: ten times what plan.json of 10,000 nodes takes."""

LONGEST = 16 << 20
"""Bytes of a line: of a record of 10,000 nodes' samples twenty times as much as it takes."""

HOLDS = "runs hold files of wulf's and nothing else"


class StoreError(WulfError):
    """A run can't be written or read: disk full, no permission, torn. What was written before is kept."""

    exit_code = USAGE


Name = Annotated[str, StringConstraints(pattern=r"^[^\s/\\]{1,255}$")]
"""Becomes part of file names and of scripts."""


class Meta(BaseModel):
    """What others rely on in run.json; it may hold more."""

    model_config = ConfigDict(extra="allow")

    id: Name
    command: str = ""
    version: str = ""
    state: str = "unknown"
    started: str = ""
    ended: str | None = None
    nodes: list[Name] = []
    exit_code: int | None = None
    headline: str = ""
    seed: int | None = None
    margin: float | None = None
    argv: list[str] = []
    cwd: str = ""
    resumed: list[str] = []


Fingerprint = dict[str, dict[str, dict[str, Any]]]
"""Of fingerprint.json: node → fact → {"value", …}."""


class SettingState(TypedDict):
    """What a setting is at a place: its value, or why it has none."""

    value: Any
    reason: NotRequired[str]
    startup_reason: NotRequired[str]
    absent: NotRequired[bool]


class Settings(TypedDict):
    """Of settings.json, which an audit alone has."""

    aim: Literal["latency", "throughput", "quiet"]
    counted: NotRequired[bool]
    roles: dict[str, str]
    interfaces: dict[str, list[str]]
    addresses: dict[str, list[str]]
    readings: dict[str, dict[str, dict[str, SettingState]]]


class CellQuantity(TypedDict):
    """What a cell measures."""

    name: str
    unit: str
    better: NotRequired[str]


class PlanCell(TypedDict):
    """What others rely on of a cell of plan.json; it may hold more."""

    id: int
    client: str
    server: str
    transport: str
    pattern: str
    params: dict[str, Any]
    metrics: Annotated[list[CellQuantity], Field(min_length=1)]
    phase: NotRequired[str]
    about: NotRequired[dict[str, Any]]


class PlanFile(TypedDict, total=False):
    """What others rely on of plan.json, which a campaign's cells are not in."""

    cells: list[PlanCell]
    seed: int | None
    looks: list[int]
    hosts: dict[str, str]


class Idle(TypedDict):
    """What a node counted while nothing was measured, of baseline.json."""

    seconds: float
    counters: Counters
    frequency: NotRequired[dict[str, Any] | None]


Baseline = dict[str, dict[str, Idle]]
"""Of baseline.json: when → node → what it counted."""


class ReplicateFigure(TypedDict):
    """A replicate's figure; it may hold more."""

    value: float | None
    reason: NotRequired[str | None]
    unit: NotRequired[str]
    quantiles: NotRequired[dict[str, float | None] | None]


class Start(TypedDict):
    """Of a replicate that began together with others."""

    together: int
    overlap: float
    late: float
    bound: float


class Wrong(TypedDict):
    """Why a replicate has no answer."""

    code: str
    message: str


class Line(TypedDict):
    """A line of replicates.jsonl, whatever came of the replicate."""

    cell: Annotated[int, Field(ge=0)]
    block: Annotated[int, Field(ge=0)]
    at: str
    ok: bool


class Failed(Line):
    """A replicate that has no answer."""

    error: Wrong


class ProbeAnswer(Line):
    """What the probe answered."""

    metrics: dict[str, ReplicateFigure]
    seconds: float | None
    counters: Sides | None
    during: dict[str, During | None] | None
    info: dict[str, Any] | None
    start: NotRequired[Start]


def replicate_of(line: bytes) -> dict[str, Any]:
    """A line of replicates.jsonl. ValueError where it is torn, or none of wulf's."""
    found = parse(line)
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    held_to(ProbeAnswer if found.get("ok") else Failed).validate_python(found, strict=True)
    return found


def record_of(line: bytes) -> Record:
    """A line of records.jsonl. ValueError where it is torn, or none of wulf's."""
    return Record.model_validate_json(line) if is_plain(line) else Record.model_validate(parse(line))


@contextmanager
def lines_of(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a file of a run, however many; none where there is no file.

    Raises
    ------
    StoreError
        It can't be opened, or is no regular file; a line is longer than `LONGEST`.
    """
    with ExitStack() as stack:
        try:
            file: BinaryIO | None = stack.enter_context(given.opened(path))
        except given.Unreadable as error:
            if not error.absent:
                raise StoreError(f"{path} can't be read: {error}", HOLDS) from error
            file = None
        yield iter(()) if file is None else _bounded(path, iter(partial(file.readline, LONGEST), b""))


def _bounded(path: Path, lines: Iterator[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        if len(line) == LONGEST:
            raise StoreError(f"{path}, line {number} has more than {LONGEST:,} bytes", HOLDS)
        yield line


def contents(path: Path) -> bytes | None:
    """A file's bytes; None where there is none.

    Raises
    ------
    StoreError
        It can't be read, is no regular file, or is larger than `LARGEST`.
    """
    try:
        return given.contents(path, LARGEST, regular=True)
    except given.Unreadable as error:
        if error.absent:
            return None
        raise StoreError(f"{path} can't be read: {error}", HOLDS) from error


T = TypeVar("T", dict[str, Any], list[Any])


def read_json(path: Path, absent: T) -> T:
    """A JSON file's object or list, as `absent` is, which stands for a file that is not there.

    Raises
    ------
    StoreError
        It can't be read, is no JSON, or another kind of value.
    """
    text = contents(path)
    if text is None:
        return absent
    try:
        found = parse(text)
    except ValueError as error:
        raise StoreError(f"{path}: not JSON: {error}") from error
    if not isinstance(found, type(absent)):
        raise StoreError(f"{path} holds {type(found).__name__} where {type(absent).__name__} should be")
    return found


def read_shaped(path: Path, shape: Any) -> dict[str, Any]:
    """A JSON file's object, which has that shape; empty where there is no file.

    Raises
    ------
    StoreError
        As `read_json`, or it has another shape: names file and field.
    """
    found = read_json(path, {})
    try:
        held_to(shape).validate_python(found, strict=True)
    except ValidationError as error:
        raise StoreError(f"{path}: {given.first_fault(error)}", f"it is no {path.name} of wulf's") from error
    return found


def read_meta_file(path: Path) -> dict[str, Any]:
    """What run.json of a run says.

    Raises
    ------
    StoreError
        It can't be read, or lacks what every run has: names file and field.
    """
    found = read_shaped(path / "run.json", Meta)
    return {**found, "state": found.get("state", Meta.model_fields["state"].default)}
