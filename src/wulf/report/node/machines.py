"""Machines side by side: charts and one table of time, clock x time and cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.core.records import Verdict
from wulf.core.units import scale_for, show, show_in
from wulf.measure.engine.probes import APP
from wulf.measure.node.machines import RUN, Machine, common_rows, work_of
from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.view import Cell
from wulf.stats.estimates import PointEstimate

CHOSEN = (
    "cpu.int.add", "cpu.int.div", "cpu.float.add", "cpu.float.mul", "cpu.float.div", "cpu.double.add",
    "cpu.double.mul", "cpu.double.div", "cpu.fma.double", "cpu.fma.double.all", "mem.l1.latency", "mem.l2.latency",
    "mem.l3.latency", "mem.random.latency", "mem.triad", "mem.triad.all", "os.syscall.null", "os.process.fork",
    "os.context.2p.0k", "net.pipe.latency", "net.tcp.latency",
)  # fmt: skip
"""Rows that are compared where nobody chose any: of each part of a machine the one that speaks for it."""

COST_SCALES = {
    "operation": (1e6, "per Mop/s"), "byte": (1e9, "per GB/s"), "flop": (1e9, "per Gflop/s"), RUN: (1.0, "per run/s"),
}  # fmt: skip
"""Work → (so many a second, in words): what a cost is the price of. Nobody pays for one operation a second."""


@dataclass(frozen=True)
class Aspect:
    """One way to look at a row: what to ask a machine for, and what the answer is called."""

    key: str
    words: str
    ask: Callable[[Machine, str], PointEstimate | None]

    def named(self, work: str) -> str:
        """`time per byte`, `cycles per flop`, `price per GB/s`."""
        words = {"time": f"time per {work}", "cycles": f"cycles per {work}", "cost": f"price {COST_SCALES[work][1]}"}
        return words[self.key]

    def scale(self, least: float, work: str) -> tuple[float, str]:
        """Divisor and name of the unit in which a line reads best whose least figure that is."""
        if self.key == "cost":
            return 1 / COST_SCALES[work][0], ""
        if self.key == "cycles":
            divisor, name = scale_for(least, "Hz") if work == RUN else (1.0, "")
            return divisor, name.removesuffix("Hz")
        return (1e-12, "ps") if least < LEAST_NANOSECONDS else scale_for(least, "s")


def figure_text(figure: PointEstimate | None, divisor: float, unit: str) -> str:
    """The figure for people; a dash where there is none."""
    if figure is None:
        return "–"
    value = figure.value / divisor
    return f"{value:,.0f} {unit}".rstrip() if value >= 1e4 else f"{show_in(value, 1)} {unit}".rstrip()


def figure_interval(figure: PointEstimate | None, divisor: float) -> str:
    """Its interval, in the same unit; empty where it has none."""
    if figure is None or figure.low is None or figure.high is None:
        return ""
    return f"{show_in(figure.low, divisor)}–{show_in(figure.high, divisor)}"


VIEWS = (
    Aspect("time", "time", Machine.time),
    Aspect("cycles", "cycles", Machine.cycles),
    Aspect("cost", "price for the work", Machine.cost),
)

LEAST_NANOSECONDS = 1e-10
"""Shorter times, of a flop or a byte, are shown in picoseconds."""


@dataclass(frozen=True)
class MachineComparison:
    """Machines side by side: which rows of them, and what people call these."""

    machines: Sequence[Machine]
    rows: Sequence[str]
    titles: Mapping[str, str]

    def title(self, row: str) -> str:
        """What people call a row."""
        return self.titles.get(row, row)

    def work(self, row: str) -> str:
        """What a row's time is of."""
        return next((work_of(machine.rows[row]) for machine in self.machines if row in machine.rows), "operation")

    @property
    def views(self) -> list[Aspect]:
        """Those of which any machine has any figure."""
        return [view for view in VIEWS if any(view.ask(m, row) for m in self.machines for row in self.rows)]

    def best(self, view: Aspect, row: str) -> float | None:
        """The least figure of a row: a time, cycles or a price."""
        return min((f.value for m in self.machines if (f := view.ask(m, row)) is not None), default=None)


def beside(machines: Sequence[Machine], titles: Mapping[str, str], wanted: Sequence[str] = ()) -> MachineComparison:
    """The machines with the wanted rows, else with programs and those of `CHOSEN`, else with what all have."""
    return MachineComparison(machines, common_rows(machines, wanted or (*programs(machines), *CHOSEN)), titles)


def programs(machines: Sequence[Machine]) -> list[str]:
    """The rows that are figures of programs."""
    return list(dict.fromkeys(name for one in machines for name, record in one.rows.items() if record.probe == APP))


def machine_rows(these: MachineComparison) -> list[tuple[str | Cell, ...]]:
    """The table: for each row and view a line, a cell a machine; the best of a line is marked."""
    return [
        (
            Cell(these.title(row), title=row),
            Cell(view.named(these.work(row)), "dim"),
            *(_cell(these, view, row, machine, best) for machine in these.machines),
        )
        for row in these.rows
        for view in these.views
        if (best := these.best(view, row)) is not None
    ]


