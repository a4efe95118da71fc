"""MPI over whole sets of nodes and sizes: all collectives, all pairs, one-sided transfers, the sweep over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Pattern, Probe
from wulf.measure.mpi.guidelines import ALPHA, FLOAT, METRIC, guideline_cells, hold, least_blocks, times_of, violations
from wulf.measure.mpi.pairs import pair_records
from wulf.stats.stopping import LOOKS
from wulf.store.run import read_run, utc_now
from wulf.workflow.engine.curve import Curve, patient
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Conditions, Judgement
from wulf.workflow.engine.sweep import Sweep, first_sizes
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import Ranks, RanksStudy

COLLECTIVE, BARRIER = "collective", "barrier"

COLLECTIVES = "collectives"
"""Phase of the cells that are held against each other."""

ONESIDED = ("put", "get")

SIZES = (8, 1024, 65536)
"""Of a latency, between, and of a bandwidth [B]."""


def choices(pattern: Pattern, name: str) -> tuple[str, ...]:
    """What a parameter may be.

    Raises
    ------
    UsageError
        The probe has no such choice.
    """
    for spec in pattern.params:
        if spec.name == name and spec.choices:
            return spec.choices
    raise UsageError(f"{pattern.name} has no choice of {name}", "wulf and wulf-mpi are of different versions")


def collective_params(
    probe: Probe, sizes: Sequence[int], ops: Sequence[str], params: Mapping[str, Param]
) -> list[dict[str, Param]]:
    """The parameters of every operation at every size; a barrier has none.

    Raises
    ------
    UsageError
        There is no such operation.
    """
    known = choices(probe.pattern(COLLECTIVE), "op")
    strange = [op for op in ops if op not in known]
    if strange:
        raise UsageError(f"--ops {', '.join(strange)}: no such collective", f"there are {', '.join(known)}")
    parts = [size for size in sizes if size % FLOAT]
    if parts:
        raise UsageError(f"--sizes {parts[0]}: sums are of numbers of {FLOAT} B", f"give multiples of {FLOAT}")
    found: list[dict[str, Param]] = []
    for op in ops or known:
        found += [{**params, "op": op, "bytes": size} for size in (sizes if op != BARRIER else (0,))]
    return found


class Collectives(RanksStudy):
    """Every collective operation at every size, each block holding all, so that guidelines are checked in pairs.

    Parameters
    ----------
    ops
        These alone; empty: all.
    params
        Of every cell: seconds, start.
    """

    together = True

    def __init__(
        self,
        given: Conditions,
        launch: Launch,
        *,
        sizes: Sequence[int] = SIZES,
        ops: Sequence[str] = (),
        params: Mapping[str, Param] | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        super().__init__(given, launch, COLLECTIVE, ranks)
        self.effort = told_apart(given.effort, launch.ranks(len(given.inventory.nodes)), sizes, ops)
        self._sizes, self._ops, self._params = sizes, ops, params or {}

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """Each operation at each size, and what the guidelines need beside."""
        asked = collective_params(probe, self._sizes, self._ops, self._params)
        more = [] if self._ops else guideline_cells(len(self.ranks.places), _compared(self._sizes))
        wanted = {(cell["op"], cell["bytes"]): {**self._params, **cell} for cell in [*asked, *more]}
        return [self.ranks.cell(i, probe, COLLECTIVE, one, COLLECTIVES) for i, one in enumerate(wanted.values())]

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """Which guidelines are violated."""
        return [], guideline_findings(records)


def _compared(sizes: Sequence[int]) -> list[int]:
    return [size for size in sizes if size > 0 and size % FLOAT == 0]


def told_apart(effort: Effort, ranks: int, sizes: Sequence[int], ops: Sequence[str]) -> Effort:
    """The effort with as many blocks as it takes to tell that one guideline of all is violated."""
    compared = _compared(sizes)
    if ops or ranks < 2 or not compared:
        return effort
    sizes_of_all = {int(cell["bytes"] or 0) for cell in guideline_cells(ranks, compared)}
    return replace(effort, patience=looks_for(least_blocks(ranks, sizes_of_all)))


def looks_for(least: int) -> tuple[int, ...]:
    """The looks from which on a violated guideline can be told from chance; the others stop too early."""
    return tuple(look for look in LOOKS if look >= least) or (least,)


def guideline_findings(records: Sequence[Record]) -> list[Finding]:
    """The guidelines that are violated, or that none was seen to be; nothing where none could be told at all."""
    found = violations(records)
    if found:
        return found
    ranks = max((int(record.params.get("ranks") or 0) for record in records), default=0)
    held = hold(times_of(records), ranks) if ranks > 1 else []
    blocks = min((record.replicates for record in records if record.metric == METRIC), default=0)
    if not held:
        return []
    if 2.0**-blocks * len(held) > ALPHA:
        text = f"{blocks} replicates are too few to tell whether one of {len(held)} guidelines is violated."
    else:
        text = f"None of {len(held)} guidelines is seen to be violated (such as Allreduce ≤ Reduce + Bcast)."
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]


class Onesided(RanksStudy):
    """Put and get with every way of synchronising, at every size, between the first rank and the last."""

    def __init__(
        self,
        given: Conditions,
        launch: Launch,
        sizes: Sequence[int] = SIZES,
        params: Mapping[str, Param] | None = None,
    ) -> None:
        super().__init__(given, launch, ONESIDED[0])
        self._sizes, self._params = sizes, params or {}

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """Every way at every size."""
        wanted = [
            (name, {**self._params, "sync": sync, "bytes": size})
            for name in ONESIDED
            for sync in choices(probe.pattern(name), "sync")
            for size in self._sizes
        ]
        return [self.ranks.cell(i, probe, name, params, "onesided") for i, (name, params) in enumerate(wanted)]


class Pairs(RanksStudy):
    """The round trip of all pairs of nodes within one launch: rounds of disjoint pairs of ranks.

    One launch serves all pairs, where `wulf net pairs` needs a conversation by ssh for every pair.
    """

    def __init__(self, given: Conditions, launch: Launch, params: Mapping[str, Param] | None = None) -> None:
        super().__init__(given, launch, "pairs")
        self._params = params or {}

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """One cell: the probe itself goes over all pairs."""
        return [self.ranks.cell(0, probe, "pairs", self._params, "whole")]

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """Each pair's record."""
        run = read_run(self.given.writer.path)
        plan = Plan.from_json(run.plan)
        if not plan.cells or not self.ranks.places:
            return [], []
        return pair_records(plan.cells[0], run.replicates, self.ranks.places, plan, run.id, at=utc_now()), []


