"""What became of writes, and what settings truly are, from what nodes answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.core.records import Param
from wulf.tune.campaign.deciding import APPLIED, CLAMPED, INERT, REFUSED, FactorFinding, WriteOutcome
from wulf.tune.campaign.selecting import Places
from wulf.tune.values import Catalogue, same, value_text


def stays(result: Mapping[str, Any]) -> bool:
    """Whether a write changed something."""
    return result["outcome"] in (APPLIED, CLAMPED, INERT)


@dataclass(frozen=True)
class KeptSetting:
    """A setting that was left changed, and what is known of its factor."""

    name: str
    place: str
    value: Any
    before: Any
    nodes: tuple[str, ...]
    effect: FactorFinding


def outcome_of(results: Sequence[Mapping[str, Any]], catalogue: Catalogue) -> WriteOutcome:
    """What became of a factor's writes, the gravest first; one that can't be read back is refused."""
    for what in (REFUSED, "unconfirmed", CLAMPED, INERT):
        found = next((one for one in results if one["outcome"] == what), None)
        if found is not None:
            return WriteOutcome(REFUSED if what == "unconfirmed" else what, _why(found, catalogue))
    return WriteOutcome()


def _why(result: Mapping[str, Any], catalogue: Catalogue) -> str:
    name = str(result["name"])
    if result["outcome"] == CLAMPED:
        asked, after = (value_text(catalogue[name], result.get(key)) for key in ("asked", "after"))
        return f"asked {asked}, got {after}"
    return str(result.get("reason") or "no reason given")


def truth_of(now: Mapping[str, Mapping[str, Places]], relevant: Mapping[str, Mapping[str, Places]]) -> dict[str, Param]:
    """Settings as a record holds them: one value where all nodes and places have the same, else each by itself."""
    values: dict[str, dict[str, Any]] = {}
    for node, settings in now.items():
        for name, places in settings.items():
            for place, reading in places.items():
                if place in relevant.get(node, {}).get(name, {}):
                    values.setdefault(name, {})[" ".join(filter(None, (node, place)))] = reading.get("value")
    return {f"set.{name}": _one(found) for name, found in values.items()}


def _one(found: Mapping[str, Any]) -> Param:
    first = next(iter(found.values()))
    if all(same(value, first) for value in found.values()):
        return first if isinstance(first, str | int | float | bool) or first is None else str(first)
    return ", ".join(f"{where}: {value}" for where, value in found.items())


def kept_of(results: Mapping[str, Sequence[Mapping[str, Any]]], findings: Sequence[FactorFinding]) -> list[KeptSetting]:
    """What was left changed, nodes with the same values together."""
    by_name = {name: found for found in findings if found.level for name, _ in found.level.writes}
    gathered: dict[tuple[str, str, str, str], tuple[Mapping[str, Any], list[str]]] = {}
    for node, some in results.items():
        for one in some:
            key = (str(one["name"]), str(one["place"]), repr(one["after"]), repr(one["before"]))
            gathered.setdefault(key, (one, []))[1].append(node)
    return [
        KeptSetting(name, place, one["after"], one["before"], tuple(nodes), by_name[name])
        for (name, place, _, _), (one, nodes) in gathered.items() if stays(one)
    ]  # fmt: skip
