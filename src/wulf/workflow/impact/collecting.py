"""Runs of `wulf impact`, by whomever, as what `model/impacts` compares: each is taken in by itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from math import log
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, StringConstraints
from scipy.special import stdtrit
from typing_extensions import TypedDict

from wulf.apps import drivers
from wulf.core.errors import WulfError
from wulf.core.units import show
from wulf.model.impacts import UNKNOWN, RunImpact
from wulf.stats.estimates import PointEstimate
from wulf.store.index import find_run, list_runs
from wulf.store.reading import Fingerprint, StoreError, read_meta_file, read_shaped

FILE = "impact.json"

CONFIDENCE = 0.95
"""Of a run's intervals."""

LARGEST_RATIO = 1e6
"""Of times before and after: what says more was not measured."""

Ratio = Annotated[float, Field(ge=1 / LARGEST_RATIO, le=LARGEST_RATIO)]
Share = Annotated[float, Field(ge=0, le=1)]
Domain = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f]{1,80}$")]
"""Of a few words."""


class ChangeFile(TypedDict):
    """What was changed."""

    name: str


class ComparisonFile(TypedDict):
    """After over before."""

    ratio: Ratio | None
    low: Ratio | None
    high: Ratio | None
    n: Annotated[int, Field(ge=0)]


class RowFile(TypedDict):
    """A quantity before and after."""

    lower_is_better: bool
    compared: ComparisonFile


class ShareFile(TypedDict):
    """What a profile says."""

    mpi: Annotated[float, Field(ge=0)]


class ProfileFile(TypedDict):
    """A profile, or none."""

    share: ShareFile | None


class ImpactFile(TypedDict):
    """What others rely on of impact.json, the application's row first; it may hold more."""

    state: str
    claim: str
    why: str
    application: str
    kind: Literal["settings", "links", "networks"]
    changes: Annotated[list[ChangeFile], Field(min_length=1)]
    rows: Annotated[list[RowFile], Field(min_length=1)]
    profiles: dict[str, ProfileFile]
    domain: NotRequired[Domain | None]


@dataclass(frozen=True)
class ImpactCollection:
    """What was read.

    Attributes
    ----------
    impacts
        Oldest run first; also those that don't count, which say why.
    bad
        Runs that can't be read → why.
    """

    impacts: tuple[RunImpact, ...]
    bad: Mapping[str, str] = field(default_factory=dict)


def collect(names: Sequence[str], directory: Path | None, domains: Mapping[str, str]) -> ImpactCollection:
    """The runs that are named, or all of the directory that have an impact.json.

    Parameters
    ----------
    domains
        Pattern of a program's name → its domain, for runs that don't say theirs.
    """
    found: list[tuple[str, RunImpact]] = []
    bad: dict[str, str] = {}
    for name, path in _paths(names, directory, bad):
        try:
            found.append(_read(path, domains))
        except WulfError as error:
            bad[name] = error.what
    found.sort(key=lambda one: one[0])
    return ImpactCollection(tuple({one.run: one for _, one in found}.values()), bad)


def _paths(names: Sequence[str], directory: Path | None, bad: dict[str, str]) -> Iterator[tuple[str, Path]]:
    if not names:
        yield from ((path.name, path) for path in list_runs(directory) if (path / FILE).exists())
    for name in names:
        try:
            yield name, find_run(name, directory)
        except WulfError as error:
            bad[name] = error.what


def _read(path: Path, domains: Mapping[str, str]) -> tuple[str, RunImpact]:
    """When the run was started, and what it found.

    Raises
    ------
    StoreError
        It holds no impact, or one that can't be read: names file and field.
    """
    meta = read_meta_file(path)
    if not (path / FILE).exists():
        raise StoreError(f"{path} is no run of `wulf impact`: it has no {FILE}")
    result = read_shaped(path / FILE, ImpactFile)
    row = result["rows"][0]
    gain = gain_of(row)
    error = error_of(gain, row["compared"]["n"])
    before = result["profiles"].get("before", {}).get("share")
    domain = result.get("domain") or domain_of(result["application"], domains)
    change = " + ".join(sorted({one["name"] for one in result["changes"]}))
    network = "a lab's" if result["kind"] == "links" else _network(read_shaped(path / "fingerprint.json", Fingerprint))
    return meta.get("started", ""), RunImpact(
        meta["id"], result["application"], domain, change, network, gain, error,
        None if before is None else min(1.0, before["mpi"]), _why(result, error),
    )  # fmt: skip


