"""A finding: what stands out in a run, in plain words, with the figures that say so."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from typing_extensions import TypedDict

from wulf.core.errors import UsageError
from wulf.core.given import first_fault
from wulf.core.records import CHANGED, filled, optional


class Severity(StrEnum):
    """How much a finding matters."""

    BAD = "bad"
    """Something is slower than it should be, or failed: exit code 1 (or 3)."""
    WARN = "warn"
    """Worth a look: settings that differ, figures that are noisy."""
    INFO = "info"
    """Good to know: what was not measured, and why."""

    @property
    def sign(self) -> str:
        """What stands before it where there may be no colour."""
        return _SIGNS[self]

    @property
    def weight(self) -> int:
        """The greater, the graver; from 1 on."""
        return _WEIGHTS[self]


_SIGNS = {Severity.BAD: "▲", Severity.WARN: "◆", Severity.INFO: "●"}
_WEIGHTS = {Severity.BAD: 3, Severity.WARN: 2, Severity.INFO: 1}


class Evidence(BaseModel):
    """One figure behind a finding, beside what was expected of it."""

    model_config = ConfigDict(extra="ignore")

    subject: str
    metric: str
    unit: str = ""
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    expected: float | str | None = Field(default=None, description="The peers' figure, in the same unit.")
    p: float | None = optional(default=None, description="The chance of this where nothing is the matter.")
    threshold: float | None = optional(default=None, description="The limit of the rule that it belongs to.")
    way: str | None = optional(default=None, description="'send', 'receive' or 'both', of a node or link.")
    measured: str | None = optional(default=None, description="What was measured, in words.")
    effect: str | None = optional(default=None, description="As the table of causes calls it.")
    row: str = filled(default="", description="The row of the node survey's table.")
    nodes: list[str] = filled(default_factory=list, description="Of a group: those that something cuts off.")
    others: list[str] = filled(default_factory=list, description="Those that they are cut off from.")
    judgement: str | None = optional(default=None, description="Of a comparison: 'faster', 'slower', ….")
    pairs: int | None = optional(default=None, description="Pairs of samples behind it.")
    least_visible: float | None = optional(default=None, description="The least change that would have been seen.")


def evidence_of(told: dict[str, Any]) -> Evidence:
    """What a record holds as evidence. Raises UsageError where it is none."""
    try:
        return Evidence.model_validate(told)
    except ValidationError as error:
        raise UsageError(f"a record's evidence has no sound {first_fault(error)}", CHANGED) from error


LAUNCH, EXPECTED = "launch", "expected"
"""Kinds of which reports read what they are about."""


class _Launch(TypedDict, total=False):
    places: list[str]


class _Expected(TypedDict):
    share: float
    source: str
    slow: int
    of: int


@cache
def _shapes() -> dict[str, TypeAdapter[Any]]:
    """Kind → what reports read of `about`, where there may be more."""
    return {LAUNCH: TypeAdapter(_Launch), EXPECTED: TypeAdapter(_Expected)}


class Finding(BaseModel):
    """What stands out, about whom, how sure, and what to do next."""

    model_config = ConfigDict(extra="ignore")

    kind: str = Field(description="In a word: 'node', 'link', 'deviation', 'fact', 'comparison', 'failed', 'note', ….")
    severity: Severity
    subject: str = Field(description="The node ('n3'), pair ('n1>n3') or fact ('kernel.release') it is about.")
    text: str = Field(description="One or two sentences for a person, with figure and interval.")
    next_step: str = ""
    evidence: list[Evidence] = Field(default_factory=list)
    expected_of: str = filled(
        default="",
        description="Where the evidence is values and who has them, not figures: whose the expected values are, as "
        "'the others' or 'after a reboot'.",
    )
    about: dict[str, Any] = filled(default_factory=dict, description="More for programs: of a guideline the call.")

    @model_validator(mode="after")
    def _says_what_its_kind_does(self) -> Self:
        if (shape := _shapes().get(self.kind)) is not None:
            try:
                shape.validate_python(self.about, strict=True)
            except ValidationError as error:
                raise ValueError(f"of a kind {self.kind!r}, about.{first_fault(error)}") from error
        if self.kind == EXPECTED and not self.evidence:
            raise ValueError(f"of a kind {EXPECTED!r} without evidence")
        return self
