"""The windows as a table: of so many how many, with exact intervals, by load and by what was planted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.links.faults import HOG, KINDS
from bench.links.loads import LOADS
from wulf.core.names import plural
from wulf.stats.claims import Claim

NAMED, NOBODY = "a fault is named, with its way", "nobody is accused where nothing is planted"
GOALS = {NAMED: 0.90, NOBODY: 0.95}
"""Shares within which the whole interval is to lie."""

WORDS = {
    "loss": "0.5–3 % of frames lost at a node",
    "link-loss": "0.5–3 % lost from one node to another",
    "delay": "0.6–3 ms more at a node",
    "rate": "15–35 % of the rate at a node",
    HOG: "CPUs taken by something else",
    None: "nothing",
}
TITLES = {"mpi": "MPI halo exchange", "bulk": "streams", "requests": "requests"}

Window = dict[str, Any]


def kind_of(window: Window) -> str | None:
    """What was planted in it."""
    return window["fault"]["kind"] if window["fault"] else None


def well(window: Window) -> bool:
    """Whether it came out as it should."""
    return bool(window["outcome"] == ("named" if kind_of(window) in KINDS else "nobody"))


def claim(windows: Sequence[Window], what: str = "") -> Claim:
    """The share of windows that came out as they should."""
    return Claim(what, "", sum(map(well, windows)) / len(windows), len(windows), GOALS.get(what), at_most=False)


def totals(windows: Sequence[Window]) -> list[tuple[str, Claim]]:
    """What is claimed over all loads; of no windows nothing."""
    parts = {
        NAMED: [one for one in windows if kind_of(one) in KINDS],
        NOBODY: [one for one in windows if kind_of(one) is None],
    }
    return [(name, claim(own, name)) for name, own in parts.items() if own]


def page(kept: dict[str, Any]) -> str:
    """The part of the page that is made."""
    windows = kept["windows"]
    rows = ["| planted | " + " | ".join(TITLES[load] for load in LOADS) + " | all, 95 % interval |"]
    rows.append("| --- " * (len(LOADS) + 2) + "|")
    for kind, words in WORDS.items():
        own = [one for one in windows if kind_of(one) == kind]
        if own:
            cells = [_count([one for one in own if one["load"] == load]) for load in LOADS]
            rows.append(f"| {words} | {' | '.join(cells)} | {_interval(claim(own))} |")
    goals = [f"- {name}: {_interval(one)}; the goal is {GOALS[name]:.0%}." for name, one in totals(windows)]
    wrong = [one for one in windows if one["outcome"] == "wrong"]
    late = sorted(one["pressure"] for one in windows if one["pressure"] is not None)
    return "\n".join([
        *rows, "", *goals, f"- Somebody else was accused, or the other way, in {plural(len(wrong), 'window')}.",
        f"- In half of the windows some task waited for a CPU in {late[len(late) // 2]:.0%} of the time or more.", "",
        f"{kept['at']}, a lab of {kept['nodes']} nodes on {_machine(kept['machine'])}; seed {kept['seed']}.",
    ])  # fmt: skip


def _count(windows: Sequence[Window]) -> str:
    return f"{sum(map(well, windows))} of {len(windows)}" if windows else "–"


def _interval(one: Claim) -> str:
    low, high = one.interval
    return f"{round(one.share * one.n)} of {one.n} ({low:.1%}–{high:.1%})"


def _machine(about: dict[str, Any]) -> str:
    return f"{about['cpus']} CPUs ({about['cpu']})" if "cpu" in about else f"{about['cpus']} CPUs"
