"""MPI over whole sets of nodes and sizes: all collectives, all pairs, one-sided transfers, the sweep over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wulf.cluster.inventory import Inventory
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import MPI, Pattern, Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.mpi.guidelines import ALPHA, FLOAT, METRIC, guideline_cells, hold, least_blocks, times_of, violations
from wulf.measure.mpi.pairs import pair_records
from wulf.measure.mpi.probes import mpi_probe
from wulf.stats.stopping import LOOKS
from wulf.store.run import RunWriter, read_run, utc_now
from wulf.workflow.engine.measuring import Effort, Outcome
from wulf.workflow.engine.sweep import Sweep, first_sizes
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import Ranks, campaign

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


def collectives(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    sizes: Sequence[int] = SIZES,
    ops: Sequence[str] = (),
    params: Mapping[str, Param] | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Every collective operation at every size, each block holding all, so that guidelines are checked in pairs.

    Parameters
    ----------
    ops
        These alone; empty: all.
    params
        Of every cell: seconds, start.
    """
    given = params or {}
    most = launch.ranks(len(inventory.nodes))

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        return collective_cells(ranks, probe, sizes, ops, given)

    def judge(records: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        return [], guideline_findings(records)

    return campaign(
        inventory, launch, told_apart(effort, most, sizes, ops), writer, seed,
        make=make, needs=mpi_probe().pattern(COLLECTIVE), together=True, judge=judge, watch=watch,
    )  # fmt: skip


def collective_cells(
    ranks: Ranks, probe: Probe, sizes: Sequence[int], ops: Sequence[str], given: Mapping[str, Param]
) -> list[Cell]:
    """Each operation at each size, and what the guidelines need beside."""
    asked = collective_params(probe, sizes, ops, given)
    more = [] if ops else guideline_cells(len(ranks.places), _compared(sizes))
    wanted = {(cell["op"], cell["bytes"]): {**given, **cell} for cell in [*asked, *more]}
    return [ranks.cell(i, probe, COLLECTIVE, one, COLLECTIVES) for i, one in enumerate(wanted.values())]


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


def onesided(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    sizes: Sequence[int] = SIZES,
    params: Mapping[str, Param] | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Put and get with every way of synchronising, at every size, between the first rank and the last."""

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        cells: list[Cell] = []
        for name in ONESIDED:
            for sync in choices(probe.pattern(name), "sync"):
                for size in sizes:
                    given = {**(params or {}), "sync": sync, "bytes": size}
                    cells.append(ranks.cell(len(cells), probe, name, given, "onesided"))
        return cells

    needs = mpi_probe().pattern(ONESIDED[0])
    return campaign(inventory, launch, effort, writer, seed, make=make, needs=needs, watch=watch)


def pairs(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    params: Mapping[str, Param] | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """The round trip of all pairs of nodes within one launch: rounds of disjoint pairs of ranks.

    One launch serves all pairs, where `wulf net pairs` needs a conversation by ssh for every pair.
    """
    found: list[Ranks] = []

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        found.append(ranks)
        return [ranks.cell(0, probe, "pairs", params or {}, "whole")]

    def judge(_: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        run = read_run(writer.path)
        plan = Plan.from_json(run.plan)
        if not found or not plan.cells:
            return [], []
        cell, places = plan.cells[0], found[0].places
        return pair_records(cell, run.replicates, places, plan, run.id, at=utc_now()), []

    needs = mpi_probe().pattern("pairs")
    return campaign(inventory, launch, effort, writer, seed, make=make, needs=needs, judge=judge, watch=watch)


def sweep(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    most: int,
    params: Mapping[str, Param] | None = None,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """MPI's ping-pong over sizes 1 B … `most`, closer where it bends, as `workflow.engine.sweep` does it.

    Where it bends, the MPI most often goes over from sending at once (eager) to asking first (rendezvous).
    """
    pattern = mpi_probe().pattern("pingpong")
    under_way = Sweep(Cell(0, "", "", "", pattern.name, {}, pattern.metrics, "sweep", program=MPI), effort.width)

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        under_way.cell = ranks.cell(0, probe, pattern.name, {**(params or {}), "bytes": most}, "sweep")
        return under_way.cells(first_sizes(most))

    def judge(records: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        more, findings = under_way.judge(records)
        return more, [_with_protocols(finding) if finding.kind == "curve" else finding for finding in findings]

    return campaign(
        inventory, launch, effort, writer, seed,
        make=make, needs=pattern, extend=under_way.extend, judge=judge, watch=watch,
    )  # fmt: skip


def _with_protocols(finding: Finding) -> Finding:
    """What a bend of MPI's most often is."""
    if "It bends" not in finding.text:
        return finding
    words = " Where MPI's line bends, it most often goes over from the eager to the rendezvous protocol."
    return finding.model_copy(update={"text": finding.text + words})
