"""Self-consistent performance guidelines: is a collective slower than others of the same MPI that do its work?

A guideline says that one call takes no longer than some others one after the other (guidelines.toml: Träff, Gropp,
Thakur, IEEE TPDS 21(5), 2010). Whoever finds one violated can replace the call, or ask the MPI for another algorithm.
All calls are measured once a block, in random order; a ratio is taken within each block, so that drift meets both sides
alike. Pure: the findings follow from a run's records alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import ceil, exp, isfinite, log, log2
from statistics import median

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Param, Record
from wulf.core.units import show
from wulf.measure.engine.collect import in_common
from wulf.stats.comparison import DELTA, holm
from wulf.stats.ranks import Shift, signed_rank_shift

KIND, METRIC, PATTERN = "guideline", "time", "collective"

ALPHA = 0.05
"""Chance that any of all guidelines of one call is wrongly said to be violated."""

FLOAT = 4
"""Bytes: a vector that is added up is a whole number of floats, so a share of it is rounded up to one."""


@dataclass(frozen=True, order=True)
class Call:
    """One collective at one size, as the probe `collective` counts it."""

    op: str
    bytes: int

    def params(self, ranks: int | None = None) -> dict[str, Param]:
        """What the probe is asked for it."""
        return {"op": self.op, "bytes": self.bytes, "ranks": ranks}

    @property
    def text(self) -> str:
        """`allreduce of 64 KiB`."""
        return f"{self.op} of {show(self.bytes, 'B')}"


@dataclass(frozen=True)
class Guideline:
    """`left` takes no longer than all of `right` one after the other, each so many times."""

    left: Call
    right: tuple[tuple[int, Call], ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """All that must be measured for it."""
        return (self.left, *(call for _, call in self.right))

    @property
    def right_text(self) -> str:
        """`reduce of 64 KiB + bcast of 64 KiB`, `2 × bcast of 32 KiB`."""
        return " + ".join(call.text if times == 1 else f"{times} × {call.text}" for times, call in self.right)


@cache
def _table() -> Mapping[str, list]:  # type: ignore[type-arg]  # as TOML has it
    return tomllib.loads((files("wulf.measure.mpi") / "guidelines.toml").read_text(encoding="utf-8"))


def _sized(size: int, of: str, ranks: int) -> int:
    """The size on a guideline's right side; a share is rounded up, in favour of the left side."""
    if of == "ranks":
        return size * ranks
    return ceil(size / ranks / FLOAT) * FLOAT if of == "1/ranks" else size


