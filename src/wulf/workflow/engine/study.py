"""A study: what a command measures, what it opens for that, and what follows; one object that owns its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from wulf.cluster.access import Access
from wulf.cluster.inventory import Inventory
from wulf.core.errors import NodeError
from wulf.core.findings import Finding
from wulf.core.records import Record
from wulf.measure.engine.ends import ProbeSession
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.stats.comparison import PairedRule
from wulf.store.run import RunWriter
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import Effort

ALONE = "pairs on one machine were measured one at a time, both ends on one CPU unless another was asked for"
SIDE_BY_SIDE = "pairs on one machine were measured at the same time all the same, and shared its CPUs"

Judgement = tuple[list[Record], list[Finding]]
"""Records and findings that follow from the measured ones."""


@dataclass(frozen=True)
class Conditions:
    """What every study is made under.

    Attributes
    ----------
    inventory
        The nodes that were asked for; it is measured on those that answer.
    writer
        The run that it is kept as.
    seed
        Of the random order, and of what a study draws.
    watch
        Told what happens, for people.
    """

    inventory: Inventory
    effort: Effort
    writer: RunWriter
    seed: int
    watch: Watcher = UNWATCHED


@dataclass
class Beside:
    """What a study opens beside the nodes' own sessions.

    Attributes
    ----------
    sessions
        Program, as cells name it → subject → session: MPI's ranks, applications.
    lanes
        Node or subject → name of its lane: what is in one is never measured at the same time, whatever machine it is
        on.
    notes
        What the user should know though it works.
    failed
        Node → why it can't be measured.
    """

    sessions: dict[str, dict[str, ProbeSession]] = field(default_factory=dict)
    lanes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failed: dict[str, NodeError] = field(default_factory=dict)


class Study(ABC):
    """What is measured: `measure` calls `attach`, `cells`, `extend` as long as that gives more, and `judge`.

    Attributes
    ----------
    programs
        What to open on the nodes beside wulf-net, as cells name it: "node".
    together
        No cell ends before all can: they will be subtracted block by block.
    side_by_side
        Pairs are measured at the same time even where they share a machine.
    synchronised
        What is measured at the same time is of one kind and begins at one moment.
    versus
        How the two cells are compared; None where nothing is.
    page
        Whether the run gets a report.html at once.
    """

    programs: Sequence[str] = ()
    together = False
    side_by_side = False
    synchronised = False
    versus: PairedRule | None = None
    page = True

    def __init__(self, given: Conditions) -> None:
        self.given = given
        self.effort = given.effort
        self.beside = Beside()

    @property
    def how(self) -> str:
        """How nodes of one machine are measured, in words."""
        return SIDE_BY_SIDE if self.side_by_side else ALONE

    def attach(self, connected: Connected, access: Access) -> AbstractContextManager[None]:
        """What else is there while it is measured, given the nodes that answered; it stands in `beside` then."""
        return nullcontext()

    @abstractmethod
    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The cells, given the nodes that answered; asked only where one did."""

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """More cells, given the records so far and the first free number of a cell; none: it is enough."""
        return ()

    def judge(self, records: Sequence[Record]) -> Judgement:
        """Records and findings that follow from the measured ones."""
        return [], []
