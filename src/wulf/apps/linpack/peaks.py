"""Three peaks of a node in double precision: by its base clock, by turbo, and measured.

The first two are cores x clock x operations a cycle (peaks.toml); the third is a loop of fused multiply-adds on all
CPUs at once, which no program can beat. An HPL result as a share of each says different things: of the first what
vendors and the Top500 print, of the third what the machine was able to do on that day.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

KINDS = ("base", "turbo", "measured")

_CLOCK = re.compile(r"@\s*([\d.]+)\s*GHz")
"""Intel's brand string ends in the nominal clock."""

Facts = Mapping[str, Mapping[str, Any]]
"""A node's: {"cpu.model": {"value": …}, …}, or {"value": None, "reason": …}."""


@dataclass(frozen=True)
class Peak:
    """flop/s of one node or of several; without a value the reason. `how` says what it was computed from."""

    value: float | None
    how: str = ""
    reason: str = ""


class OfPeak(TypedDict):
    """What the record of a share of a peak says of it: flop/s, and what it was computed from."""

    peak: Annotated[float, Field(gt=0)] | None
    how: NotRequired[str]


@dataclass(frozen=True)
class Core:
    """A microarchitecture: operations a core and cycle, None where they are not known, and why."""

    name: str
    flop: int | None
    reason: str
    source: str


@lru_cache(maxsize=1)
def table() -> list[dict[str, Any]]:
    """The rows of peaks.toml."""
    rows: list[dict[str, Any]] = tomllib.loads(files("wulf.apps.linpack").joinpath("peaks.toml").read_text())["core"]
    return rows


def core_of(facts: Facts) -> Core:
    """The microarchitecture of a node's processor."""
    model, vendor = _value(facts, "cpu.model"), _value(facts, "cpu.vendor")
    family = _numbers(_value(facts, "cpu.stepping"))
    for row in table():
        if model in row.get("parts", ()) or _is_x86(row, vendor, family):
            return _core(row, str(model or ""))
    known = f"{model}, family-model-stepping {_value(facts, 'cpu.stepping')}" if model else "processor not known"
    return Core("", None, f"{known}: its operations a cycle are in no table of wulf", "")


def _is_x86(row: Mapping[str, Any], vendor: Any, family: Sequence[int]) -> bool:
    if row.get("vendor") != vendor or len(family) < 2 or row.get("family") != family[0]:
        return False
    return any(low <= family[1] <= high for low, high in row["models"])


def _core(row: Mapping[str, Any], model: str) -> Core:
    fitting = (rule["flop"] for rule in row.get("rules", ()) if rule["has"] in model)
    flop = row.get("flop", next(fitting, None))
    reason = "" if flop is not None else f"{row['name']}: {row['reason']}; the measured peak tells"
    return Core(row["name"], flop, reason, row["source"])


def computed(facts: Facts) -> dict[str, Peak]:
    """A node's peaks "base" and "turbo", from what it says of itself."""
    core = core_of(facts)
    clocks = {"base": _base_clock(facts), "turbo": _turbo_clock(facts)}
    return {kind: _peak(facts, core, *clock) for kind, clock in clocks.items()}


def _peak(facts: Facts, core: Core, clock: float | None, reason: str) -> Peak:
    cores = _value(facts, "cpu.cores")
    if core.flop is None:
        return Peak(None, reason=core.reason)
    if clock is None:
        return Peak(None, reason=reason)
    if not cores:
        return Peak(None, reason=f"the number of cores is not known: {_reason(facts, 'cpu.cores')}")
    how = f"{cores} cores x {clock / 1e9:.3g} GHz x {core.flop} ({core.name})"
    return Peak(float(cores) * clock * core.flop, how)


def _base_clock(facts: Facts) -> tuple[float | None, str]:
    value = _value(facts, "cpu.frequency_base")
    if value:
        return float(value), ""
    named = _CLOCK.search(str(_value(facts, "cpu.model") or ""))
    if named:
        return float(named[1]) * 1e9, ""
    return None, f"the base clock is not known: {_reason(facts, 'cpu.frequency_base')}"


def _turbo_clock(facts: Facts) -> tuple[float | None, str]:
    value = _value(facts, "cpu.frequency_max")
    reason = f"the highest clock is not known: {_reason(facts, 'cpu.frequency_max')}"
    return (float(value), "") if value else (None, reason)


def of_all(each: Mapping[str, Peak]) -> Peak:
    """The peak of several nodes together; without a value where one node has none."""
    for node, peak in each.items():
        if peak.value is None:
            return Peak(None, reason=f"{node}: {peak.reason}" if len(each) > 1 else peak.reason)
    hows = list(dict.fromkeys(peak.how for peak in each.values() if peak.how))
    how = hows[0] if len(hows) == 1 else f"{len(hows)} kinds of nodes" if hows else ""
    nodes = f"{len(each)} nodes: " if len(each) > 1 and how else ""
    return Peak(sum(peak.value for peak in each.values() if peak.value is not None), f"{nodes}{how}")


def _value(facts: Facts, name: str) -> Any:
    return facts.get(name, {}).get("value")


def _reason(facts: Facts, name: str) -> str:
    return str(facts.get(name, {}).get("reason") or "the node does not say")


def _numbers(text: Any) -> list[int]:
    """Family, model and stepping of "25-17-1"; empty where it is another kind of text."""
    parts = str(text or "").split("-")
    return [int(part) for part in parts] if all(part.isdigit() for part in parts) else []
