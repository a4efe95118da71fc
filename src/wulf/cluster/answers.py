"""What the programs on nodes answer: every answer is held against its shape before anybody reads it.

A node whose answer breaks the contract has failed at that request, by name, with the field and what it said; nobody
behind this edge asks again whether a field is there. What nobody reads stands nowhere here, and a field more is no
fault, but where all fields are handed on by name. wulf-replay and wulf-link run on this machine: theirs are our own.
It is one long file, since it is one table: whoever asks what a node may say finds it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from ipaddress import ip_interface
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from wulf.agent.facts import find
from wulf.agent.net.traffic import MOST_GROUPS
from wulf.core.records import Counters, During, Sides

EXCERPT = 60
"""Letters of a value at fault that are told."""

Figure = float | None
"""NaN and infinity never get here: JSON has none (`core.foreign`)."""


def _excerpt(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= EXCERPT else f"{said[:EXCERPT]}…"


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=200)]
"""What this machine names a file or folder by: no way leads out of the folder that it is for."""

Count = Annotated[int, Field(ge=0)]

LARGEST = 64
"""Class of sizes: lengths of messages are numbers of 64 bits."""


def _of_a_size(messages: list[int]) -> list[int]:
    if messages[0] > LARGEST:
        raise ValueError(f"there are no messages of 2^{messages[0]} bytes")
    return messages


Messages = Annotated[list[Count], Field(min_length=3, max_length=3), AfterValidator(_of_a_size)]
"""Class of sizes, how many messages, how many bytes in all."""


class Nothing(TypedDict):
    """That it was done."""


class Reading(TypedDict):
    """A fact or a setting."""

    value: Any
    reason: NotRequired[str | None]
    startup_reason: NotRequired[str | None]
    absent: NotRequired[bool]


class Metric(TypedDict):
    value: Figure
    unit: NotRequired[str]
    reason: NotRequired[str | None]
    n: NotRequired[Figure]
    mean: NotRequired[Figure]
    deviation: NotRequired[Figure]
    min: NotRequired[Figure]
    max: NotRequired[Figure]
    quantiles: NotRequired[dict[str, Figure] | None]
    peaks: NotRequired[list[dict[str, Figure]] | None]


class Begun(TypedDict, total=False):
    """What the runner reads of a replicate's info: when it began, by the node's clock, and how late [s]."""

    started_at: Figure
    late_seconds: Figure


class Replicate(TypedDict):
    metrics: dict[str, Metric]
    seconds: Figure
    counters: Sides
    info: NotRequired[Begun]
    during: NotRequired[dict[str, During | None] | None]


NoiseCulprit = TypedDict("NoiseCulprit", {"class": str, "name": str, "pid": NotRequired[int]})


class NoiseProcess(TypedDict):
    process: int
    seen: bool
    left_out: Count
    stolen: list[Annotated[list[Count], Field(min_length=3, max_length=3)]]


class NoiseStarted(TypedDict):
    cpus: list[Count]


class NoiseTold(TypedDict):
    start: Count
    full: bool
    records: Count
    lost_records: Count
    culprits: list[NoiseCulprit]
    processes: list[NoiseProcess]


def _of_known(told: NoiseTold) -> NoiseTold:
    known = len(told["culprits"])
    if any(piece[2] >= known for process in told["processes"] for piece in process["stolen"]):
        raise ValueError(f"a piece is of none of the {known} culprits")
    return told


class Parameter(TypedDict):
    name: str
    type: Literal["bool", "int", "float", "str"]
    unit: NotRequired[str]
    help: NotRequired[str]
    default: NotRequired[bool | int | float | str | None]
    min: NotRequired[Figure]
    max: NotRequired[Figure]
    choices: NotRequired[list[str]]


class MetricInfo(TypedDict):
    name: str
    unit: str
    better: NotRequired[str]


class Probe(TypedDict):
    name: str
    params: list[Parameter]
    metrics: list[MetricInfo]
    help: NotRequired[str]
    group: NotRequired[str]
    transports: NotRequired[list[str]]
    least_ranks: NotRequired[Count]


class Transport(TypedDict):
    name: str
    max_bytes: Count
    local: NotRequired[bool]


class Description(TypedDict):
    program: str
    version: NotRequired[str]
    probes: NotRequired[list[Probe]]
    patterns: NotRequired[list[Probe]]
    transports: NotRequired[list[Transport]]


class Described(TypedDict):
    describe: Description


class Counted(TypedDict):
    at: float
    counters: Counters


class Clock(TypedDict):
    monotonic: float
    resolution: NotRequired[Figure]


@lru_cache(1 << 14)
def _is_quantity(fact: str) -> bool:
    known = find(fact)
    return known is not None and known.unit is not None


def _quantities(facts: dict[str, Reading]) -> dict[str, Reading]:
    """Facts as they are; ValueError where one that has a unit is no figure."""
    for name, reading in facts.items():
        value = reading["value"]
        if _is_quantity(name) and (isinstance(value, bool) or not isinstance(value, int | float | None)):
            raise ValueError(f"{name} is no figure: {_excerpt(value)}")
    return facts


class Facts(TypedDict):
    facts: Annotated[dict[str, Reading], AfterValidator(_quantities)]


class Settings(TypedDict):
    settings: dict[str, dict[str, Reading]]


class Address(TypedDict):
    interface: str
    address: str
    prefix: Count


def _of_a_network(one: Address) -> Address:
    """As it is; ValueError where no interface can have it. An IPv6 scope (`%eth0`) is none of the address."""
    ip_interface(f"{one['address'].partition('%')[0]}/{one['prefix']}")
    return one


class Addresses(TypedDict):
    addresses: list[Annotated[Address, AfterValidator(_of_a_network)]]


class Occupancy(TypedDict):
    """Whether somebody uses a node."""

    load: Annotated[float, Field(ge=0)]
    cpus: Annotated[int, Field(ge=1)]
    users: list[str]


class Serving(TypedDict):
    address: str
    port: Annotated[int, Field(ge=0, le=65535)]  # 0: nobody listens, as nobody has to for `null`


class Stopped(TypedDict):
    accepted: Count
    wrong_key: Count
    replayed: Count
    malformed: Count
    turned_away: Count


class Rank(TypedDict):
    rank: Count
    host: str
    pid: int


class Ranks(TypedDict):
    ranks: list[Rank]


class Library(TypedDict):
    path: str
    label: str
    choose: dict[str, str]


class Libraries(TypedDict):
    libraries: list[Library]
    also: list[str]


class Compiler(TypedDict):
    name: str
    version: str
    title: str
    cc: str
    cxx: str | None
    fc: str | None
    choose: dict[str, str]
    wrappers: list[str]


class Compilers(TypedDict):
    compilers: list[Compiler]
    usual: dict[str, str]


class Built(TypedDict):
    path: str
    digest: str | None
    kept: bool
    seconds: float


class Digest(TypedDict):
    digest: str | None


class Looked(Digest):
    trouble: str | None


@with_config(ConfigDict(extra="forbid"))
class Mpi(TypedDict):
    kind: str
    version: str
    device: str
    prefix: str
    mpirun: str
    mpicxx: str | None
    compiler: str | None
    where: str


class Mpis(TypedDict):
    mpis: list[Mpi]
    places: list[str]
    boot_id: str
    host: str
    cpus: int
    uid: int


class Build(TypedDict):
    key: FileName
    path: str
    digest: str | None


class Progress(TypedDict):
    done: Count
    of: Count


class Part(TypedDict):
    data: str
    parts: Annotated[int, Field(ge=1, le=1 << 16)]


class States(TypedDict):
    states: dict[str, str | None]


class Unreached(TypedDict):
    status: int
    stderr: list[str]


class Reach(TypedDict):
    failed: dict[str, Unreached]


class Prefix(TypedDict):
    prefix: str


class Calls(TypedDict):
    kind: str
    calls: Count
    bytes: Count
    same: float
    other: float
    open: float


class Sent(TypedDict):
    same: list[Messages]
    other: list[Messages]
    open: list[Messages]


class Profile(TypedDict):
    rank: Count
    ranks: Annotated[int, Field(ge=1, le=1 << 22)]
    host: str
    library: str
    several_threads: bool
    init: float
    seconds: float
    finalize: float
    cost: float
    calls: dict[str, Calls]
    sent: Sent


class Profiles(TypedDict):
    profiles: list[Profile]
    torn: list[str]


class Fits(TypedDict):
    trouble: str | None


class File(TypedDict):
    name: FileName
    bytes: Count


class Files(TypedDict):
    files: list[File]


class Piece(TypedDict):
    data: str


@with_config(ConfigDict(extra="forbid"))
class Place(TypedDict):
    path: str
    where: str
    mpi: str | None
    blas: NotRequired[str | None]


class Programs(TypedDict):
    programs: dict[str, list[Place]]


class Folder(TypedDict):
    folder: str
    place: str
    fresh: bool


class Outputs(TypedDict):
    files: dict[str, str]


class NotStarted(TypedDict):
    error: str


class Ran(TypedDict):
    status: int | None
    signal: str | None
    seconds: Figure
    timed_out: bool
    stdout: str
    stderr: str
    bytes: dict[str, Count]
    files: dict[str, str]
    counters: NotRequired[Counters]
    usage: NotRequired[dict[str, Figure] | None]


def _whole(event: list[Any]) -> list[Any]:
    """What a gateway says of a program, as `agent.jobs.relay` does; ValueError where it is none of it."""
    match event:
        case ["line", int(), str()] | ["line", int(), str(), bool()] | ["stderr", int(), str()]:
            return event
        case ["end", int(), int() | None, int() | None]:
            return event
    raise ValueError(f"{_excerpt(event)} is no event of a program")


class Events(TypedDict):
    events: list[Annotated[list[Any], AfterValidator(_whole)]]


Most = Field(max_length=MOST_GROUPS)
"""Of each column of a poll's groups."""


