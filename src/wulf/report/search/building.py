"""What a search built, and whether MPI, compiler and BLAS depend on each other, for terminal and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.names import plural
from wulf.core.units import show
from wulf.report.kit.view import Columns, Section
from wulf.report.search.preflight import change
from wulf.search.space import configuration_text, written

Object = Mapping[str, Any]
"""As search.json has it."""

WORDS = {
    "depend": "{0} depend on each other: what one of them is worth goes by the other.",
    "independent": "{0} do not depend on each other, to within {1}.",
    "not proven": "Whether {0} depend on each other can't be told from these runs.",
    "not tested": "Of {0} not all combinations can be had: nothing is known of them together.",
}
"""Verdict on pairs → what is said of them."""

TOGETHER = (
    " What the program is built with is run in all combinations of two values each, the winner's and another's, in "
    "blocks of random order; 'depend' is corrected for all pairs of these."
)
"""How that is known."""


def building_sections(result: Object) -> list[Section]:
    """The builds, and what their tools do together; nothing of a program that was there."""
    builds, joint = result.get("builds", []), result.get("joint", [])
    return [
        Section("Built", _lines(builds), table=_builds(builds)),
        Section("What it is built with, together", _sentences(joint, result["delta"]), table=_together(joint)),
    ]


def not_built(builds: Sequence[Object]) -> list[list[str]]:
    """Combinations that can't be built, as rows of what failed."""
    return [[configuration_text(one["values"]), "not built", one["reason"]] for one in builds if one["path"] is None]


def _lines(builds: Sequence[Object]) -> list[str]:
    if not builds:
        return []
    failed = sum(one["path"] is None for one in builds)
    kept = sum(one["kept"] for one in builds)
    told = [f"{plural(len(builds), 'combination')}", f"{kept} kept from before" if kept else "",
            f"{failed} can't be built: see what failed" if failed else ""]  # fmt: skip
    return ["; ".join(filter(None, told)) + "."]


def _builds(builds: Sequence[Object]) -> Columns | None:
    rows = [
        [*(written(value) for value in one["values"].values()),
         "kept" if one["kept"] else "can't be built" if one["path"] is None else show(one["seconds"], "s")]
        for one in builds
    ]  # fmt: skip
    return Columns([*builds[0]["values"], "build"], rows, len(builds[0]["values"])) if rows else None


def _sentences(joint: Sequence[Object], delta: float) -> list[str]:
    """Whether one depends on another: what is proven, what is not there, and what can't be told."""
    found: dict[str, list[str]] = {}
    for one in joint:
        found.setdefault(_verdict(one), []).append(" and ".join(one["names"]))
    return [WORDS[verdict].format("; ".join(pairs), f"{100 * delta:g} %") for verdict, pairs in found.items()]


def _verdict(one: Object) -> str:
    together = one["together"]
    if together is None:
        return "not tested"
    if together["proven"]:
        return "depend"
    return "independent" if together["judgement"] == "equivalent" else "not proven"


def _together(joint: Sequence[Object]) -> Columns | None:
    """What the second one's other value does with either value of the first one; and the difference."""
    rows = []
    for one in joint:
        second, other = one["values"][1]
        what = f"{one['names'][1]} {written(other)} for {written(second)}"
        rows += [
            [what, f"{one['names'][0]} {written(value)}", _change(alone), ""]
            for value, alone in zip(one["values"][0], one["alone"], strict=True)
        ]
        rows.append([what, "the best of both, over each alone", _change(one["together"]), _verdict(one)])
    heads = ["change", "with", "faster by, 95 %", ""]
    return Columns(heads, rows, 2, tail=1, merged=True) if rows else None


def _change(one: Object | None) -> str:
    """As a gain in speed with its interval."""
    if one is None or one["speedup"] is None:
        return "–"
    return change(one["speedup"], one["speedup_low"], one["speedup_high"])
