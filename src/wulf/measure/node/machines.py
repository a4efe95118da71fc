"""Machines side by side: the time, the clock cycles and the cost of a unit of work.

After R. G. Brown's tables of cpu-rate ("Engineering a Beowulf-style Compute Cluster") and of a program of one's own:
time says which machine is faster, clock times time whether by its clock or by its design, and price times time which
one is worth its money.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.measure.engine.disturbance import clock_ends
from wulf.measure.engine.probes import APP
from wulf.measure.node.rows import CURVE, rows_of
from wulf.stats.estimates import PointEstimate
from wulf.store.run import Run

WORK = {"s": "operation", "B/s": "byte", "flop/s": "flop", "Hz": "operation"}
"""Unit of a record → what it took or did one of. Records of other units are of no work: sizes, shares, watts."""

RUN = "run"
"""What a program takes its seconds for."""

LAUNCH = frozenset({"pattern", "ranks", "per_node", "mpi", "program"})
"""Parameters of a program's records that say how it was started: with which MPI, and where it lies."""

MOST_ROWS = 12

NOT_SPEED = frozenset({"clock", "detours", "worst", "deviation", "edge"})
"""Metrics in seconds or hertz that are no speed of anything."""


@dataclass(frozen=True)
class Machine:
    """One machine: a node of a run.

    Attributes
    ----------
    name
        As it was asked for.
    kind
        Its CPU's name; empty where it is not known.
    clock
        Clock rate while it was measured, in Hz; None where no record tells.
    price
        What it costs, in whatever currency; None where nobody said.
    rows
        Row name → its record.
    points
        The records of its curves.
    """

    name: str
    kind: str
    clock: float | None
    price: float | None
    rows: Mapping[str, Record]
    points: Sequence[Record] = ()

    def time(self, row: str) -> PointEstimate | None:
        """Seconds for one operation, byte or flop."""
        return time_of(self.rows[row]) if row in self.rows else None

    def cycles(self, row: str) -> PointEstimate | None:
        """Clock cycles for one, at the clock rate measured beside it."""
        record = self.rows.get(row)
        clock = clock_of([record]) or self.clock if record is not None else None
        took = self.time(row)
        return took.times(clock) if took is not None and clock is not None else None

    def cost(self, row: str) -> PointEstimate | None:
        """The price of doing one a second: price times time; half as much is twice the work for the money."""
        took = self.time(row)
        return took.times(self.price) if took is not None and self.price is not None else None


def time_of(record: Record) -> PointEstimate | None:
    """Seconds for one unit of a record's work: its value, or one by its rate, whose bounds change places.

    None where the record has no value, its cell failed, or it is no speed.
    """
    usable = record.verdict in (Verdict.OK, Verdict.NOISY)
    if not usable or not record.value or record.unit not in WORK or record.metric in NOT_SPEED:
        return None
    figure = PointEstimate(record.value, record.low, record.high)
    return figure if record.unit == "s" else figure.inverse()


def clock_of(records: Iterable[Record]) -> float | None:
    """The clock rate in Hz that wulf-node measured before and after its samples: the median over the records."""
    seen = []
    for record in records:
        known = [end for end in clock_ends(record.info) if end is not None]
        if known:
            seen.append(sum(known) / len(known))
    return median(seen) if seen else None


SEVERAL = ("[", ",", ">")
"""Of a subject that is more than one node."""


def work_of(record: Record) -> str:
    """What a record's time is of: an operation, a byte, a flop, or a run of a program."""
    return RUN if record.probe == APP and record.unit == "s" else WORK.get(record.unit, "operation")


def program_of(record: Record) -> str:
    """What a program's figure is called on every machine: `./solver input, wall`, `stream, 4 ranks, triad`."""
    params = record.params
    given = [f"{key} {value}" for key, value in sorted(params.items()) if value is not None and key not in LAUNCH]
    words = [str(params["command"])] if "command" in params else [str(params.get("pattern")), *given]
    ranks = [f"{params['ranks']} ranks"] if params.get("ranks") else []
    return ", ".join([*words, *ranks, record.metric])


