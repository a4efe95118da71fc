"""What a table of a tuning experiment can't tell, whatever its figures are: it follows from its design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.core.names import plural
from wulf.stats.designs import signed_sum
from wulf.stats.effects import analyse
from wulf.stats.samples import Floats
from wulf.tune.table.arms import NONE, Settings, SettingTable
from wulf.tune.table.effects import TableAnalysis

MOST_NAMED = 4

ALIASED = 0.999
"""Share of the time that the arms explain from which a trend can't be told from them."""

UNEQUAL = 1.5
"""Ratio of numbers of measurements that is worth a sentence."""


@dataclass(frozen=True)
class Limit:
    """What can't be told: `kind` for programs, a sentence for people."""

    kind: str
    text: str


def design_name(table: SettingTable) -> str:
    """What kind of experiment it is."""
    together = [arm for arm in table.arms if len(arm) > 1]
    k, free = len(table.factors), not table.exclusive
    if table.baseline is None:
        return "configurations without a baseline"
    if not together:
        return "one setting at a time" if k > 1 else "one setting, off and on"
    if free and len(table.arms) == 2**k:
        return "full factorial"
    singles = sum(len(arm) == 1 for arm in table.arms)
    return f"one setting at a time, and {plural(len(together), 'combination')}" if singles == k else "combinations"


def limits(table: SettingTable, found: TableAnalysis) -> list[Limit]:
    """All that this design can't tell, what matters most first."""
    return [
        *_baseline(table, found), *_interactions(table, found), *_order(table), *_replication(table), *_aliases(found),
        *_samples(table), *_numbers(table),
    ]  # fmt: skip


def _baseline(table: SettingTable, found: TableAnalysis) -> Iterator[Limit]:
    """Whatever all effects hang on."""
    base = table.baseline
    if base is None:
        yield Limit(
            "baseline",
            "No line has everything off: what a setting does to the system as it was isn't seen. Measure it as it was.",
        )
        return
    same = all(one.effect and one.alone and one.effect.compared == one.alone.compared for one in found.settings)
    if same and len(table.arms) > 2 and not table.blocks:
        measured = "a mean" if base.n is None else plural(base.n, "measurement")
        yield Limit(
            "baseline",
            f"Every effect is held against the same baseline ({measured}): were it off by chance, all effects would "
            "be off together, one way. No arm in which nothing was changed (A/A) stands beside it to show that.",
        )
    beside = [one.name for one in found.settings if one.alone is None and one.effect is not None]
    if beside:
        yield Limit("alone", f"{_named(beside)} never measured alone: the effect is the one beside what else was on.")


def _interactions(table: SettingTable, found: TableAnalysis) -> Iterator[Limit]:
    """Pairs that were never both off, each alone, and both on."""
    pairs, unseen = plural(len(table.pairs), "pair"), [f"{a} × {b}" for a, b in found.unseen]
    together = [arm for arm in table.arms if len(arm) > 1]
    if not unseen:
        return
    if not together:
        yield Limit(
            "interactions",
            f"One setting at a time sees no interaction: of {pairs} none was measured together, and what two settings "
            "do together may be more or less than the product of what each does alone. Measure all of them together at "
            "least; `wulf tune` measures each alone, all but each, and all.",
        )
        return
    told = "none can" if len(unseen) == len(table.pairs) else f"{len(unseen)} can't"
    yield Limit(
        "interactions",
        f"Of {pairs} {told} be told ({_few(unseen)}): an interaction of two "
        "needs both off, each alone and both on, whatever else is on in all four.",
    )
    if any(len(arm) > 2 for arm in together):
        yield Limit(
            "which",
            "Where more than two are on together and it is not the product of their effects, the table doesn't say "
            "which of them interact.",
        )


def _order(table: SettingTable) -> Iterator[Limit]:
    """Whatever drifted meanwhile is in the effects, unless there are blocks; how much of it, the order says."""
    times = _times(table)
    if table.blocks:
        if times is not None and _alike(table):
            yield Limit(
                "trend",
                "The order is the same in every block: blocks take out what drifts from one to the next, and what "
                "drifts within each is in the effects. Draw the order anew for each.",
            )
        return
    if times is None:
        yield Limit(
            "order",
            "The table says neither in which order nor in which blocks it was measured: whatever drifted meanwhile "
            "(load, temperature, others' traffic) is in the effects, and can't be told from them.",
        )
        return
    share = _explained(table, *times)
    if share >= ALIASED:
        yield Limit(
            "trend",
            "The order goes with the settings: a trend over time is aliased with them, and no figure here tells one "
            "from the other. Measure in random order within blocks.",
        )
        return
    yield Limit(
        "trend",
        f"Not in blocks: {100 * share:.0f} % of the order goes with the settings, and as much of a trend is in their "
        f"effects{_drifted(table, times[1])}.",
    )


