"""The network over a whole cluster: all pairs, or a sample that says what it may miss, in rounds of disjoint pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wulf.cluster.inventory import Inventory
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.core.units import show
from wulf.findings.net.coverage import coverage_finding, coverage_words
from wulf.measure.engine.plan import Cell, Pair
from wulf.measure.engine.probes import Probe
from wulf.measure.net.pairing import ALL_NODES, SAMPLED_ROUNDS, Coverage, all_rounds, coverage, matchings
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study

PINGPONG_SECONDS, STREAM_SECONDS = 0.05, 0.1
"""Of one replicate."""

WARMUP_SECONDS = 0.1
"""Of a stream among many: slow start, and whoever was told of the start last."""

COOLDOWN_SECONDS = 0.1
"""As long again after it: who ends first keeps sending while the others still measure."""

STREAM: dict[str, Param] = {
    "seconds": STREAM_SECONDS, "warmup_seconds": WARMUP_SECONDS, "cooldown_seconds": COOLDOWN_SECONDS,
}  # fmt: skip


def rounds_wanted(nodes: int, rounds: int | None, everything: bool) -> int:
    """How many rounds of disjoint pairs: as asked, else all of a small cluster and a few of a large one.

    Raises
    ------
    UsageError
        Both a number and all were asked for.
    """
    if everything and rounds is not None:
        raise UsageError("--all and --rounds both say how many pairs to measure", "give one of them")
    if everything or (rounds is None and nodes <= ALL_NODES):
        return all_rounds(nodes)
    return min(rounds if rounds is not None else SAMPLED_ROUNDS, all_rounds(nodes))


def needs(inventory: Inventory, least: int, command: str) -> None:
    """Refuse fewer nodes than a command makes sense for.

    Raises
    ------
    UsageError
        There are fewer.
    """
    if len(inventory.nodes) < least:
        raise UsageError(
            f"`wulf net {command}` needs at least {least} nodes, and got {len(inventory.nodes)}",
            "name them: --nodes 'n[1-4]', --inventory, --hostfile or --lab",
        )


def pair_cells(
    connected: Connected, probe: Probe, rounds: Sequence[Sequence[Pair]], *, together: bool = False
) -> tuple[Cell, ...]:
    """For each pair the TCP round trip, and a stream each way.

    Parameters
    ----------
    together
        Leave CPUs to the scheduler: pairs that share a machine are measured at the same time.
    """
    wanted: dict[str, dict[str, Param]] = {
        "pingpong": probe.check("pingpong", "tcp", {"bytes": 1, "seconds": PINGPONG_SECONDS}),
        "stream": probe.check("stream", "tcp", STREAM),
    }
    cells: list[Cell] = []
    nodes = {node for pairs in rounds for pair in pairs for node in pair}
    sampled = len(rounds) < all_rounds(len(nodes))
    for number, (a, b) in ((number, pair) for number, pairs in enumerate(rounds) for pair in pairs):
        for (client, server), pattern in (((a, b), "pingpong"), ((a, b), "stream"), ((b, a), "stream")):
            params = wanted[pattern] if together else connected.placed(client, server, wanted[pattern])
            metrics = probe.pattern(pattern).metrics
            cells.append(
                Cell(
                    len(cells), client, server, "tcp", pattern, params, metrics, "pairs",
                    round=number if sampled else None,
                )
            )  # fmt: skip
    return tuple(cells)


def start_finding(records: Sequence[Record]) -> list[Finding]:
    """How well the pairs of a wave were held together; nothing where each was alone."""
    overlaps = sorted(record.overlap for record in records if record.overlap is not None)
    if not overlaps:
        return []
    bound = max(record.start_bound or 0.0 for record in records)
    late = max(record.late or 0.0 for record in records)
    most = max(record.together or 0 for record in records)
    text = (
        f"Up to {most:,} measurements began at one moment: their measured times overlap by "
        f"{overlaps[len(overlaps) // 2]:.0%} (median) and {overlaps[0]:.0%} at least; the clocks' offsets are known to "
        f"±{show(bound, 's')}, and the latest began {show(late, 's')} late."
    )
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]


class Pairs(Study):
    """Pairs of all nodes at the same time, round after round.

    Parameters
    ----------
    rounds
        Rounds of disjoint pairs: each is one pair a node. None: all up to 64 nodes, four beyond.
    everything
        All rounds, however many nodes.
    together
        At the same time even where nodes share a machine.
    """

    synchronised = True

    def __init__(
        self, given: Conditions, *, rounds: int | None = None, everything: bool = False, together: bool = False
    ) -> None:
        super().__init__(given)
        needs(given.inventory, 2, "pairs")
        rounds_wanted(len(given.inventory.nodes), rounds, everything)  # refused before any node is touched
        self._rounds, self._everything = rounds, everything
        self.side_by_side = together
        self._coverage: list[Coverage] = []

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The rounds that were asked for, drawn at random."""
        nodes = list(connected.sessions)
        rounds = rounds_wanted(len(nodes), self._rounds, self._everything)
        drawn = matchings(nodes, rounds, np.random.default_rng(self.given.seed))
        self._coverage = [coverage(nodes, drawn)]
        self.given.watch.say(coverage_words(self._coverage[0]))
        return pair_cells(connected, probe, drawn, together=self.side_by_side)

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What a sample may miss, and how well the pairs were held together."""
        return [], [*map(coverage_finding, self._coverage), *start_finding(records)]