class TrafficColumns(TypedDict):
    """What a node's connections did since the poll before: a list of each figure, in SI units.

    A place in the lists is what was exchanged with one peer, over one service's port.
    """

    peer: Annotated[list[str], Most]
    port: Annotated[list[Annotated[int, Field(ge=0, le=65535)]], Most]
    serving: Annotated[list[bool], Most]
    program: Annotated[list[str], Most]
    sockets: Annotated[list[Count], Most]
    acked: Annotated[list[Count], Most]
    received: Annotated[list[Count], Most]
    segments: Annotated[list[Count], Most]
    again: Annotated[list[Count], Most]
    dups: Annotated[list[Count], Most]
    delivered: Annotated[list[Count], Most]
    busy: Annotated[list[float], Most]
    rwnd: Annotated[list[float], Most]
    sndbuf: Annotated[list[float], Most]
    window: Annotated[list[Count], Most]
    rtt: Annotated[list[Figure], Most]
    least: Annotated[list[Figure], Most]
    rate: Annotated[list[Figure], Most]


def _alike(groups: TrafficColumns) -> TrafficColumns:
    """ValueError where the lists are not of one length."""
    if len({len(own) for own in groups.values() if isinstance(own, list)}) > 1:
        raise ValueError("the lists of groups differ in length")
    return groups


