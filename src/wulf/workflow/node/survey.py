"""`wulf node`: every node's own figures, lmbench's table and more, with intervals; and which node deviates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from wulf.cluster.inventory import Inventory
from wulf.core.errors import UsageError
from wulf.core.findings import Finding
from wulf.core.records import Param, Record
from wulf.findings.foreseen import foreseen
from wulf.findings.node.deviating import classes_of, node_findings
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import AGENT, NET, NODE, Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.node.cells import Lack, TableRequest, cells_of
from wulf.measure.node.cost import fitted, longer_within, most_seconds
from wulf.measure.node.derived import derived_records, lacking_records
from wulf.measure.node.rows import GROUPS, table
from wulf.measure.node.shape import shape_of
from wulf.store.run import Facts, RunWriter
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.measuring import Effort, Outcome, measure, write_html

LOOKS = (8, 11)
"""Replicates of every cell: hundreds of figures wait for no single one, so that the time is known beforehand."""

FULL_SECONDS, QUICK_SECONDS = 180.0, 30.0
"""What one node at rest may take, connecting included."""

PLANNED = 0.9
"""Share of that time that the plan fills by its own arithmetic. No clock cuts it off: a loaded node takes longer and
has all its figures, rather than too few replicates of each."""


@dataclass
class _Seen:
    """What is known once the nodes have answered, for the judge."""

    run: str
    fingerprint: dict[str, Facts] = field(default_factory=dict)
    lacks: list[Lack] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)


def groups_of(text: str | None) -> frozenset[str]:
    """The groups of `--only cpu,memory`; empty where all are wanted.

    Raises
    ------
    UsageError
        One is none.
    """
    names = [part.strip() for part in (text or "").split(",") if part.strip()]
    for name in names:
        if name not in GROUPS:
            raise UsageError(f"--only {name!r} is no group", f"groups: {', '.join(GROUPS)}")
    return frozenset(names)


def rows_named(names: Collection[str]) -> frozenset[str]:
    """The names of rows.

    Raises
    ------
    UsageError
        There is no such row.
    """
    known = table().by_name
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise UsageError(f"no row is named {name!r}", f"the nearest is {near[0]}" if near else "wulf node --list")
    return frozenset(names)


def survey_cells(
    connected: Connected, probe: Probe, asked: TableRequest, replicates: int
) -> tuple[tuple[Cell, ...], list[Lack]]:
    """The cells of all nodes that answered, and the rows that they lack."""
    nodes = list(connected.sessions)
    probes = {NET: probe, **connected.probes}
    seconds = PLANNED * (QUICK_SECONDS if asked.quick else FULL_SECONDS)
    shapes, known = {}, {}
    for node in nodes:
        shape = shape_of(connected.fingerprint.get(node, {}), quick=asked.quick)
        if str(shape) not in known:
            known[str(shape)] = fitted(shape, probes, asked, replicates, seconds)
        shapes[node] = known[str(shape)]
    if _promised(connected, asked):  # the same on all nodes, whose figures are compared
        room = [longer_within(shape, probes, asked, replicates, seconds) for shape in known.values()]
        asked = replace(asked, longer=min(room, default=1.0))
    without = {program: _why_not(connected, program) for program in (NODE, AGENT)}
    return cells_of(nodes, shapes, probes, asked, place=connected.placed, without=without)


def _promised(connected: Connected, asked: TableRequest) -> bool:
    """Whether the time that is left of a quick run is to be measured in: of the whole table, one node at a time."""
    shared = len(set(connected.hosts.values())) < len(connected.hosts)
    return asked.quick and not (asked.groups or asked.names or shared)


def _why_not(connected: Connected, program: str) -> dict[str, str]:
    """Nodes that measure without a program, and why."""
    opened, refused = connected.others.get(program, {}), connected.refused.get(program, {})
    return {
        node: f"wulf-{program} could not be started{f': {refused[node].what}' if node in refused else ''}"
        for node in connected.sessions
        if node not in opened
    }


def node_survey(
    inventory: Inventory,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    only: str | None = None,
    names: Collection[str] = (),
    report: bool = True,
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure every node's own figures, all nodes at once where they are machines of their own; report included.

    Parameters
    ----------
    only
        Groups, apart by commas; None: all.
    names
        These rows alone; empty: all.
    report
        Whether to write the HTML report.
    """
    asked = TableRequest(groups_of(only), effort.quick, rows_named(names))
    chosen = replace(effort, patience=LOOKS)
    seen = _Seen(writer.id)

    def cells(connected: Connected, probe: Probe) -> tuple[Cell, ...]:
        seen.fingerprint, seen.nodes = connected.fingerprint, list(connected.sessions)
        made, seen.lacks = survey_cells(connected, probe, asked, chosen.looks[-1])
        seconds = most_seconds(made, connected.hosts, chosen.looks[-1])
        on = "one node" if len(seen.nodes) == 1 else f"{len(seen.nodes):,} nodes"
        watch.say(f"{len(made):,} cells on {on}, at most {seconds:.0f} s")
        if len(seen.nodes) > 1:
            kinds, rows = classes_of(seen.nodes, seen.fingerprint), len(_wanted(asked))
            watch.say(foreseen(kinds, chosen.looks[-1], rows, chosen.margin))
        return made

    def judge(records: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        more = derived_records(records, seen.fingerprint, writer.id)
        more += lacking_records([*records, *more], seen.lacks, _wanted(asked), seen.nodes, writer.id)
        return more, node_findings([*records, *more], seen.fingerprint, chosen.margin)

    outcome = measure(inventory, cells, chosen, writer, seed, judge=judge, programs=_programs(asked), watch=watch)
    if report:
        write_html(outcome.run)
    return outcome


def _programs(asked: TableRequest) -> tuple[str, ...]:
    """What to open beside wulf-net: the agent only where a row of its is wanted."""
    return (NODE, *{AGENT for row in table().rows if row.program == AGENT and asked.wants(row)})


def _wanted(asked: TableRequest) -> list[str]:
    return [row.name for row in table().rows if asked.wants(row)]


def single(
    inventory: Inventory,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    probe: Probe,
    name: str,
    params: dict[str, Param],
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure one probe of wulf-node on every node, its parameters validated before any node is touched."""
    checked = probe.check(name, "", params)
    metrics = probe.pattern(name).metrics

    def cells(connected: Connected, _: Probe) -> tuple[Cell, ...]:
        return tuple(
            Cell(number, node, node, "", name, checked, metrics, program=NODE)
            for number, node in enumerate(connected.others.get(NODE, {}))
        )

    return measure(inventory, cells, effort, writer, seed, programs=(NODE,), watch=watch)
