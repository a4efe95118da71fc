"""The record: one measured quantity with unit, interval, verdict and provenance; and the shapes of what stands beside.

Fields may be added, never renamed: runs written by older versions stay readable.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial
from math import isfinite
from operator import is_, not_
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from typing_extensions import TypedDict

from wulf.core.errors import UsageError
from wulf.core.given import first_fault
from wulf.core.names import shortened


class Verdict(StrEnum):
    """How far a record can be trusted."""

    OK = "ok"
    NOISY = "noisy"
    """The interval is wider than requested."""
    UNRESOLVED = "unresolved"
    """No answer: too few samples, or the probe could not tell."""
    FAILED = "failed"


class Provenance(StrEnum):
    """Where a value came from."""

    MEASURED = "measured"
    REPORTED = "reported"
    """By the operating system or firmware."""
    GIVEN = "given"
    """By the user."""
    PREDICTED = "predicted"


CHANGED = "the run was changed by hand, or a newer wulf wrote it"
"""Next to what no record or replicate of this wulf says."""

FOREIGN = "the node's programs are not this wulf's: see what `wulf doctor` says of it"
"""Next to what no program of this wulf answers."""

Shape = TypeVar("Shape")
Param = str | int | float | bool | None

optional = partial(Field, exclude_if=partial(is_, None))
"""A field that JSON holds where it has a value."""

filled = partial(Field, exclude_if=not_)
"""A text, list or table that JSON holds where it has any content."""


MISSING = "missing"
"""Among counters: the files that could not be read."""

TABLES = frozenset({"cpu", "interrupts", "netstat", "nic", "snmp", "softirqs", "softnet"})
"""Counters of several things each, by name: of CPUs, interfaces, protocols."""

ENDS = ("client", "server")


def _figures(counters: dict[str, Any]) -> dict[str, Any]:
    """Counters as they are; ValueError where something among them is no figure."""
    for name, value in counters.items():
        if isinstance(value, dict):
            _figures(value)
        elif name == MISSING and isinstance(value, list) and all(isinstance(one, str) for one in value):
            continue
        elif isinstance(value, bool) or not isinstance(value, int | float | None):
            raise ValueError(f"{name} is no figure: {shortened(repr(value), 60)}")
    return counters


def _tables(counters: dict[str, Any]) -> dict[str, Any]:
    """Counters of a host as they are; ValueError where those of several things are not told thing by thing."""
    for name in TABLES & counters.keys():
        table = counters[name]
        if not isinstance(table, dict) or not all(isinstance(one, dict) for one in table.values()):
            raise ValueError(f"{name} is no table of figures: {shortened(repr(table), 60)}")
    return counters


def _of_ends(counters: dict[str, Any]) -> dict[str, Any]:
    """Counters by where they were read, as they are; ValueError where those of an end are no host's."""
    for name, value in counters.items():
        if isinstance(value, dict):
            _tables(value)
        elif name in ENDS:
            raise ValueError(f"{name} has no counters: {shortened(repr(value), 60)}")
    return counters


Counters = Annotated[dict[str, Any], AfterValidator(_figures), AfterValidator(_tables)]
"""A host's: figures by name, at any depth."""

Sides = Annotated[dict[str, Any], AfterValidator(_figures), AfterValidator(_of_ends)]
"""Counters by where they were read: "client", "server", or a node."""


@cache
def held_to(shape: Any) -> TypeAdapter[Any]:
    """What checks for a shape. Made when it is asked for: it takes milliseconds, and most commands read no run."""
    return TypeAdapter(shape)


class Limit(TypedDict):
    """A rule that a figure fits: what limits it, and what to do next."""

    rule: str
    subject: str
    text: str
    next_step: str
    severity: Literal["bad", "warn", "info"]
    evidence: list[dict[str, Any]]