def gain_of(row: Mapping[str, Any]) -> PointEstimate | None:
    """ln(time before / time after) of a row of impact.json."""
    compared, sign = row["compared"], -1 if row["lower_is_better"] else 1
    if compared["ratio"] is None:
        return None
    gain = sign * log(compared["ratio"])
    if compared["low"] is None or compared["high"] is None:
        return PointEstimate(gain)
    low, high = sorted(sign * log(compared[end]) for end in ("low", "high"))
    return PointEstimate(gain, low, high)


def error_of(gain: PointEstimate | None, blocks: int) -> float | None:
    """Of its interval the half width is Student's quantile times the standard error, as `least_visible` has it."""
    if gain is None or gain.low is None or gain.high is None or blocks < 2:
        return None
    return (gain.high - gain.low) / 2 / float(stdtrit(blocks - 1, (1 + CONFIDENCE) / 2))


def _why(result: Mapping[str, Any], error: float | None) -> str:
    """Why a run does not count; empty where it does."""
    if result["state"] != "complete":
        return "it was interrupted" if result["state"] == "interrupted" else "it stopped early"
    if result["claim"] == "void":
        return result["why"] or "nothing is claimed"
    return "too few blocks for an interval" if error is None else ""


def domain_of(application: str, domains: Mapping[str, str]) -> str:
    """A program's domain: by the patterns given, the first that matches, else of an application that wulf knows.

    Parameters
    ----------
    application
        A command line: that of an MPI's launcher names the program, too.
    """
    return domain_among(list(programs_in(application)), domains) or UNKNOWN


def domain_among(names: Sequence[str], domains: Mapping[str, str]) -> str | None:
    """Of the first pattern that one of these names matches, else of the first that is an application of wulf's."""
    known = known_programs()
    return by_pattern(names, domains) or next((known[name] for name in names if name in known), None)


def by_pattern(names: Sequence[str], domains: Mapping[str, str]) -> str | None:
    """The domain of the first pattern that one of these names matches."""
    return next((domain for pattern, domain in domains.items() if any(fnmatchcase(n, pattern) for n in names)), None)


def programs_in(application: str) -> Iterator[str]:
    """What may be a program in a command line: its words, without folders."""
    try:
        words = shlex.split(application)
    except ValueError:
        words = application.split()
    return (word.rpartition("/")[2] for word in words)


@cache
def known_programs() -> Mapping[str, str]:
    """The names that applications of wulf's have, and those of their programs → domain."""
    found: dict[str, str] = {}
    for name, driver in drivers().items():
        named = [program for program in driver.PROGRAMS if ":" not in program]  # python3 is no application
        found |= dict.fromkeys([name, *named], driver.DOMAIN)
    return found


def _network(facts: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The nodes' fastest links, each kind once: `25 Gbit/s mlx5_core`."""
    kinds = {_fastest(own) for own in facts.values()} - {None}
    return " and ".join(sorted(kind for kind in kinds if kind)) or UNKNOWN


def _fastest(facts: Mapping[str, Mapping[str, Any]]) -> str | None:
    speeds = {
        name.removesuffix(".speed"): fact["value"]
        for name, fact in facts.items()
        if name.startswith("nic.") and name.endswith(".speed") and isinstance(fact.get("value"), int | float)
    }
    if not speeds:
        return None
    nic = max(speeds, key=lambda name: speeds[name])
    driver = facts.get(f"{nic}.driver", {}).get("value")
    return f"{show(speeds[nic], 'B/s')} {driver or ''}".rstrip()