def _cell(these: MachineComparison, view: Aspect, row: str, machine: Machine, best: float) -> Cell:
    figure = view.ask(machine, row)
    if figure is None:
        return Cell("–", "dim", small=[_why(machine, row, view)])
    divisor, unit = view.scale(best, these.work(row))
    text, interval = figure_text(figure, divisor, unit), figure_interval(figure, divisor)
    is_best = len(these.machines) > 1 and figure.value == best
    return Cell(f"{text} ★" if is_best else text, "strong" if is_best else "", small=[interval] if interval else [])


def _why(machine: Machine, row: str, view: Aspect) -> str:
    """Why a machine has no figure there."""
    record = machine.rows.get(row)
    if record is None:
        return "not measured"
    if machine.time(row) is None:
        return record.reason or str(record.verdict)
    return "clock rate not known" if view.key == "cycles" else "no price given"


def machine_lines(machines: Sequence[Machine]) -> list[str]:
    """Each machine in a few words: its CPU, clock rate and price."""
    lines = []
    for machine in machines:
        clock = "clock rate not known" if machine.clock is None else f"clock {show(machine.clock, 'Hz')}"
        price = "" if machine.price is None else f"price {machine.price:,.6g}"
        lines.append(f"{machine.name}: {', '.join(filter(None, [machine.kind, clock, price]))}")
    return lines


def drawn_views(these: MachineComparison) -> list[Aspect]:
    """Those that a chart compares: not one of which one machine alone has figures, say the only one with a price."""
    return [v for v in these.views if sum(any(v.ask(m, r) for r in these.rows) for m in these.machines) > 1]


def machine_chart(these: MachineComparison, view: Aspect) -> Chart:
    """A line a row, a point a machine, relative to the best of the line on a log scale.

    Times of an addition and of a fork stand nine decades apart: only what a machine takes by what the best one takes
    can share one axis. The figures themselves are in the hover and in the table.
    """
    rows = [row for row in these.rows if these.best(view, row)]
    series = [_series(these, view, machine, rows) for machine in these.machines]
    top = max((float(x) for one in series for x in (*one["x"], *one["high"]) if x), default=1.0)
    return {
        "kind": "dots",
        "names": [label(these.title(row)) for row in rows],
        "short": [label(row, 20) for row in rows],
        "log": True,
        "ticks": [[value, f"{value:g}×"] for value in ratio_ticks(top)],
        "xTitle": f"{view.words}, by the best",
        "series": series,
    }


def _series(these: MachineComparison, view: Aspect, machine: Machine, rows: Sequence[str]) -> Chart:
    """One machine's points; a gap where it has no figure."""
    found = [(row, view.ask(machine, row)) for row in rows]
    shares = [figure.times(1 / (these.best(view, row) or 1.0)) if figure else None for row, figure in found]
    return {
        "name": label(machine.name),
        "x": [share.value if share else None for share in shares],
        "low": [share.low if share else None for share in shares],
        "high": [share.high if share else None for share in shares],
        "noisy": [row in machine.rows and machine.rows[row].verdict is not Verdict.OK for row in rows],
        "hover": [
            _hover(these, view, machine, row, share) if share else "" for row, share in zip(rows, shares, strict=True)
        ],
    }


def _hover(these: MachineComparison, view: Aspect, machine: Machine, row: str, share: PointEstimate) -> str:
    figure = view.ask(machine, row)
    divisor, unit = view.scale(these.best(view, row) or 1.0, these.work(row))
    interval = figure_interval(figure, divisor)
    lines = [
        these.title(row),
        f"{view.named(these.work(row))}: {figure_text(figure, divisor, unit)}",
        f"interval {interval}" if interval else "without an interval",
        "the best" if share.value == 1 else f"{share.value:.3g} times the best",
    ]
    return hover(machine.name, lines)


def ratio_ticks(top: float) -> list[float]:
    """Round ratios from 1 to about `top` for a log axis."""
    for steps in ((1, 1.1, 1.2, 1.3, 1.5), (1, 1.5, 2, 3, 5), (1, 2, 5, 10, 20), (1, 10, 100, 1000)):
        if top <= steps[-1]:
            return [step for step in steps if step <= max(top, steps[1]) * 1.05]
    decades = math.ceil(math.log10(top))
    return [10.0**e for e in range(0, decades + 1, max(1, decades // 5))]


def json_rows(these: MachineComparison) -> list[dict[str, Any]]:
    """Every machine and row as one JSON object, in SI units: `time` in s, `cost` in price x s."""
    return [
        {
            "machine": machine.name,
            "row": row,
            "work": these.work(row),
            "clock": machine.clock,
            "price": machine.price,
            **{view.key: _plain(view.ask(machine, row)) for view in VIEWS},
        }
        for row in these.rows
        for machine in these.machines
    ]


def _plain(figure: PointEstimate | None) -> dict[str, float | None] | None:
    return None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high}


def footnote(machines: Sequence[Machine]) -> str:
    """How to read the table."""
    price = "" if any(machine.price for machine in machines) else " Give prices for the cost: `--price n1=2490`."
    several = " The best of a line is marked." if len(machines) > 1 else ""
    own = " A program's cycles are by the clock rate that `wulf node` measured." if programs(machines) else ""
    return (
        f"Cycles are time × the clock rate measured beside it.{own}{several} Nothing here is a test: `wulf compare` "
        f"without --machines tests two runs.{price}"
    )
