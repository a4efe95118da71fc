"""The adaptive sweep: sizes where the curve bends, until straight lines predict sizes that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Param, Record, Verdict
from wulf.core.units import show, show_interval
from wulf.findings.net.anchors import anchor_sizes, drift_finding, drifts, phase_of, round_of
from wulf.measure.engine.plan import Cell
from wulf.stats.curves.piecewise import LEAST_SIZES, PiecewiseCurve, Stretch, fit, next_sizes, unexplained
from wulf.stats.estimates import Interval
from wulf.store.run import utc_now

ROUNDS = 6
"""Of looking closer, at most."""

LEAST_REPLICATES = 6


class Sweep:
    """One sweep under way: what was measured, and the lines through it.

    Parameters
    ----------
    cell
        A ping-pong; its `bytes` are replaced.
    tolerance
        How far a held-out size may lie from the lines, relatively.
    """

    def __init__(self, cell: Cell, tolerance: float) -> None:
        self.cell, self._tolerance = cell, tolerance
        self._times: dict[float, list[float]] = {}
        self._anchors: list[int] = []
        self._again: dict[int, dict[int, list[float]]] = {}
        self._round = 0
        self.curve: PiecewiseCurve | None = None
        self.held_out: list[int] = []
        self.missed: list[float] = []

    def cells(self, sizes: Sequence[int], first: int = 0, phase: str = "sweep") -> tuple[Cell, ...]:
        """The sizes as cells, numbered from `first` on."""
        return tuple(
            replace(self.cell, id=first + i, params={**self.cell.params, "bytes": size}, phase=phase)
            for i, size in enumerate(sizes)
        )

    def extend(self, records: Sequence[Record], first: int) -> tuple[Cell, ...]:
        """Hold the lines against the sizes that were measured since; propose more unless all were predicted."""
        known = [r for r in records if r.metric == "rtt" and len(r.samples) >= LEAST_REPLICATES and r.low and r.high]
        usable = [record for record in known if round_of(record) is None]
        self._again = _anchors_of(known)
        if self.curve is not None:
            new = {_size(r): (r.low / 2, r.high / 2) for r in usable if _size(r) in self.held_out and r.low and r.high}
            self.missed = unexplained(self.curve, new, self._tolerance)
        self._times = {_size(record): [sample / 2 for sample in record.samples] for record in usable}
        if len(self._times) < LEAST_SIZES:
            return ()
        enough = self.curve is not None and not self.missed
        self.curve = fit(self._times)
        self._round += 1
        if enough or self._round > ROUNDS:
            return ()
        self._anchors = self._anchors or anchor_sizes(sorted(int(size) for size in self._times))
        self.held_out = next_sizes(self.curve, [int(size) for size in self._times])
        if not self.held_out:
            return ()
        again = self.cells(self._anchors, first + len(self.held_out), phase_of(self._round + 1))
        return self.cells(self.held_out, first) + again

    def judge(self, measured: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        """The lines as records, and in words."""
        if self.curve is None:
            return [], []
        records = [record for line in self.curve.lines for record in self._records(line, measured[0].run)]
        first = {size: self._times[size] for size in self._anchors if size in self._times}
        moved = drift_finding(self.cell.subject, drifts(first, self._again, self._tolerance), self._tolerance)
        return records, [self._finding(self.curve), *([moved] if moved else [])]

    def _records(self, line: Stretch, run: str) -> list[Record]:
        """Latency, bandwidth and half size of one line."""
        params: dict[str, Param] = {
            **({"transport": self.cell.transport} if self.cell.transport else {}), **self.cell.about,
            "pattern": "sweep", "from": int(line.first), "to": int(line.last),
        }  # fmt: skip

        replicates = sum(len(times) for size, times in self._times.items() if line.first <= size <= line.last)

        def record(metric: str, unit: str, value: float | None, interval: Interval | None, why: str | None) -> Record:
            return Record(
                run=run, subject=self.cell.subject, probe=self.cell.program, metric=metric, unit=unit, params=params,
                value=value, low=interval.low if interval else None, high=interval.high if interval else None,
                confidence=0.95 if interval else None,
                statistic="line through the medians" if value is not None else None,
                reason=why, replicates=replicates, verdict=Verdict.UNRESOLVED if value is None else Verdict.OK,
                at=utc_now(), phase="curve",
            )  # fmt: skip

        rate, half = _bandwidth(line), line.half_size
        no_slope = "its slope does not differ from none: larger sizes are needed for a bandwidth"
        told = line.alpha.value > 0
        return [
            record("latency", "s", *((line.alpha.value, line.alpha, None) if told else (None, None, _NO_LATENCY))),
            record("bandwidth", "B/s", rate.value if rate else None, rate, None if rate else no_slope),
            *([record("half_size", "B", half, None, None)] if rate and half else []),
        ]

    def _finding(self, curve: PiecewiseCurve) -> Finding:
        words = [_sentence(line) for line in curve.lines]
        bends = "; ".join(f"between {show(a, 'B')} and {show(b, 'B')}" for a, b in curve.switches)
        held = f"{len(self.held_out)} sizes that were held out lie"
        if self.missed:
            shown = ", ".join(show(size, "B") for size in self.missed[:6])
            fate = f"Not all of it is understood: of {len(self.held_out)} held-out sizes, {shown} lie farther than"
            fate += f" {self._tolerance:.0%} from the lines."
        else:
            fate = f"{held} within {self._tolerance:.0%} of the lines."
        return Finding(
            kind="curve",
            severity=Severity.WARN if self.missed else Severity.INFO,
            subject=self.cell.subject,
            text=" ".join(words) + (f" It bends {bends}." if bends else " It does not bend.") + f" {fate}",
            next_step="a longer --budget, or a wider --width" if self.missed else "",
            evidence=[
                Evidence(
                    subject=f"{show(line.first, 'B')} to {show(line.last, 'B')}", metric="latency", unit="s",
                    value=line.alpha.value, low=line.alpha.low, high=line.alpha.high,
                )
                for line in curve.lines
                if line.alpha.value > 0
            ],
        )  # fmt: skip


_NO_LATENCY = "not identifiable here: the line through these sizes meets size 0 below no time; smaller sizes tell it"


def _size(record: Record) -> float:
    return float(record.params["bytes"] or 0)


def _anchors_of(records: Sequence[Record]) -> dict[int, dict[int, list[float]]]:
    """Round → size → half round trips of the anchors that it measured again."""
    again: dict[int, dict[int, list[float]]] = {}
    for record in records:
        number = round_of(record)
        if number is not None:
            again.setdefault(number, {})[int(_size(record))] = [sample / 2 for sample in record.samples]
    return again


def _bandwidth(line: Stretch) -> Interval | None:
    """1/β; None where the slope may be none."""
    beta = line.beta
    return Interval(1 / beta.value, 1 / beta.high, 1 / beta.low) if beta.low > 0 else None


def _sentence(line: Stretch) -> str:
    rate = _bandwidth(line)
    bandwidth = f"{show(rate.value, 'B/s')} ({show_interval(rate.low, rate.high, 'B/s')})" if rate else "no slope"
    alpha = line.alpha
    latency = f"{show(alpha.value, 's')} ({show_interval(alpha.low, alpha.high, 's')})"
    return (
        f"From {show(line.first, 'B')} to {show(line.last, 'B')}: latency "
        f"{latency if alpha.value > 0 else 'not identifiable here'}, bandwidth {bandwidth}."
    )


def first_sizes(most: int, least: int = 1) -> list[int]:
    """The least, its double, and so on up to the most: 1 B, 2 B, 4 B …"""
    sizes = [least]
    while sizes[-1] * 2 <= most:
        sizes.append(sizes[-1] * 2)
    return sizes if sizes[-1] == most else [*sizes, most]
