"""The table of rates without a loss."""

from __future__ import annotations

import io

from rich.console import Console

from tests.unit.report.make_run import make_run
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.net.zero_loss import Bracket, Rate, record_of
from wulf.report.net.zero_loss import ZeroLoss
from wulf.report.run.terminal import print_report

CELL = Cell(0, "n1", "n2", "udp", "stream", {}, (Metric("throughput", "B/s", "higher"),))


def test_a_row_a_length_shortest_first() -> None:
    found = [
        Bracket(1518, low=Rate(1472e4, 1472e4, 6e4), high=Rate(1472e4 * 1.02, 1472e4 * 1.02, 6e4), rounds=8),
        Bracket(64, rounds=16, high=Rate(1.0, 1.0, 1.0)),
    ]
    run = make_run(["n1", "n2"])
    run.records[:] = [record_of(CELL, one, "run", "2026-11-28T00:00:00Z") for one in found]
    run.findings.clear()
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    print_report(run, console)
    lines = [line.split() for line in console.export_text().splitlines()]
    at = next(i for i, words in enumerate(lines) if words[:1] == ["frame"])
    assert lines[at + 1] == ["64", "B", "–", "–", "–", "–", "–", "unresolved"]
    assert lines[at + 2] == ["1518", "B", "10", "kHz", "118", "Mbit/s", "123", "Mbit/s", "10.2", "kHz", "0.00005", "ok"]


def test_other_runs_have_none() -> None:
    assert ZeroLoss().view(make_run(["n1", "n2"])) == []
