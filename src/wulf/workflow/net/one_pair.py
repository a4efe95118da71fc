"""One pair of nodes: one exchange, two of them against each other, or one over sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from wulf.cluster.access import Access
from wulf.cluster.addresses import data_addresses
from wulf.core.errors import UsageError
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.stats.comparison import PairedRule
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.curve import Curve, patient
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.engine.sweep import Sweep, first_sizes


def pair_cell(
    probe: Probe, pattern: str, client: str, server: str, *, transport: str, params: Mapping[str, Param]
) -> Cell:
    """One exchange of a pair, checked against what the probe says of itself.

    Raises
    ------
    UsageError
        There is no such pattern or parameter, or a value is none that it takes; or the transport joins no such ends.
    """
    probe.check_ends(transport, client, server)
    checked = probe.check(pattern, transport, params)
    return Cell(0, client, server, transport, pattern, checked, probe.pattern(pattern).metrics)


class PairProbe(Study):
    """One cell, whose parameters were checked against the probe's description."""

    page = False

    def __init__(self, given: Conditions, cell: Cell) -> None:
        super().__init__(given)
        self._cell = cell

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The cell, where both nodes answered."""
        return placed([self._cell], connected)


class Versus(Study):
    """Two configurations of one pair against each other, in blocks of AB or BA as a coin falls.

    Parameters
    ----------
    network
        That the second is measured over, as CIDR; None: the same as the first.
    """

    page = False

    def __init__(
        self, given: Conditions, arms: tuple[Cell, Cell], rule: PairedRule, network: str | None = None
    ) -> None:
        super().__init__(given)
        self._arms, self.versus = arms, rule
        self._other = given.inventory.on(network) if network is not None else None
        self._addresses: Mapping[str, str] = {}

    @contextmanager
    def attach(self, connected: Connected, access: Access) -> Iterator[None]:
        """The nodes' addresses in the second's network."""
        if self._other is not None:
            with access.agents() as opened:
                self._addresses = data_addresses(self._other, opened.sessions)
        yield

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """Both arms, where both nodes answered."""
        arms = placed(self._arms, connected)
        if self._other is None or not arms:
            return arms
        server = arms[0].server
        addresses = connected.addresses[server], self._addresses[server]
        if addresses[0] == addresses[1]:
            raise UsageError(
                f"{server} is reached at {addresses[0]} in both configurations", "name its other network: network=…"
            )
        # of what a record says, the address is what tells the two apart
        return [
            replace(arm, address=address, about={**arm.about, "address": address})
            for arm, address in zip(arms, addresses, strict=True)
        ]


class PairSweep(Study):
    """One pair's ping-pong over sizes 1 B … `most`, closer where it bends.

    Half the round trip over the size is divided into straight lines (`wulf.stats.curves.piecewise`). They have to
    predict sizes that they were not fitted to: as long as one lies farther off than the tolerance, sizes are refined.
    Each round measures a few sizes of the first again (`wulf.findings.net.anchors`).
    """

    def __init__(self, given: Conditions, cell: Cell, most: int) -> None:
        super().__init__(given)
        self._most = most
        self._sweep = Sweep(cell, self.effort.width)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The first sizes, where both nodes answered."""
        there = placed([self._sweep.cell], connected)
        if not there:
            return ()
        self._sweep.cell = there[0]
        return self._sweep.cells(first_sizes(self._most))

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """Where the curve bends."""
        return self._sweep.extend(records, first)

    def judge(self, records: Sequence[Record]) -> Judgement:
        """The lines."""
        return self._sweep.judge(records)


class PairCurve(Study):
    """One pair's throughput over sizes, one way and both, blocking and not; what stands out is then proven in blocks.

    Parameters
    ----------
    cell
        A stream; its `bytes` and what an arm asks are replaced.
    """

    def __init__(self, given: Conditions, cell: Cell, curve: Curve) -> None:
        super().__init__(given)
        self.effort = patient(given.effort)
        self._cell, self._curve = cell, curve

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """All sizes in all ways, where both nodes answered."""
        return [cell for stream in placed([self._cell], connected) for cell in self._curve.cells(stream)]

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """What is to be proven, in blocks that hold each of it."""
        self.together = True
        return self._curve.extend(records, self.effort)

    def judge(self, records: Sequence[Record]) -> Judgement:
        """The curves, and what they cost the hosts."""
        return self._curve.judge(records, self.effort, self.given.writer)


def placed(cells: Sequence[Cell], connected: Connected) -> list[Cell]:
    """The cells on the CPUs where they belong; none where an end did not answer."""
    if not {cells[0].client, cells[0].server} <= set(connected.sessions):
        return []
    return [replace(cell, params=connected.placed(cell.client, cell.server, cell.params)) for cell in cells]
