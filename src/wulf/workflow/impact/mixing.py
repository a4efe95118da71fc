"""The mix of programs that a cluster runs: from a TOML, or from Slurm's accounting; and what is known of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, first_fault, toml_of
from wulf.model.impacts import UNKNOWN, Expectation, Load, RunImpact, expectation
from wulf.workflow.impact.collecting import (
    Domain,
    by_pattern,
    domain_among,
    domain_of,
    known_programs,
    programs_in,
)
from wulf.workflow.impact.sacct import SlurmUse, read_sacct, words_of

EXAMPLE = "docs/how-to/impact.md shows one"
MONTH = 30.0
"""Days."""

UNFINISHED = "jobs that did not complete"

Names = Annotated[dict[Domain, Domain], Field(max_length=10_000)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DomainsFile(_File):
    """Patterns of programs, and of Slurm's accounts → domain."""

    programs: Names = {}
    accounts: Names = {}


class MixFile(_File):
    """Domain, or program → its share of the cluster's core-hours."""

    shares: Annotated[dict[Domain, Annotated[float, Field(gt=0, le=1)]], Field(min_length=1, max_length=1000)]
    jobs_per_month: Annotated[float, Field(gt=0, le=1e12)] | None = None


@dataclass(frozen=True)
class Mix:
    """What a cluster runs.

    Attributes
    ----------
    loads
        The largest first.
    jobs, core_hours
        A month; None where the source does not say.
    """

    source: str
    loads: tuple[Load, ...]
    jobs: float | None
    core_hours: float | None = None
    notes: tuple[str, ...] = field(default=())


T = TypeVar("T", bound=_File)


def read_domains(path: Path) -> DomainsFile:
    """Which program is of which domain.

    Raises
    ------
    UsageError
        It can't be read, a field is wrong, or it names no domain.
    """
    found = _read(path, DomainsFile)
    if not found.programs and not found.accounts:
        raise UsageError(f"{path} names no domain: it has neither [programs] nor [accounts]", EXAMPLE)
    return found


def read_mix(path: Path) -> Mix:
    """A mix, as its user wrote it.

    Raises
    ------
    UsageError
        It can't be read, a field is wrong, or its shares are more than the whole.
    """
    file = _read(path, MixFile)
    whole = fsum(file.shares.values())
    if whole > 1 + 1e-9:
        raise UsageError(f"{path}: the shares come to {whole:.4g}, more than all core-hours", "they are parts of 1")
    return Mix(str(path), _ordered(Load(name, share) for name, share in file.shares.items()), file.jobs_per_month)


def _read(path: Path, shape: type[T]) -> T:
    try:
        return shape.model_validate(toml_of(path))
    except Unreadable as error:
        raise UsageError(f"can't read {path}: {error}", EXAMPLE) from error
    except ValidationError as error:
        raise UsageError(f"{path}: {first_fault(error)}", EXAMPLE) from error


def sacct_mix(path: Path, domains: DomainsFile, days: float) -> Mix:
    """The mix of a cluster's jobs: each job's domain by its name, else by its account.

    Parameters
    ----------
    days
        Of which the file is.

    Raises
    ------
    UsageError
        As `read_sacct`; no job took any time.
    """
    jobs = read_sacct(path)
    whole = sum(one.cpu_seconds for one in jobs)
    if not whole:
        raise UsageError(f"{path}: its {len(jobs)} jobs took no CPU time", "is it of a time when the cluster was used?")
    seconds: dict[str, int] = {}
    counts: dict[str, int] = {}
    for one in jobs:
        name = _domain(one, domains) if one.completed else UNFINISHED
        seconds[name] = seconds.get(name, 0) + one.cpu_seconds
        counts[name] = counts.get(name, 0) + 1
    month = MONTH / days
    loads = (Load(name, own / whole, counts[name] * month) for name, own in seconds.items() if own)
    done = sum(one.completed for one in jobs)
    return Mix(str(path), _ordered(loads), done * month, whole / 3600 * month)


def _domain(job: SlurmUse, domains: DomainsFile) -> str:
    by_name = domain_among(list(words_of(job.name)), domains.programs)
    return by_name or by_pattern([job.account], domains.accounts) or UNKNOWN


def _ordered(loads: Iterable[Load]) -> tuple[Load, ...]:
    return tuple(sorted(loads, key=lambda one: (-one.share, one.name)))


def expected_of(mix: Mix, impacts: Sequence[RunImpact], domains: Mapping[str, str]) -> dict[str, Expectation]:
    """What is known of each part: of its domain; of a program its own runs, where they say enough, or its domain's."""
    found = {}
    for load in mix.loads:
        own = [one for one in impacts if load.name in programs_in(one.application)]
        domain = domain_of(load.name, domains) if own or load.name in known_programs() else load.name
        of_domain = [one for one in impacts if one.domain == domain != UNKNOWN]
        of_program = expectation(load.name, own)
        found[load.name] = of_program if of_program.pooled else expectation(domain, of_domain)
    return found
