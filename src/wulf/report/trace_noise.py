"""What was taken from a traced program's ranks, by whom, and which of them were late for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.names import plural
from wulf.core.units import show
from wulf.measure.node.culprits import Key
from wulf.report.kit.view import Columns, Row, Section

MOST_RANKS = 8
MOST_NAMED = 3

Noise = Mapping[str, Any]


def noise_sections(noise: Noise) -> list[Section]:
    """What each rank lost while it computed, who was late, and the worst arrivals."""
    return [_taken(noise), _late(noise), *_worst(noise)]


def whom(by: Sequence[Noise]) -> str:
    """`task make 12 ms, timer tick 40 µs and 3 more`."""
    said = [f"{Key(one['class'], one['name']).text} {show(one['seconds'], 's')}" for one in by[:MOST_NAMED]]
    more = f" and {len(by) - MOST_NAMED} more" if len(by) > MOST_NAMED else ""
    return ", ".join(said) + more if said else "–"


def _taken(noise: Noise) -> Section:
    ordered = sorted(noise["ranks"], key=lambda rank: -rank["lost_seconds"])
    rows: list[Row] = [
        (str(rank["rank"]), rank["host"], show(rank["computing_seconds"], "s"), _lost(rank), whom(rank["by"]))
        for rank in ordered[:MOST_RANKS]
    ]
    left = len(ordered) - MOST_RANKS
    small = [f"the {MOST_RANKS} ranks that lost most; {plural(left, 'more rank')} in summary.json"] if left > 0 else []
    table = Columns(("rank", "host", "computed", "taken", "by whom, while it computed"), rows, 2, 1)
    return Section("What was taken from the ranks", table=table, small=small)


def _lost(rank: Noise) -> str:
    if not rank["seen"]:
        return "–"
    computed = rank["computing_seconds"]
    share = f" ({100 * rank['lost_seconds'] / computed:.2g} %)" if computed else ""
    return f"{show(rank['lost_seconds'], 's')}{share}"


def _late(noise: Noise) -> Section:
    late = noise["late"]
    messages = late.get("messages", 0)
    if not late["collectives"] and not messages:
        none = (
            "The ranks have no collective in common that nobody leaves before all have come, and no message of which "
            "both ends are known: nobody is told late."
        )
        return Section("Late ranks", lines=[none])
    said = [
        f"{plural(late['late'], 'time')} in {plural(late['collectives'], 'collective')} and "
        f"{plural(messages, 'message')} a rank came late, "
        f"{show(late['late_seconds'], 's')} in all; others waited {show(late['waited_seconds'], 's')} for it. "
        f"{show(late['stolen_seconds'], 's')} of the lateness was taken from it, as told below; the rest is its own "
        "computing, or not known."
    ]
    rows: list[Row] = [
        (str(one["rank"]), one["host"], str(one["times"]), show(one["late"], "s"), show(one["waited"], "s"),
         show(one["stolen"], "s"), whom(one["by"]))
        for one in noise["late_ranks"][:MOST_RANKS]
    ]  # fmt: skip
    heads = ("rank", "host", "times", "late", "others waited", "taken", "by whom")
    return Section("Late ranks", lines=said, table=Columns(heads, rows, 2, 1) if rows else None)


def _worst(noise: Noise) -> list[Section]:
    rows: list[Row] = [
        (str(one["rank"]), _for(one), show(one["at_seconds"], "s"), show(one["late"], "s"), show(one["stolen"], "s"),
         whom(one["by"]))
        for one in noise["worst"]
    ]  # fmt: skip
    heads = ("rank", "for", "at", "late", "taken", "by whom")
    return [Section("The latest arrivals", table=Columns(heads, rows, 2, 1))] if rows else []


def _for(one: Noise) -> str:
    """A collective by its number, or the rank that waited for a message, and the call that came late to it."""
    return f"rank {one['for']} (MPI_{one['call']})" if "for" in one else f"all (MPI_{one['call']} {one['number'] + 1})"
