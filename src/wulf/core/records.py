"""The record: one measured quantity with unit, interval, verdict and provenance.

Fields may be added, never renamed: runs written by older versions stay readable.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


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


Param = str | int | float | bool | None


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
    counters: dict[str, Any] = Field(default_factory=dict, description="Counter deltas of both ends, summed.")
    samples: list[float] = Field(default_factory=list, description="One value a replicate, in the order measured.")
    at: str = Field(description="When the record was complete: ISO 8601, UTC.")

    @model_validator(mode="after")
    def _null_needs_a_reason(self) -> Record:
        if self.value is None and not self.reason:
            raise ValueError(f"record {self.subject} {self.metric}: a null value needs a reason")
        if self.verdict in (Verdict.UNRESOLVED, Verdict.FAILED) and not self.reason:
            raise ValueError(f"record {self.subject} {self.metric}: verdict {self.verdict} needs a reason")
        return self

    @property
    def supported(self) -> bool:
        """Whether a figure was to be had: where the host has nothing of the kind, its lack is no gap in a run."""
        return bool((self.model_extra or {}).get("supported", True))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node, or the client and the server of the pair."""
        return tuple(self.subject.split(">"))


def record_schema() -> dict[str, Any]:
    """JSON Schema of a record, as published in `docs/record.schema.json`."""
    return Record.model_json_schema()
