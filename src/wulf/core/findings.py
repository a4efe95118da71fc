"""A finding: what stands out in a run, in plain words, with the figures that say so."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Severity(StrEnum):
    """How much a finding matters."""

    BAD = "bad"
    """Something is slower than it should be, or failed: exit code 1 (or 3)."""
    WARN = "warn"
    """Worth a look: settings that differ, figures that are noisy."""
    INFO = "info"
    """Good to know: what was not measured, and why."""


class Evidence(BaseModel):
    """One figure behind a finding, beside what was expected of it."""

    model_config = ConfigDict(extra="allow")

    subject: str
    metric: str
    unit: str = ""
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    expected: float | str | None = Field(default=None, description="The peers' figure, in the same unit.")


class Finding(BaseModel):
    """What stands out, about whom, how sure, and what to do next."""

    model_config = ConfigDict(extra="allow")

    kind: str = Field(
        description="'comparison', 'curve', 'layers', 'node', 'link', 'incast', 'bisection', 'coverage', 'deviation', "
        "'fact', 'bottleneck', 'asymmetry', 'background', 'guideline', 'tuned', 'launch', 'setting', 'startup', "
        "'drift', 'checklist', 'advice', 'security', 'failed', 'noise' or 'note'."
    )
    severity: Severity
    subject: str = Field(description="The node ('n3'), pair ('n1>n3') or fact ('kernel.release') it is about.")
    text: str = Field(description="One or two sentences for a person, with figure and interval.")
    next_step: str = ""
    evidence: list[Evidence] = Field(default_factory=list)