class Sockets(TypedDict):
    """A poll of a node's sockets; the first one knows of no time before it."""

    seconds: Figure
    sockets: Count
    new: Count
    ended: Count
    left_out: Count
    cpu_seconds: Figure
    host: dict[str, float]
    groups: Annotated[TrafficColumns, AfterValidator(_alike)]


class Greeting(TypedDict):
    """What a program says first, before anything was asked."""

    hello: str
    protocol: int
    arch: str


class Outcome(TypedDict):
    """What became of one setting."""

    name: str
    outcome: str
    place: NotRequired[str]
    reason: NotRequired[str | None]


class Changed(TypedDict):
    change: int
    results: list[Outcome]


class TakenBack(TypedDict):
    results: list[Outcome]


class Entry(TypedDict):
    name: str
    place: str
    campaign: str


class Status(TypedDict):
    folder: str
    open: list[Entry]
    left: list[Entry]
    taken_back: list[Entry]
    foreign: list[dict[str, Any]]
    problems: list[str]
    lock: dict[str, Any] | None
    watchdog: dict[str, Any] | None
    deadlines: dict[str, Any] | None
    journal: dict[str, Any] | None


_EVERY = {"ping": Nothing, "describe": Described}
_NATIVE = {**_EVERY, "counters": Counted, "clock": Clock, "run": Replicate}

