"""A node's health in seconds, for a prolog: what is wrong, and what could not be told in time, which is no fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from wulf.core.errors import FOUND, OK, NodeError, UsageError
from wulf.core.given import Unreadable, first_fault, json_of, toml_of
from wulf.findings.node import health
from wulf.store.run import utc_now
from wulf.workflow.node.bounded import Answer, Clock, call_all

if TYPE_CHECKING:
    from wulf.cluster.session import Session

TABLE = Path(__file__).with_name("checks.toml")

NHC = "ERROR:  nhc:  Health check failed:  "
"""How Node Health Check begins a message: resource managers and log filters look for it."""

REPLICATES = 6
"""Their least and greatest value hold the median with 1 - 2^-5 = 96.9 %, whatever the distribution."""

AT_REST = 0.5
"""Load per CPU above which no rate is measured: it would be somebody else's, and in his way."""

SCHEMA = 1


class CheckRow(TypedDict):
    """What every row of the table says; all else is its kind's."""

    name: str
    kind: str
    seconds: Annotated[float, Field(gt=0)]


class RateRow(TypedDict):
    """What a row of the kind `rate` says."""

    probe: str
    params: dict[str, Any]
    metric: str
    floor: float


class Mount(TypedDict):
    """A file system of the baseline."""

    source: str
    type: str
    writable: bool


class Floor(TypedDict):
    """A rate of the baseline: the least and greatest of its replicates."""

    low: float
    high: float
    n: int


class Baseline(TypedDict):
    """What `wulf check --save` writes."""

    schema: int
    facts: dict[str, Any]
    mounts: dict[str, Mount]
    rates: dict[str, Floor]


@dataclass(frozen=True)
class Check:
    """A row of the table: its name, kind, deadline in seconds, and whatever else that kind needs."""

    name: str
    kind: str
    seconds: float
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What became of a check: ``well``, ``ill`` or ``not finished``, and why."""

    name: str
    state: str
    text: str = ""

    @property
    def message(self) -> str:
        """In NHC's form where the node is ill."""
        return f"{NHC}{self.name}:  {self.text}" if self.state == "ill" else f"{self.state}: {self.name}: {self.text}"


Measure = Callable[[Check, float], list[float]]
"""The values of a rate's replicates, given the seconds there are."""


def read_table(path: Path = TABLE) -> list[Check]:
    """The checks of a table.

    Raises
    ------
    UsageError
        It can't be read, or a row has no name, an unknown kind, or no deadline.
    """
    try:
        rows = toml_of(path)["check"]
        TypeAdapter(list[CheckRow]).validate_python(rows, strict=True)
    except (KeyError, ValueError) as error:
        why = first_fault(error) if isinstance(error, ValidationError) else str(error)
        raise UsageError(
            f"{path} is no table of checks: {why}", "each [[check]] has name, kind, seconds; see docs/how-to/check.md"
        ) from error
    checks = [Check(row.pop("name"), row.pop("kind"), float(row.pop("seconds")), row) for row in map(dict, rows)]
    for check in checks:
        if wrong := _wrong_with(check, [other.name for other in checks].count(check.name)):
            raise UsageError(f"{path}: {check.name}: {wrong}", "docs/how-to/check.md says what a table of checks holds")
    return checks


def _wrong_with(check: Check, times: int) -> str:
    """Why a row of the table can't be used; empty where it can."""
    kinds: dict[str, type] = {"rate": RateRow} | {name: says for name, (_, says) in health.KINDS.items()}
    if check.kind not in kinds:
        return f"there is no kind {check.kind!r}, but {', '.join(kinds)}"
    if unknown := sorted(set(check.params) - set(kinds[check.kind].__annotations__)):
        return f"its kind, {check.kind}, has no {', '.join(unknown)}"
    try:
        TypeAdapter(kinds[check.kind]).validate_python(check.params, strict=True)
    except ValidationError as error:
        return f"of its kind, {check.kind}: {first_fault(error)}"
    return f"{times} checks have this name" if times > 1 else ""


def read_baseline(path: Path | None = None, places: Sequence[Path] = ()) -> dict[str, Any]:
    """A saved baseline: of the first of the places that has one; empty where none has.

    Raises
    ------
    UsageError
        It is not one, or the path that was given does not exist.
    """
    found = path or next((place for place in places or health.default_places() if place.is_file()), None)
    if found is None:
        return {}
    try:
        content = json_of(found)
    except Unreadable as error:
        raise UsageError(f"{found}: no baseline can be read: {error}", "`wulf check --save` writes one") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise UsageError(f"{found} is no baseline of this version", "`wulf check --save` writes one")
    try:
        TypeAdapter(Baseline).validate_python(content, strict=True)
    except ValidationError as error:
        raise UsageError(f"{found}: {first_fault(error)}", "`wulf check --save` writes one") from error
    return content