def programs_of(records: Iterable[Record]) -> dict[str, dict[str, Record]]:
    """Node → name → the record of the figure that a program was run for: of programs that ran on that node alone."""
    found: dict[str, dict[str, Record]] = {}
    seen = set()
    for record in records:
        if record.probe != APP or record.phase != APP or any(mark in record.subject for mark in SEVERAL):
            continue
        key = (record.subject, tuple(sorted(record.params.items(), key=str)))
        if key not in seen:
            found.setdefault(record.nodes[0], {})[program_of(record)] = record
        seen.add(key)
    return found


def machine(
    name: str, rows: Mapping[str, Record], facts: Mapping[str, Mapping[str, object]], price: float | None = None,
    points: Sequence[Record] = (),
) -> Machine:  # fmt: skip
    """A machine from a node's rows and facts, and what was swept there."""
    model = (facts.get("cpu.model") or {}).get("value")
    return Machine(name, str(model or ""), clock_of(rows.values()), price, rows, points)


def machines_of(runs: Mapping[str, Run], prices: Mapping[str, float]) -> list[Machine]:
    """All nodes of some runs that wulf-node measured, or a program ran on.

    A node is called by its name; where the runs have one of the same name twice, by its run's, or by both. A program's
    figure is a row of the node that it ran on, which another run may have measured: its clock rate is then known.

    Parameters
    ----------
    runs
        As the user named them.
    prices
        By the name of a machine, of its node, or of its run.

    Raises
    ------
    UsageError
        A price is for a name that there is not; a program ran on a node that two of the runs measured.
    """
    found = _measured(runs)
    nodes = [node for _, node, _ in found]
    machines, known = [], set[str]()
    for run, node, rows in found:
        alone = sum(other == run for other, _, _ in found) == 1
        name = node if nodes.count(node) == 1 else run if alone else f"{run}:{node}"
        given = price_of(prices, name, f"{run}:{node}", node, run)
        points = [record for record in runs[run].records if record.phase == CURVE and record.nodes[0] == node]
        machines.append(machine(name, rows, runs[run].fingerprint.get(node, {}), given, points))
        known |= {name, f"{run}:{node}", node, run}
    strangers = sorted(set(prices) - known)
    if strangers:
        raise UsageError(
            f"--price {strangers[0]}=…: there is no such machine", f"there are {', '.join(m.name for m in machines)}"
        )
    return machines


def _measured(runs: Mapping[str, Run]) -> list[tuple[str, str, dict[str, Record]]]:
    """Run, node and rows of each machine; a program's figures stand with what wulf-node measured of the same node."""
    found = [(run, node, rows) for run in runs for node, rows in rows_of(runs[run].records).items()]
    for run in runs:
        for node, rows in programs_of(runs[run].records).items():
            same = [own for _, other, own in found if other == node]
            if len(same) > 1:
                raise UsageError(
                    f"{run}: several of the runs measured {node}, and it is not clear on which it ran",
                    f"give one run of `wulf node` with {node}",
                )
            if same:
                same[0].update(rows)
            else:
                found.append((run, node, rows))
    return found


def common_rows(machines: Sequence[Machine], wanted: Sequence[str] = ()) -> list[str]:
    """The rows to compare: of the wanted ones those that any machine has a time of.

    Where none of these was measured, the first dozen that all machines have.
    """
    some = [row for row in wanted if any(m.time(row) for m in machines)]
    if some or not machines:
        return some
    return [row for row in machines[0].rows if all(m.time(row) for m in machines)][:MOST_ROWS]


def read_prices(words: Iterable[str]) -> dict[str, float]:
    """`n1=2490` → {"n1": 2490.0}.

    Raises
    ------
    UsageError
        A word is not NAME=PRICE, or a price is not above zero.
    """
    prices = {}
    for word in words:
        name, equals, price = word.rpartition("=")
        try:
            value = float(price)
        except ValueError:
            value = 0.0
        if not name or not equals or not 0 < value < inf:
            raise UsageError(f"--price {word} is not NAME=PRICE", "for example --price n1=2490: a price above zero")
        prices[name] = value
    return prices


def price_of(prices: Mapping[str, float], *names: str) -> float | None:
    """The price given for the first of these names that has one: the machine's, its node's, its run's."""
    return next((prices[name] for name in names if name in prices), None)
