"""`wulf node`: every node's own figures, lmbench's table and more, with intervals; and which node deviates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.core.records import Param, Record
from wulf.findings.foreseen import foreseen
from wulf.findings.node.deviating import classes_of, node_findings
from wulf.findings.node.fleet import fleet_findings
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import AGENT, NET, NODE, Probe
from wulf.measure.node.cells import Lack, TableRequest, cells_of
from wulf.measure.node.cost import Turn, fitted, longer_within, most_seconds
from wulf.measure.node.derived import derived_records, lacking_records
from wulf.measure.node.rows import GROUPS, table
from wulf.measure.node.shape import shape_of
from wulf.store.run import Facts
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.node.fleet import fleet_of

LOOKS = (8, 11)
"""Replicates of every cell: hundreds of figures wait for no single one, so that the time is known beforehand."""

FULL_SECONDS, QUICK_SECONDS = 180.0, 30.0
"""What one node at rest may take, connecting included."""

PLANNED = 0.93
"""Share of that time that the plan fills by its own arithmetic. No clock cuts it off: a loaded node takes longer and
has all its figures, rather than too few replicates of each."""


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
    turn = Turn(replicates, seconds, alone=len(nodes) == 1)
    shapes, known = {}, {}
    for node in nodes:
        shape = shape_of(connected.fingerprint.get(node, {}), quick=asked.quick)
        if str(shape) not in known:
            known[str(shape)] = fitted(shape, probes, asked, turn)
        shapes[node] = known[str(shape)]
    if _promised(connected, asked):  # the same on all nodes, whose figures are compared
        room = [longer_within(shape, probes, asked, turn) for shape in known.values()]
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


class NodeSurvey(Study):
    """Every node's own figures, all nodes at once where they are machines of their own.

    Parameters
    ----------
    only
        Groups, apart by commas; None: all.
    names
        These rows alone; empty: all.
    page
        Whether the run gets its page.
    fleet
        The state of a sentry, whose figures of nodes of the same hardware these are held against.
    """

    def __init__(
        self, given: Conditions, *, only: str | None = None, names: Collection[str] = (), page: bool = True,
        fleet: Path | None = None,
    ) -> None:  # fmt: skip
        super().__init__(given)
        self.effort = replace(given.effort, patience=LOOKS)
        self.page, self._fleet = page, fleet
        self._asked = TableRequest(groups_of(only), given.effort.quick, rows_named(names))
        self.programs = _programs(self._asked)
        self._fingerprint: Mapping[str, Facts] = {}
        self._nodes: list[str] = []
        self._lacks: list[Lack] = []

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The rows that each node can be measured by."""
        self._fingerprint, self._nodes = connected.fingerprint, list(connected.sessions)
        looks, nodes, say = self.effort.looks, self._nodes, self.given.watch.say
        made, self._lacks = survey_cells(connected, probe, self._asked, looks[-1])
        seconds = most_seconds(made, connected.hosts, looks[-1])
        on = "one node" if len(nodes) == 1 else f"{len(nodes):,} nodes"
        say(f"{len(made):,} cells on {on}, at most {seconds:.0f} s")
        if len(nodes) > 1:
            kinds, rows = classes_of(nodes, self._fingerprint), len(_wanted(self._asked))
            say(foreseen(kinds, looks[0], rows, self.effort.margin))  # where most of them end
        return made

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What is computed from other rows, what has no value and why, and which node deviates."""
        run = self.given.writer.id
        more = derived_records(records, self._fingerprint, run)
        more += lacking_records([*records, *more], self._lacks, _wanted(self._asked), self._nodes, run)
        found = node_findings([*records, *more], self._fingerprint, self.effort.margin)
        if self._fleet is not None:
            fleet = fleet_of(self._fleet, self._fingerprint, _wanted(self._asked))
            found = [*found, *fleet_findings([*records, *more], fleet)]
        return more, found


class NodeProbe(Study):
    """One probe of wulf-node on every node, its parameters validated before any node is touched."""

    programs = (NODE,)
    page = False

    def __init__(self, given: Conditions, probe: Probe, name: str, params: dict[str, Param]) -> None:
        super().__init__(given)
        self._pattern, self._params = probe.pattern(name), probe.check(name, "", params)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """One a node that has the program."""
        name, metrics = self._pattern.name, self._pattern.metrics
        return [
            Cell(number, node, node, "", name, self._params, metrics, program=NODE)
            for number, node in enumerate(connected.others.get(NODE, {}))
        ]


def _programs(asked: TableRequest) -> tuple[str, ...]:
    """What to open beside wulf-net: the agent only where a row of its is wanted."""
    return (NODE, *{AGENT for row in table().rows if row.program == AGENT and asked.wants(row)})


def _wanted(asked: TableRequest) -> list[str]:
    return [row.name for row in table().rows if asked.wants(row)]
