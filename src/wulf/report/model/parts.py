"""What traces say of Brown's times: a row a number of ranks, his parameters, and the speedup that they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wulf.core.units import show
from wulf.model.speedup.parts import TracedParts, TracedTimes
from wulf.report.kit.view import Columns, Section, View, interval_object
from wulf.report.model.speedup import interval_text, speedup_object, speedup_view

WORDS = {
    "ts": ("Ts", "serial part of the program"), "tp": ("Tp", "work that divides"),
    "tip": ("Tip", "serial part of going parallel"), "tis": ("Tis", "serial communication of a rank"),
}  # fmt: skip

_METHOD = (
    "Computing is what the rank that computes longest spends outside of MPI: Ts + Tp/N. What is left of the time is "
    "Tip + N·Tis, or N²·Tis: messages, and waiting. Both are fitted by themselves (non-negative least squares, "
    "intervals by bootstrap, drawn independently); forms are told apart by what is left. S(N) is over Ts + Tp."
)


def parts_view(parts: TracedParts, source: str, at: Sequence[float] = (), notes: Sequence[str] = ()) -> View:
    """The report: with what the sums predict where all parameters are told, else with why one is not."""
    traced = _traces(parts.runs)
    if parts.study is not None:
        view = speedup_view(parts.study, source, at, notes)
        return replace(view, sections=[traced, *view.sections], method=_METHOD)
    if at:
        notes = [*notes, "nothing is predicted: that needs all four of Brown's times"]
    ranks = ", ".join(str(n) for n in sorted({run.ranks for run in parts.runs}))
    return View("wulf model speedup", f"{source}: ranks {ranks}", [traced, _parameters(parts)], notes, _METHOD)


def _traces(runs: Sequence[TracedTimes]) -> Section:
    rows = []
    for ranks in sorted({run.ranks for run in runs}):
        own = [run for run in runs if run.ranks == ranks]
        means = [
            float(np.mean([getattr(run, name) for run in own])) for name in ("seconds", "computing", "left", "work")
        ]
        rows.append([str(ranks), str(len(own)), *(show(mean, "s") for mean in means)])
    heads = ["ranks", "traces", "time", "computing", "left", "all computing"]
    small = ["What all compute stays the same over N where one rank does the serial part alone."]
    return Section("Traced", table=Columns(heads, rows, 0), small=small)


def _parameters(parts: TracedParts) -> Section:
    rows = []
    for name, (sign, words) in WORDS.items():
        value = parts.parameters.get(name)
        rows.append(
            [sign, words, *(("–", "") if value is None else (show(value.value, "s"), interval_text(value, "s")))]
        )
    told: dict[str, list[str]] = {}
    for name, why in parts.refused.items():
        told.setdefault(why, []).append(WORDS[name][0])
    lines = [f"{' and '.join(signs)}: {why}." for why, signs in told.items()]
    return Section("Brown's times", lines, Columns(["parameter", "", "value", "interval"], rows, 2))


def parts_object(parts: TracedParts, source: str, at: Sequence[float] = ()) -> dict[str, Any]:
    """As of a table's times where all is told, and the traces; what is not told is null, with the reason."""
    unknown = {"value": None, "low": None, "high": None}
    told = {name: interval_object(value) for name, value in parts.parameters.items()}
    return {
        **({"source": source, "best": None} if parts.study is None else speedup_object(parts.study, source, at)),
        "traces": [
            {"ranks": run.ranks, "seconds": run.seconds, "computing": run.computing, "left": run.left, "work": run.work}
            for run in parts.runs
        ],
        "parameters": {name: told.get(name, unknown) | {"reason": parts.refused.get(name)} for name in WORDS},
    }