class SizeSweep(RanksStudy):
    """MPI's ping-pong over sizes 1 B … `most`, closer where it bends, as `workflow.engine.sweep` does it.

    Where it bends, the MPI most often goes over from sending at once (eager) to asking first (rendezvous).
    """

    def __init__(self, given: Conditions, launch: Launch, most: int, params: Mapping[str, Param] | None = None) -> None:
        super().__init__(given, launch, "pingpong")
        self._most, self._params = most, {**(params or {}), "bytes": most}
        self._sweep: Sweep | None = None

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """The first sizes."""
        cell = self.ranks.cell(0, probe, self.needs.name, self._params, "sweep")
        self._sweep = Sweep(cell, self.effort.width)
        return self._sweep.cells(first_sizes(self._most))

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """Where the curve bends."""
        return self._sweep.extend(records, first) if self._sweep else ()

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """The lines."""
        more, findings = self._sweep.judge(records) if self._sweep else ([], [])
        return more, [_with_protocols(finding) if finding.kind == "curve" else finding for finding in findings]


class StreamCurve(RanksStudy):
    """MPI's throughput over sizes, one way and both, blocking and not; what stands out is then proven in blocks."""

    def __init__(
        self, given: Conditions, launch: Launch, curve: Curve, params: Mapping[str, Param] | None = None
    ) -> None:
        super().__init__(given, launch, "stream")
        self.effort = patient(given.effort)
        self._curve, self._params = curve, params or {}

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """All sizes in all ways."""
        return self._curve.cells(self.ranks.cell(0, probe, self.needs.name, self._params))

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """What is to be proven, in blocks that hold each of it."""
        self.together = True
        return self._curve.extend(records, self.effort)

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """The curves, and what they cost the hosts."""
        return self._curve.judge(records, self.effort, self.given.writer)


def _with_protocols(finding: Finding) -> Finding:
    """What a bend of MPI's most often is."""
    if "It bends" not in finding.text:
        return finding
    words = " Where MPI's line bends, it most often goes over from the eager to the rendezvous protocol."
    return finding.model_copy(update={"text": finding.text + words})