def baseline(checks: Sequence[Check], host: health.Host, measure: Measure) -> dict[str, Any]:
    """What the checks of later days are held against: facts, mounts, and each rate's least and greatest value.

    Raises
    ------
    UsageError
        The node is busy: its rates would be too low a floor.
    """
    rates = [check for check in checks if check.kind == "rate"]
    if rates and (busy := health.spare(host)) > AT_REST:
        raise UsageError(
            f"this node is busy (load {busy:.1f} per CPU): its rates would be no floor",
            "save the baseline while it is at rest, or take the rates out of the table with --checks",
        )
    patterns = [one for check in checks if check.kind == "same" for one in check.params["facts"]]
    found = {check.name: measure(check, 10 * check.seconds) for check in rates}
    return {
        "schema": SCHEMA,
        "at": utc_now(),
        "facts": health.facts_of(host.machine, patterns),
        "mounts": health.mounts_of(host.machine),
        "rates": {name: {"low": min(values), "high": max(values), "n": len(values)} for name, values in found.items()},
    }


def below_floor(check: Check, values: Sequence[float], saved: Mapping[str, float]) -> str:
    """What is wrong with a rate: only where its whole interval lies below the floor, a share of the saved one's."""
    floor = float(check.params["floor"]) * saved["low"]
    if max(values) >= floor:
        return ""
    return (
        f"{check.params['metric']} {min(values):.3g} to {max(values):.3g} in {len(values)} replicates, below "
        f"{check.params['floor']:.0%} of the baseline's {saved['low']:.3g} to {saved['high']:.3g}"
    )


def check_node(
    checks: Sequence[Check],
    host: health.Host,
    measure: Measure,
    until: float,
    clock: Clock = time.monotonic,
) -> list[Result]:
    """Every check, in the table's order; none goes on beyond ``until``."""
    looks = {
        check.name: (partial(_look, health.KINDS[check.kind][0], host, check.params), check.seconds)
        for check in checks
        if check.kind != "rate"
    }
    results = {name: _told(name, answer, looks[name][1]) for name, answer in call_all(looks, until, clock).items()}
    for check in checks:
        if check.kind == "rate":
            results[check.name] = _rate(check, host, measure, until, clock)
    return [results[check.name] for check in checks]


def _look(kind: health.Kind, host: health.Host, params: health.Params) -> Any:
    """In a process of its own: what is wrong, or why nothing can be told."""
    try:
        return {"ill": kind(host, params)}
    except health.Untold as untold:
        return {"untold": str(untold)}


def _told(name: str, answer: Answer, seconds: float) -> Result:
    if answer.late:
        return Result(name, "not finished", _late(seconds))
    why = answer.error or answer.value.get("untold")
    if why:
        return Result(name, "not finished", why)
    return Result(name, "ill" if answer.value["ill"] else "well", answer.value["ill"])


def _late(seconds: float) -> str:
    return f"no answer within its {seconds:g} s, or before the time was over"


def _rate(check: Check, host: health.Host, measure: Measure, until: float, clock: Clock) -> Result:
    """A rate, alone; in a process of its own like all others."""
    known = (host.rates or {}).get(check.name)
    if known is None:
        return Result(check.name, "not finished", "the baseline has no such rate: `wulf check --save` measures it")
    if (left := until - clock()) <= 0:
        return Result(check.name, "not finished", "the time was over before it began")
    if (busy := health.spare(host)) > AT_REST:
        return Result(check.name, "not finished", f"not measured on a busy node: load {busy:.1f} per CPU")
    answer = call_all({check.name: (partial(measure, check, min(left, check.seconds)), check.seconds)}, until, clock)[
        check.name
    ]
    if answer.late or answer.error:
        return Result(check.name, "not finished", answer.error or _late(check.seconds))
    fault = below_floor(check, answer.value, known)
    return Result(check.name, "ill" if fault else "well", fault)


def exit_code_of(results: Sequence[Result]) -> int:
    """1 where something is wrong with the node; 0 otherwise, however much was not finished."""
    return FOUND if any(result.state == "ill" for result in results) else OK


def measure_rate(check: Check, seconds: float) -> list[float]:
    """The replicates of a rate of this node, by wulf-node; that many, or `NodeError`."""
    from wulf.cluster.inventory import Inventory
    from wulf.cluster.launchers import make_launcher
    from wulf.cluster.programs import find_program

    until, inventory = time.monotonic() + seconds, Inventory.this_machine()
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, find_program("wulf-node"), timeout=seconds)
        for error in opened.failed.values():
            raise error
        (session,) = opened.sessions.values()
        return [_replicate(session, check, until) for _ in range(REPLICATES)]


def _replicate(session: Session, check: Check, until: float) -> float:
    """One value of a rate.

    Raises
    ------
    NodeError
        The probe has none, or did not answer in time.
    """
    left = max(0.0, until - time.monotonic())
    answer = session.request("run", timeout=left, probe=check.params["probe"], params=check.params["params"])
    metric = answer["metrics"][check.params["metric"]]
    if metric["value"] is None:
        raise NodeError(session.node.name, f"{check.name}: {metric.get('reason', 'no value')}")
    return float(metric["value"])