SHAPES: Mapping[str, Mapping[str, Any]] = {
    "wulf-net": {**_NATIVE, "serve": Serving, "stop": Stopped},
    "wulf-node": {
        **_NATIVE,
        "noise_start": NoiseStarted,
        "noise_stop": Annotated[NoiseTold, AfterValidator(_of_known)],
    },
    "wulf-mpi": {**_NATIVE, "bind": Nothing, "ranks": Ranks},
    "wulf-agent": {
        **_EVERY,
        "run": Replicate,
        "facts": Facts,
        "settings": Settings,
        "addresses": Addresses,
        "occupancy": Occupancy,
        "blas_find": Libraries,
        "compiler_find": Compilers,
        "tree_build": Built,
        "file_digest": Digest,
        "mpi_find": Mpis,
        "mpi_key": Build,
        "mpi_build": Build,
        "mpi_progress": Progress,
        "mpi_look": Looked,
        "mpi_read": Part,
        "mpi_write": Nothing,
        "mpi_processes": States,
        "mpi_reach": Reach,
        "mpi_install": Prefix,
        "profile_read": Profiles,
        "profile_fits": Fits,
        "trace_look": Files,
        "trace_read": Piece,
        "app_find": Programs,
        "app_folder": Folder,
        "app_file": Nothing,
        "app_run": NotStarted | Ran,
        "app_outputs": Outputs,
        "app_counters": Counted,
        "app_clear": Nothing,
        "sockets": Sockets,
        "relay": Nothing,
        "relayed": Events,
        "change_apply": Changed,
        "change_confirm": Nothing,
        "change_renew": Nothing,
        "change_revert": TakenBack,
        "change_keep": Nothing,
        "change_status": Status,
        "change_end": Nothing,
    },
}
"""Program → operation → what it answers."""


def fault(program: str, op: str, answer: Mapping[str, Any]) -> str | None:
    """What is wrong with an answer: the field, why, and what stands there; None: nothing."""
    shape = _shape(program, op)
    return None if shape is None else _fault(shape, answer)


def _fault(shape: TypeAdapter[Any], answer: Mapping[str, Any]) -> str | None:
    try:
        shape.validate_python(answer, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        lacks = first["type"] in ("missing", "value_error")
        said = "" if lacks else f", not {_excerpt(first['input'])}"
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}{said}"
    return None


def greeting_fault(message: dict[str, Any]) -> str | None:
    """What is wrong with a program's greeting, as `fault` tells it."""
    return _fault(_greeting(), message)


@cache
def _greeting() -> TypeAdapter[Any]:
    return TypeAdapter(Greeting)


@cache
def _shape(program: str, op: str) -> TypeAdapter[Any] | None:
    found = SHAPES.get(program, {}).get(op)
    return None if found is None else TypeAdapter(found)