def _ladder(op: str, sizes: Iterable[int], table: Mapping[str, list]) -> list[Guideline]:  # type: ignore[type-arg]
    """What one collective's own sizes say of each other, neighbours in size each."""
    found: list[Guideline] = []
    for small, large in pairwise(sorted(sizes)):
        if op in table["monotone"]:
            found.append(Guideline(Call(op, small), ((1, Call(op, large)),)))
        if op in table["split"] and large % small == 0:
            found.append(Guideline(Call(op, large), ((large // small, Call(op, small)),)))
    return found


def guidelines_of(ranks: int, calls: Iterable[Call]) -> list[Guideline]:
    """Every guideline whose left side is among the calls, in a fixed order; a size of 0 has none."""
    by_op: dict[str, list[int]] = {}
    for call in sorted(calls):
        if call.bytes > 0:
            by_op.setdefault(call.op, []).append(call.bytes)
    table = _table()
    found = [
        Guideline(
            Call(row["left"], size),
            tuple((1, Call(part["op"], _sized(size, part.get("of", ""), ranks))) for part in row["right"]),
        )
        for row in table["imitation"]
        for size in by_op.get(row["left"], ())
    ]
    return found + [each for op, sizes in by_op.items() for each in _ladder(op, sizes, table)]


def guidelines(ranks: int, sizes: Iterable[int]) -> list[Guideline]:
    """Every guideline at these sizes, on so many ranks.

    Parameters
    ----------
    sizes
        Bytes, multiples of 4 above 0. Splits are tried between neighbouring sizes of which one divides the other.

    Raises
    ------
    ValueError
        A size is none, or no multiple of 4.
    """
    ladder = sorted(set(sizes))
    if any(size <= 0 or size % FLOAT for size in ladder):
        raise ValueError(f"sizes {ladder} must be multiples of {FLOAT} B above 0, since floats are added up")
    table = _table()
    ops = {row["left"] for row in table["imitation"]} | {*table["monotone"], *table["split"]}
    return guidelines_of(ranks, (Call(op, size) for op in ops for size in ladder))


def applicable(ranks: int, calls: Iterable[Call]) -> list[Guideline]:
    """The guidelines of which all calls are there."""
    there = set(calls)
    return [each for each in guidelines_of(ranks, there) if there.issuperset(each.calls)]


def _needed(ranks: int, sizes: Iterable[int]) -> list[Call]:
    return sorted({call for guideline in guidelines(ranks, sizes) for call in guideline.calls})


def guideline_cells(ranks: int, sizes: Iterable[int]) -> list[dict[str, Param]]:
    """What to measure, each once a block: parameters of the probe `collective`, without repetitions.

    One rank has nothing to compare: its collectives are copies.
    """
    return [call.params() for call in _needed(ranks, sizes)] if ranks > 1 else []


def least_blocks(ranks: int, sizes: Iterable[int], alpha: float = ALPHA) -> int:
    """Blocks from which on the violation of one guideline among all can be told at all: 2^-n · m ≤ α."""
    return ceil(log2(len(applicable(ranks, _needed(ranks, sizes))) / alpha))


Blocks = Mapping[int, float]
"""Block → seconds."""


@dataclass(frozen=True)
class Held:
    """A guideline held against what was measured: left / right with its interval, and a one-sided p."""

    guideline: Guideline
    left: float
    right: float
    shift: Shift
    p: float

    @property
    def ratio(self) -> tuple[float, float, float]:
        """Value, low, high."""
        return exp(self.shift.value), exp(self.shift.low), exp(self.shift.high)


def _held(guideline: Guideline, times: Mapping[Call, Blocks], alpha: float) -> Held | None:
    """None where no block has all of its calls."""
    left, *parts = in_common([times[call] for call in guideline.calls])
    if not left:
        return None
    right = [
        sum(count * seconds for (count, _), seconds in zip(guideline.right, block, strict=True))
        for block in zip(*parts, strict=True)
    ]
    ratios = np.array([log(a / b) for a, b in zip(left, right, strict=True)])
    shift = signed_rank_shift(ratios, alpha)
    one_sided = shift.p / 2 if shift.value > 0 else 1 - shift.p / 2
    return Held(guideline, median(left), median(right), shift, one_sided)


def hold(times: Mapping[Call, Blocks], ranks: int, alpha: float = ALPHA) -> list[tuple[Held, float]]:
    """Every guideline for which all was measured, and its p, corrected for all of them (Holm 1979)."""
    held = [found for each in applicable(ranks, times) if (found := _held(each, times, alpha)) is not None]
    return list(zip(held, holm([each.p for each in held]), strict=True))


def _violation(subject: str, held: Held, p: float) -> Finding:
    value, low, high = held.ratio
    return Finding(
        kind=KIND, severity=Severity.WARN, subject=subject,
        text=f"Guideline violated: {held.guideline.left.text} takes {show(value, '')} × "
        f"({show(low, '')}–{show(high, '')}) {held.guideline.right_text}, which do its work.",
        next_step="Have the MPI choose another algorithm at this size (`wulf mpi collectives --tune` tries "
        "them), or make the other calls in its place.",
        evidence=[
            Evidence(
                subject=subject, metric=f"{held.guideline.left.text} / {held.guideline.right_text}", unit="1",
                value=value, low=low, high=high, expected=1.0,
            ),
            Evidence(subject=subject, metric=METRIC, unit="s", value=held.left, expected=held.right),
        ],
        about={"p": p, "op": held.guideline.left.op, "bytes": held.guideline.left.bytes},
    )  # fmt: skip


def violated(
    subject: str, times: Mapping[Call, Blocks], ranks: int, alpha: float = ALPHA, delta: float = DELTA
) -> list[Finding]:
    """The guidelines that are violated: the corrected p says so, and the interval of the ratio lies above 1 + δ."""
    return [
        _violation(subject, held, p)
        for held, p in hold(times, ranks, alpha)
        if p <= alpha and isfinite(held.shift.low) and held.ratio[1] > 1 + delta
    ]


def times_of(records: Iterable[Record]) -> dict[Call, dict[int, float]]:
    """Call → block → seconds, of the collectives among the records; those without blocks can't be paired."""
    return {
        Call(record.text("op"), int(record.number("bytes"))): dict(zip(blocks, record.samples, strict=True))
        for record in records
        if record.metric == METRIC and record.params.get("pattern") == PATTERN and (blocks := record.blocks)
    }


def violations(records: Sequence[Record], alpha: float = ALPHA) -> list[Finding]:
    """The guidelines that a run's records show to be violated, each group of ranks and each MPI by itself.

    Parameters
    ----------
    records
        Of a plan whose cells end together, so that they hold their blocks. `params["ranks"]` is the number of ranks.
    """
    groups: dict[tuple[str, str, int], list[Record]] = {}
    for record in records:
        ranks = record.params.get("ranks")
        if record.params.get("pattern") == PATTERN and isinstance(ranks, int):
            groups.setdefault((record.subject, str(record.params.get("mpi", "")), ranks), []).append(record)
    return [
        finding
        for (subject, _, ranks), group in groups.items()
        if ranks > 1
        for finding in violated(subject, times_of(group), ranks, alpha)
    ]
