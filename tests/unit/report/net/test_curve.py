"""What a curve's report shows: the most, a picture, a table in 80 columns, and nothing of another run."""

from __future__ import annotations

import io

from rich.console import Console

from tests.unit.report.make_run import make_run, record
from wulf.core.records import Record, Verdict
from wulf.measure.engine.curve import ARM, NET_ARMS, PHASE
from wulf.report.kit.view import Plot, walk
from wulf.report.net.curve import ThroughputCurve
from wulf.report.run.html import render
from wulf.report.run.terminal import print_report
from wulf.store.run import Run

SIZES = [1, 1024, 1 << 20]


def point(metric: str, value: float | None, arm: str, size: int, **more: object) -> Record:
    params = {"transport": "tcp", "pattern": "stream", ARM: arm, "bytes": size}
    return record("n1>n2", metric, value, phase=PHASE, params=params, **more)


def curve(*more: Record) -> Run:
    records = [
        point("throughput", 1e6 * size**0.5 * (1 + number), arm.name, size)
        for number, arm in enumerate(NET_ARMS) for size in SIZES
    ]  # fmt: skip
    records += [point("client_cpus", 1.25, NET_ARMS[0].name, size) for size in SIZES]
    run = make_run(["n1", "n2"])
    run.records[:] = [*records, *more]
    run.findings.clear()
    return run


def printed(run: Run) -> list[str]:
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    print_report(run, console)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_the_most_is_the_headline_and_every_size_a_row() -> None:
    lines = printed(curve())
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("n1 → n2: at most 32.8 Gbit/s")
    (row,) = [line.split() for line in lines if line.strip().startswith("1 MiB ")]
    assert row[2::2] == ["8.19", "16.4", "24.6", "32.8"]
    assert f"  {NET_ARMS[0].name.capitalize()}, 1 MiB: 1.25 CPUs busy at the client." in lines


def test_a_page_has_two_pictures_of_all_ways_and_both_ends() -> None:
    (section,) = ThroughputCurve().view(curve())
    first, second = [one for one in walk(section.elements) if isinstance(one, Plot)]
    assert [drawn.name for drawn in first.curves] == [arm.name for arm in NET_ARMS]
    assert [list(drawn.x) for drawn in first.curves] == [SIZES] * 4
    assert [drawn.name for drawn in second.curves] == [f"client, {NET_ARMS[0].name}"], "what was counted"
    assert "CPUs busy" in render(curve())


def test_a_size_without_a_value_is_a_gap_and_a_dash() -> None:
    lost = point("throughput", None, NET_ARMS[0].name, 4, verdict=Verdict.FAILED, reason="n2 is gone")
    run = curve(lost)
    (row,) = [line.split() for line in printed(run) if line.strip().startswith("4 B ")]
    assert row[2:] == ["×–", "–", "–", "–"]
    plot = next(one for one in walk(ThroughputCurve().view(run)[0].elements) if isinstance(one, Plot))
    assert list(plot.curves[0].x) == SIZES


def test_other_runs_have_no_curve() -> None:
    assert ThroughputCurve().view(make_run(["n1", "n2"])) == []
    assert ThroughputCurve().answer(make_run(["n1", "n2"])) == ""
