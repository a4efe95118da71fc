"""Comparing: two configurations within a run, or two runs cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

from wulf.agent.facts import is_uniform
from wulf.core.errors import FOUND, INCOMPLETE, OK, UsageError
from wulf.core.records import Record, Verdict
from wulf.measure.engine.probes import MPI
from wulf.measure.mpi.probes import SHARED
from wulf.measure.pooling import NodeChange, is_link, node_changes
from wulf.stats.comparison import DELTA, Comparison, Judgement, benjamini_hochberg, compare_samples, holm
from wulf.store.run import Facts, Run

ALPHA = 0.05
"""Two-sided error of the claims of one comparison, all cells together."""

SCREENING = 0.1
"""Share of false alarms among the cells that are worth a second look."""

GRAVEST_FIRST = (Judgement.SLOWER, Judgement.FASTER, Judgement.INCONCLUSIVE, Judgement.EQUIVALENT)

ONE_LAUNCH = "each run is one launch of MPI, and launches differ by themselves: measure both with `--launch blocks`"
"""Of replicates that share a launch: however many there are, they are one unit."""

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class CellComparison:
    """One cell of two runs.

    Attributes
    ----------
    a, b
        Its records.
    comparison
        B against A, by itself.
    claimed
        p corrected for all cells (Holm): a difference is claimed where it is at most 5 %.
    screened
        The share of false alarms among all cells at least as clear (Benjamini-Hochberg); None without samples.
    """

    a: Record
    b: Record
    comparison: Comparison
    claimed: float
    screened: float

    @property
    def judgement(self) -> Judgement:
        """Equivalent stays so; a difference has to stand the correction for all cells."""
        own = self.comparison.judgement
        if self.comparison.changed and self.claimed > ALPHA:
            return Judgement.INCONCLUSIVE
        return own

    @property
    def suspect(self) -> bool:
        """Not claimed, but worth a second look."""
        return self.judgement is Judgement.INCONCLUSIVE and self.comparison.changed and self.screened <= SCREENING


@dataclass(frozen=True)
class FactChange:
    """A fact of a node that is not the same in both runs."""

    node: str
    fact: str
    a: Any
    b: Any


@dataclass(frozen=True)
class RunComparison:
    """Two runs.

    Attributes
    ----------
    cells
        Those that both have, slower ones first.
    only_a, only_b
        How many cells only one of them has, or has no samples of in the other.
    facts
        What differs between the nodes then and the nodes now.
    nodes
        Nodes whose links changed together; only where samples are too few to claim anything of a cell by itself, so
        that the errors of both kinds of claims never add up.
    """

    a: Run
    b: Run
    cells: list[CellComparison]
    only_a: int
    only_b: int
    facts: list[FactChange]
    nodes: list[NodeChange] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """1 when something got slower, 3 when nothing could be compared, else 0."""
        if not self.cells:
            return INCOMPLETE
        judgements = [*(cell.judgement for cell in self.cells), *(node.judgement for node in self.nodes)]
        return FOUND if Judgement.SLOWER in judgements else OK

    @property
    def unprovable(self) -> str:
        """Why no difference could be claimed, however great, where samples are too few for so many cells; else empty.

        Of n samples against m the rank-sum test's p is never below 2/C(n+m, n), which Holm multiplies by the cells.
        """
        sizes = [(len(cell.a.samples), len(cell.b.samples)) for cell in self.cells]
        if not sizes or any(2 / comb(n + m, n) * len(sizes) <= ALPHA for n, m in sizes):
            return ""
        n, m = max(sizes)
        pooled = "; all links of a node are compared together" if any(is_link(cell.a) for cell in self.cells) else ""
        return (
            f"No difference of one cell could be claimed, however great: {n} samples against {m} are too few for "
            f"{len(sizes)} cells{pooled}. Measure both runs without --quick, or fewer cells."
        )


def _key(record: Record) -> Key:
    phase = record.phase
    return record.subject, record.probe, record.metric, phase, str(sorted(record.params.items(), key=str))


def _primary(run: Run) -> dict[Key, tuple[Record, bool]]:
    """The primary records of a run that have samples, and whether lower is better."""
    better: dict[str, str] = {}
    primary: set[str] = set()
    for cell in run.plan.get("cells", []):
        for metric in cell["metrics"]:
            better[metric["name"]] = metric.get("better", "lower")
        primary.add(cell["metrics"][0]["name"])
    return {
        _key(record): (record, better[record.metric] == "lower")
        for record in run.records
        if record.metric in primary and record.samples and record.verdict is not Verdict.FAILED
    }


def changed_facts(a: Mapping[str, Facts], b: Mapping[str, Facts]) -> list[FactChange]:
    """Facts that differ on the nodes that both have, of those that nodes of one run should agree on.

    A fact that one of the two does not know is no difference.
    """
    changes = []
    for node in sorted(set(a) & set(b)):
        for fact in sorted(set(a[node]) & set(b[node])):
            values = [facts[node][fact] for facts in (a, b)]
            known = all(value.get("value") is not None or value.get("absent") for value in values)
            first, second = (value.get("value") for value in values)
            if known and first != second and is_uniform(fact):
                changes.append(FactChange(node, fact, first, second))
    return changes


def compare_runs(a: Run, b: Run, *, delta: float = DELTA) -> RunComparison:
    """Compare the cells that two runs have in common.

    The runs were measured one after the other, so that a difference between them may be one of time, or of any fact
    that changed: it is a finding, not yet an effect.

    Parameters
    ----------
    delta
        What counts as no difference.

    Raises
    ------
    UsageError
        They have no cell in common.
    """
    first, second = _primary(a), _primary(b)
    both = [key for key in first if key in second]
    if not both:
        raise UsageError(
            f"{a.id} and {b.id} have no cell in common", "compare runs of the same command over the same nodes"
        )
    found = [_compared(first[key][0], second[key][0], delta, len(both), lower_is_better=first[key][1]) for key in both]
    p_values = [comparison.p if comparison.p is not None else 1.0 for comparison in found]
    cells = [
        CellComparison(first[key][0], second[key][0], comparison, claimed, screened)
        for key, comparison, claimed, screened in zip(
            both, found, holm(p_values), benjamini_hochberg(p_values), strict=True
        )
    ]
    cells.sort(key=lambda cell: (GRAVEST_FIRST.index(cell.judgement), not cell.suspect, cell.claimed))
    facts = changed_facts(a.fingerprint, b.fingerprint)
    found_alone = RunComparison(a, b, cells, len(first) - len(both), len(second) - len(both), facts)
    if not found_alone.unprovable:
        return found_alone
    links = [(first[key][0], second[key][0], first[key][1]) for key in both]
    return replace(found_alone, nodes=node_changes(links, alpha=ALPHA, delta=delta))


def _compared(a: Record, b: Record, delta: float, among: int, *, lower_is_better: bool) -> Comparison:
    """B against A, one of `among` cells; no claim where neither run holds what changes from launch to launch."""
    found = compare_samples(
        a.samples, b.samples, alpha=ALPHA, delta=delta, lower_is_better=lower_is_better, among=among
    )
    if a.probe != MPI or a.params.get("launch") != SHARED:
        return found
    return replace(
        found, judgement=Judgement.INCONCLUSIVE, low=None, high=None, p=None, least_visible=None, reason=ONE_LAUNCH
    )


def percent(ratio: float | None) -> str:
    """A ratio as people say it: +2.1 %."""
    return "–" if ratio is None else f"{ratio - 1:+.2%}"


def sentence(comparison: Comparison) -> str:
    """A comparison in plain words."""
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return f"B against A: no verdict: {comparison.reason}."
    interval = f"{percent(comparison.low)} to {percent(comparison.high)}"
    told = f"B / A is {percent(comparison.ratio)} ({interval}) over {comparison.n} pairs"
    match comparison.judgement:
        case Judgement.EQUIVALENT:
            return f"A and B are equivalent within ±{comparison.delta:.1%}: {told}."
        case Judgement.INCONCLUSIVE:
            seen = f"; a difference of {comparison.least_visible or 0:.1%} would have been seen"
            shown = "No difference is shown"
            if not comparison.low <= 1 <= comparison.high:
                shown = f"A and B differ, but not by more than {comparison.delta:.1%} for sure"
            return f"{shown}: {told}{seen if comparison.least_visible else ''}."
        case _:
            return f"B is {comparison.judgement}: {told}."
