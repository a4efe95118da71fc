"""What a trace holds, in a terminal: ranks, calls, who sends to whom, sizes, and what is wrong with it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.names import capitalised
from wulf.core.units import show
from wulf.report.kit.view import Columns, Section, View
from wulf.report.trace_noise import noise_sections

MOST_RANKS = 8
"""Ranks up to which every one has a row, and a place in the matrix: so many columns fit into 80."""

MOST_CALLS = 14
MOST_PAIRS = 10
MOST_FAULTS = 12

Result = Mapping[str, Any]


def trace_view(result: Result) -> View:
    """The view of a result, as the workflow makes it and summary.json holds it."""
    sections = [_goal(result)] if result["kind"] == "goal" else _sections(result)
    return View("wulf trace", _headline(result), [one for one in sections if one is not None], _notes(result))


def _sections(result: Result) -> list[Section | None]:
    found = [_ranks(result), _calls(result), _pairs(result), _sizes(result)] if result["ranks"] else []
    return [*found, *noise_sections(result["noise"])] if result.get("noise") else found


def _headline(result: Result) -> str:
    ranks, size = len(result["ranks"]), result["size"]
    command = shlex.join(result["command"] or [])
    hosts = len({rank.get("host") for rank in result["ranks"]})
    part = ranks < size and result["kind"] != "goal"
    parts = [f"{ranks} of {size} ranks" if part else f"{size} rank{'s' if size != 1 else ''}"]
    if hosts > 1:
        parts.append(f"on {hosts} hosts")
    if result["mpi"]:
        parts.append(result["mpi"])
    if result.get("wall_seconds"):
        parts.append(show(result["wall_seconds"], "s"))
    return f"{command or result.get('source') or 'a trace'}: {', '.join(parts)}"


def _notes(result: Result) -> list[str]:
    faults = [fault["text"] for fault in result["faults"]]
    more = [f"… and {len(faults) - MOST_FAULTS} more faults (--json has all)"] if len(faults) > MOST_FAULTS else []
    return [*faults[:MOST_FAULTS], *more, *result.get("notes", ())]


def _share(rank: Result) -> str:
    """MPI's part of a rank's time; several threads may be in MPI at once."""
    return f"{100 * rank['mpi_seconds'] / rank['seconds']:.1f} %" if rank["seconds"] else "–"


def _ranks(result: Result) -> Section:
    """Every rank, or of many the ends and the middle by time in MPI."""
    ranks: Sequence[Result] = result["ranks"]
    shown = [(str(rank["rank"]), rank) for rank in ranks]
    if len(ranks) > MOST_RANKS:
        ordered = sorted(ranks, key=lambda rank: rank["mpi_seconds"])
        picked = {"least in MPI": ordered[0], "median": ordered[len(ordered) // 2], "most in MPI": ordered[-1]}
        shown = [(f"{what}: {rank['rank']}", rank) for what, rank in picked.items()]
    rows = [
        (name, rank["host"], show(rank["seconds"], "s"), show(rank["mpi_seconds"], "s"), _share(rank),
         str(sum(line["count"] for line in rank["calls"].values())))
        for name, rank in shown
    ]  # fmt: skip
    return Section("Ranks", table=Columns(("rank", "host", "time", "in MPI", "share", "calls"), rows, 2))


def _calls(result: Result) -> Section:
    lines = list(result["calls"].items())
    whole = sum(rank["seconds"] for rank in result["ranks"])
    rows = [
        (_name(name), str(line["count"]), show(line["seconds"], "s"),
         f"{100 * line['seconds'] / whole:.1f} %" if whole else "–",
         show(line["bytes"], "B") if line["bytes"] else "", _each(line))
        for name, line in lines[:MOST_CALLS]
    ]  # fmt: skip
    calls = sum(line["count"] for _, line in lines)
    size = result["trace_bytes"]
    small = [f"{calls} calls in {show(size, 'B')}: {size / calls:.1f} bytes a call"] if calls else []
    if len(lines) > MOST_CALLS:
        small.append(f"{len(lines) - MOST_CALLS} more kinds of calls: --json has all")
    heads = ("call", "calls", "time", "share", "bytes", "a call")
    return Section("Calls, over all ranks", table=Columns(heads, rows), small=small)


def _name(name: str) -> str:
    if name == "tests":
        return "tests without result"
    return f"MPI_{capitalised(name)}"


def _each(line: Result) -> str:
    return show(line["bytes"] / line["count"], "B") if line["bytes"] and line["count"] else ""


def _pairs(result: Result) -> Section | None:
    """A matrix of few ranks; of many the pairs with most bytes."""
    pairs = result["pairs"]
    if not pairs:
        return None
    if result["size"] > MOST_RANKS:
        rows = [(f"{one['from']} → {one['to']}", str(one["messages"]), show(one["bytes"], "B"))
                for one in pairs[:MOST_PAIRS]]  # fmt: skip
        many = len(pairs) + result["pairs_left_out"]
        small = [f"the largest {len(rows)} of {many} pairs"] if many > len(rows) else []
        return Section("Who sends to whom", table=Columns(("pair", "messages", "bytes"), rows), small=small)
    sent = {(one["from"], one["to"]): show(one["bytes"], "B") for one in pairs}
    numbers = range(result["size"])
    matrix = [(str(a), *(sent.get((a, b), "·") for b in numbers)) for a in numbers]
    return Section("Bytes sent, from row to column", table=Columns(("", *map(str, numbers)), matrix))


def _sizes(result: Result) -> Section | None:
    if not result["sizes"]:
        return None
    whole = sum(one["messages"] for one in result["sizes"])
    rows = [(show(one["up_to"], "B"), str(one["messages"]), f"{100 * one['messages'] / whole:.1f} %")
            for one in result["sizes"]]  # fmt: skip
    return Section("Messages between two ranks, by size", table=Columns(("up to", "messages", "share"), rows))


def _goal(result: Result) -> Section:
    goal = result["goal"]
    rows = [(what, str(goal[what])) for what in ("calc", "send", "recv")]
    rows.append(("bytes sent", show(goal["bytes"], "B")))
    rows.append(("longest calc of a rank", show(goal["calculated_seconds"], "s")))
    return Section("A GOAL schedule", table=Columns(("operation", "of all ranks"), rows))