def _limits(held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As they are; ValueError where one is none of ours. The published schema leaves open what is in them."""
    held_to(list[Limit]).validate_python(held)
    return held


Limits = Annotated[list[dict[str, Any]], AfterValidator(_limits)]


class Tcp(TypedDict):
    """What the kernel said of the connections meanwhile: how much each count grew, and each gauge's median and ends."""

    counts: dict[str, float | None]
    gauges: dict[str, dict[str, float | None]]


class During(TypedDict, total=False):
    """What was seen at an end while a replicate was measured; there is more."""

    tcp: Tcp | None


class Record(BaseModel):
    """One measured quantity. Units are SI base units; what could not be measured is null with a reason, never 0."""

    model_config = ConfigDict(extra="allow", title="wulf record")

    run: str = Field(description="Identifier of the run that the record belongs to.")
    subject: str = Field(description="A node ('n1') or an ordered pair ('n1>n2': n1 is the client, or the sender).")
    probe: str = Field(description="The program that measured: 'net', 'node', 'mpi', 'app'.")
    metric: str = Field(description="What was measured, as the probe's --describe names it: 'rtt', 'throughput'.")
    unit: str = Field(description="SI base unit: 's', 'B', 'B/s', 'Hz', '1' for a ratio or count.")
    params: dict[str, Param] = Field(default_factory=dict, description="The cell's parameters.")
    value: float | None = Field(default=None, description="The estimate; null when there is none (see reason).")
    low: float | None = Field(default=None, description="Lower bound of the interval.")
    high: float | None = Field(default=None, description="Upper bound of the interval.")
    confidence: float | None = Field(default=None, description="Coverage of the interval, at least: 0.95.")
    statistic: str | None = Field(default=None, description="What value estimates: 'median' of the replicates.")
    replicates: int = Field(default=0, ge=0, description="Independent executions behind the value.")
    quantiles: dict[str, float] = Field(
        default_factory=dict,
        description="Quantiles of the single samples inside the replicates (median over replicates).",
    )
    verdict: Verdict
    reason: str | None = Field(default=None, description="Why the verdict is not ok, or the value null.")
    provenance: Provenance = Provenance.MEASURED
    counters: Sides = Field(default_factory=dict, description="Counter deltas of both ends, summed.")
    samples: list[float] = Field(default_factory=list, description="One value a replicate, in the order measured.")
    at: str = Field(description="When the record was complete: ISO 8601, UTC.")
    better: str | None = optional(default=None, description="'higher' or 'lower', where the metric does not say so.")
    supported: bool = Field(
        default=True,
        exclude_if=bool,
        description="Whether a figure was to be had: what the host has nothing of is no gap in a run.",
    )

    phase: str = filled(default="", description="The part of the command: 'pairs', 'sweep', 'row'.")
    row: str = filled(default="", description="The row of the node survey's table.")
    curve: str = filled(default="", description="The curve of that table that this is a point of.")
    matrix: str = filled(default="", description="The matrix of that table that this is an entry of.")

    stopped: str | None = optional(default=None, description="Why measuring ended; of a cell's primary metric alone.")
    failed_replicates: int | None = optional(default=None, description="Executions that gave no value.")
    blocks: list[int] = filled(default_factory=list, description="The pass of each sample, where it is not 0, 1, 2, ….")
    flags: dict[str, str] = filled(default_factory=dict, description="What is odd about the samples: drift, steal, ….")
    info: dict[str, Any] = filled(default_factory=dict, description="What the probe said of its last replicate.")
    bottleneck: Limits = filled(default_factory=list, description="What limits it, the strongest first.")

    together: int | None = optional(default=None, description="Cells that began at one moment.")
    overlap: float | None = optional(default=None, description="Least share of the time that all of them measured.")
    late: float | None = optional(default=None, description="How late the latest of them began [s].")
    start_bound: float | None = optional(default=None, description="To which their clocks' offsets are known [s].")

    seen: bool | None = optional(default=None, description="Of a difference: whether its interval lies clear of 0.")
    least_visible: float | None = optional(default=None, description="The least one that would have been seen.")

    reported: float | None = optional(default=None, description="Of a cache's edge: the size that the system reports.")
    reported_reason: str | None = optional(default=None, description="Why it reports none.")
    agrees: bool | None = optional(default=None, description="Whether the two agree.")
    half_rise: dict[str, float | None] | None = optional(default=None, description="Where latency is halfway up.")
    before: float | None = optional(default=None, description="Latency on the plateau before the edge [s].")
    after: float | None = optional(default=None, description="Latency on the plateau behind it [s].")
    support: float | None = optional(default=None, description="Share of the replicates that have the edge.")
    sigma_peak: dict[str, float | None] | None = optional(default=None, description="Where the scatter peaks.")

    @model_validator(mode="after")
    def _null_needs_a_reason(self) -> Record:
        if self.value is None and not self.reason:
            raise ValueError(f"record {self.subject} {self.metric}: a null value needs a reason")
        if self.verdict in (Verdict.UNRESOLVED, Verdict.FAILED) and not self.reason:
            raise ValueError(f"record {self.subject} {self.metric}: verdict {self.verdict} needs a reason")
        return self

    @model_validator(mode="after")
    def _every_sample_has_a_pass(self) -> Record:
        if self.blocks and len(self.blocks) != len(self.samples):
            passes = f"passes for {len(self.blocks)} of {len(self.samples)} samples"
            raise ValueError(f"record {self.subject} {self.metric}: {passes}")
        return self

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node, or the client and the server of the pair."""
        return tuple(self.subject.split(">"))

    @property
    def pair(self) -> tuple[str, str]:
        """Client and server. Raises UsageError where the subject is no pair."""
        client, told, server = self.subject.partition(">")
        if not told or ">" in server:
            raise UsageError(f"{self._named} is of no pair", CHANGED)
        return client, server

    def number(self, name: str, default: float | None = None) -> float:
        """A parameter that is a number; `default` where it is null, or not there.

        Raises
        ------
        UsageError
            It is something else, or there is neither.
        """
        value = self.params.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
            raise self._without(name, "number")
        return value

    def text(self, name: str) -> str:
        """A parameter as text. Raises UsageError where there is none."""
        if self.params.get(name) is None:
            raise self._without(name, "value")
        return str(self.params[name])

    def said(self, shape: type[Shape]) -> Shape:
        """`info` as a TypedDict has it. Raises UsageError where it is not so."""
        return info_as(shape, self.info, self._named)

    @property
    def _named(self) -> str:
        return f"a record of {self.subject} {self.metric} ({self.phase})"

    def _without(self, name: str, what: str) -> UsageError:
        return UsageError(f"{self._named} has no {what} of {name}: {self.params.get(name)!r:.40}", CHANGED)


def info_as(shape: type[Shape], info: Mapping[str, Any] | None, whose: str, next_step: str = CHANGED) -> Shape:
    """What a program says besides its figures, `info`, as who reads it knows it; there may be more in it.

    Parameters
    ----------
    shape
        A TypedDict.
    whose
        For the error: "a record of n1 rtt".

    Raises
    ------
    UsageError
        It is not so: its field, and what is wrong with it.
    """
    return told_as(shape, info or {}, f"{whose} has no sound info.", next_step)


def told_as(shape: type[Shape], told: Mapping[str, Any], before: str, next_step: str) -> Shape:
    """What a program told, as a TypedDict has it.

    Raises
    ------
    UsageError
        It is not so: `before`, its field, and what is wrong with it.
    """
    try:
        held_to(cast("Hashable", shape)).validate_python(told, strict=True)
    except ValidationError as error:
        raise UsageError(f"{before}{first_fault(error)}", next_step) from error
    return cast("Shape", told)


def passes_of(record: Record) -> Sequence[int]:
    """The pass over all cells in which each sample was taken; all from the first on, where a record does not say."""
    return record.blocks or range(len(record.samples))


def record_schema() -> dict[str, Any]:
    """JSON Schema of a record, as published in `docs/reference/record.schema.json`."""
    return Record.model_json_schema()