def _alike(table: SettingTable) -> bool:
    """Whether all blocks have their arms in the same order."""
    blocks: dict[str | None, list[Settings]] = {}
    for row in sorted(table.rows, key=lambda row: row.order or 0.0):
        blocks.setdefault(row.block, []).append(row.arm)
    return len({tuple(arms) for arms in blocks.values()}) == 1


def _times(table: SettingTable) -> tuple[list[Settings], Floats] | None:
    """Arms in the order measured, and when; None where it isn't known of all."""
    if table.rows:
        known = [(row.arm, row.order) for row in table.rows if row.order is not None]
        whole = len(known) == len(table.rows)
    else:
        known = list(table.places.items())
        whole = len(known) == len(table.arms)
    if not whole or len({at for _, at in known}) < 2:
        return None
    return [arm for arm, _ in known], np.array([at for _, at in known], dtype=float)


def _explained(table: SettingTable, arms: Sequence[Settings], at: Floats) -> float:
    """Share of the time's variance that the arms explain; 1: any trend could as well be theirs."""
    means = {one: float(at[[arm == one for arm in arms]].mean()) for one in table.arms}
    left = at - np.array([means[arm] for arm in arms])
    return 1 - float(left @ left) / float(np.sum((at - at.mean()) ** 2))


def _drifted(table: SettingTable, at: Floats) -> str:
    """`. From first to last it drifted by × 1.1 (0.9 … 1.3)`, fitted beside the effects; empty where it can't be."""
    levels = [[1 if one in row.arm else -1 for one in table.factors] for row in table.rows]
    try:
        drift = analyse(table.factors, levels, [row.value for row in table.rows], times=at).drift
    except ValueError:  # the settings can't be told apart, which is said for itself
        return ""
    if drift is None or drift.low is None or drift.high is None:
        return ""
    return f". From first to last it drifted by × {drift.value:.3f} ({drift.low:.3f} … {drift.high:.3f})"


def _replication(table: SettingTable) -> Iterator[Limit]:
    """Arms without an interval."""
    once = [table.name(arm) for arm, one in table.arms.items() if one.n == 1]
    unsaid = [table.name(arm) for arm, one in table.arms.items() if one.n != 1 and (one.n is None or not one.deviation)]
    no = "there is no interval, and no effect is told from noise."
    if once:
        yield Limit("replication", f"{_named(once)} measured once: without replicates {no}")
    if unsaid:
        yield Limit("replication", f"{_named(unsaid)} given without deviation and number: {no}")


def _aliases(found: TableAnalysis) -> Iterator[Limit]:
    for names in found.aliased:
        terms = ", ".join(name.lstrip("−") for name in names)
        yield Limit("aliased", f"Of {terms} the sum alone is seen: {signed_sum(names)}.")
    lost = [one.name for one in found.settings if one.effect is None]
    if lost:
        yield Limit("inseparable", f"Of {_few(lost)} no effect can be told: no arms differ in it by itself.")


def _samples(table: SettingTable) -> Iterator[Limit]:
    """What means hide."""
    if not table.rows:
        yield Limit(
            "means",
            "Means and deviations hide how measurements were spread: outliers, jumps, and whether each depends on the "
            "one before. Where an arm's were taken in one go, what differs from one start to the next isn't in its "
            "deviation, and intervals are too narrow.",
        )


def _numbers(table: SettingTable) -> Iterator[Limit]:
    numbers = [one.n for one in table.arms.values() if one.n is not None]
    if numbers and max(numbers) >= UNEQUAL * min(numbers):
        base = table.baseline
        beside = f", '{NONE}' {base.n}" if base is not None and base.n is not None else ""
        yield Limit(
            "unequal",
            f"Arms have {min(numbers)} to {max(numbers)} measurements{beside}: an effect may be seen in one and not in "
            "another, and 'no detectable effect' says less of an arm with few.",
        )


def _named(names: Sequence[str]) -> str:
    """`a, b were`, `a was`."""
    return f"{_few(names)} {'was' if len(names) == 1 else 'were'}"


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MOST_NAMED])} and {more} more"
