"""The farm's tables in a terminal of 80 columns, its sentences, and its charts."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.unit.measure.make_farm import DESIGN, NETWORKS, UNEVEN, farm_run
from tests.wording import Wording, lacking
from wulf.measure.mpi.farm import Design, contrasts_of, networks_of
from wulf.report.kit.terminal import print_all
from wulf.report.mpi.farm import farm_section, study_lines
from wulf.report.mpi.farm_charts import farm_charts
from wulf.report.mpi.farm_kinds import kinds_sentences, unevenness
from wulf.stats.comparison import Judgement
from wulf.store.run import Run

SPINS = (1e-6, 1e-5, 1.4e-5, 1.7e-5, 1e-4)


def printed(run: Run) -> list[str]:
    console = Console(file=io.StringIO(), width=80, force_terminal=False)
    print_all(farm_section(run), console)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def table(lines: list[str], title: str) -> list[list[str]]:
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    rows = lines[start + 1 : [*lines, ""].index("", start)]
    return [row.split() for row in rows]


def test_tables_stand_beside_those_of_2007() -> None:
    lines = printed(farm_run())
    assert max(map(len, lines)) <= 80
    time = table(lines, "Time (ms)")
    assert time[0] == ["workers", "batch", "1", "batch", "10", "batch", "100"]
    assert time[1] == ["1", "35.0", "21.5", "20.2"]
    assert time[2] == ["2007", "s", "212", "206", "203"]
    assert time[4] == ["2007", "s", "70.8", "68.4", "67.7"]
    messages = table(lines, "Messages a second at the master")
    assert messages[2][-3:] == ["4.71", "0.487", "0.0492"]
    speedup = table(lines, "Speedup against one worker")
    assert speedup[3] == ["3", "3.00", "3.00", "3.00"]
    assert table(lines, "Overhead a cycle: a batch and its results (µs)")[1] == ["1", "14.8", "13.5", "0.00"]


def test_messages_are_told_by_the_place_of_the_worker() -> None:
    lines = printed(farm_run())
    rows = table(lines, "By the place of the worker")
    assert rows[1][:5] == ["same", "core", "1", "1.4", "µs"]
    assert rows[2][:5] == ["other", "node", "2", "14", "µs"]
    assert not any("equally near" in line for line in lines)


def test_more_workers_than_in_2007_stand_alone() -> None:
    lines = printed(farm_run(design=Design((5,), (1, 10), 1000, DESIGN.work)))
    assert not any("  2007 " in line for line in lines)
    assert not any(line.startswith("Speedup") for line in lines)


@pytest.mark.parametrize(
    "words",
    [
        " o = a + c·b with 3 workers: a = 2 µs (",
        "c = 300 ns (",
        "there and back in 14 µs (",
        "is busy all the time from W* = 15.2 (",
        "METG(50 %) with 3 workers is 15 µs (",
        "max(RTT + o_w, W·o/2) = 15 µs (",
        "is not refuted by it.",
        "max(o_w, (o_w + RTT)/3, W·o/2) = 5 µs (",
        "is refuted by it.",
        "with 3 workers and batches of 100 is ",
        "USL was not fitted: USL has 3 parameters",
        "needs 4 numbers of workers; there are 2.",
    ],
)
def test_sentences(words: str) -> None:
    text = " ".join(study_lines(farm_run(SPINS)))
    assert words in text, text


def test_without_a_search_the_claims_are_told_as_such() -> None:
    text = " ".join(study_lines(farm_run()))
    assert lacking(text, "METG(50 %) by max(RTT + o_w, W·o/2)", "would be 15 µs") == []
    assert "--metg measures it" in text


def test_a_search_on_one_side_says_which() -> None:
    assert "every unit's efficiency was below 50 %" in " ".join(study_lines(farm_run((1e-6, 1e-5))))
    assert "every unit's efficiency was above 50 %" in " ".join(study_lines(farm_run((1e-4,))))


def test_charts_hold_every_cell_with_its_interval() -> None:
    charts = {chart.key: chart.chart() for chart in farm_charts(farm_run(SPINS))}
    assert list(charts) == ["farm-speedup", "farm-message", "farm-metg"]
    speedup = charts["farm-speedup"]["series"]
    assert [one["name"] for one in speedup] == ["batch 1", "batch 10", "batch 100"]
    assert speedup[2]["x"] == [1, 3]
    assert speedup[2]["low"][1] <= speedup[2]["y"][1] <= speedup[2]["high"][1]
    assert charts["farm-metg"]["series"][0]["x"] == list(SPINS)
    assert charts["farm-message"]["xTicks"] == [[1, "1"], [10, "10"], [100, "100"]]


def test_a_run_without_a_farm_shows_nothing() -> None:
    run = Run(Path(), {"id": "other"})
    assert printed(run) == []
    assert farm_charts(run) == []
    assert study_lines(run) == []


def test_two_networks_are_compared_cell_by_cell_and_each_has_its_o() -> None:
    run = farm_run(design=Design((3,), (1,), 1000, DESIGN.work, networks=NETWORKS))
    lines = study_lines(run)
    assert lines[0].startswith(
        "Over 10.1.0.0/24 the whole run is longer in 1 of 1 cell and shorter in none. It differs"
    )
    assert lines[0].endswith("with 3 workers, batch 1: 1.5 (1.5–1.5) times as long.")
    assert "(o) is longer in 1 of 1 cell" in lines[1]
    shown = printed(run)
    assert max(map(len, shown)) <= 80 and shown.index("10.0.0.0/24 and 10.1.0.0/24") > 0
    assert sum("slower" in line and "faster" not in line for line in shown) == 2
    assert {chart.name(point) for chart in farm_charts(run)[:1] for point in chart.points} == {
        f"batch 1 over {network}" for network in NETWORKS
    }


def test_blocks_that_are_too_few_for_so_many_cells_are_said() -> None:
    (seconds, _, *own) = study_lines(farm_run(design=Design((1, 3), (1, 10), 1000, DESIGN.work, networks=NETWORKS)))
    assert "in none of 4 cells" in seconds and "of so many 6 blocks can prove none, 8 could" in seconds
    assert len(own) == 2 and own[0].startswith("Over 10.0.0.0/24: A message of b units takes the master")


def test_a_farm_over_one_network_is_compared_with_nothing() -> None:
    run = farm_run()
    assert contrasts_of(run.plan, run.replicates) == {} and networks_of(run.plan) == ()


def test_several_kinds_of_unit_are_held_against_equal_ones(wording: Wording) -> None:
    run = farm_run(design=replace(DESIGN, kinds="1:0.5,10:0.5"), times=4)
    rows = table(printed(run), "Several kinds of unit")
    assert [row[:2] for row in rows if row[0].isdigit()] == [[w, b] for w in "13" for b in ("1", "10", "100")]
    found = unevenness(run)
    for one in found:
        assert one.measured.judgement is Judgement.SLOWER
        assert one.measured.ratio == pytest.approx(UNEVEN)
        assert one.predicted is not None
    alone, crowd = found[0], found[-1]
    assert alone.predicted is not None and alone.predicted.high == pytest.approx(1.0), "one worker waits for nobody"
    assert alone.refuted is True
    assert crowd.predicted is not None and crowd.predicted.high > 1.01
    wording(" ".join(kinds_sentences(run)))


def test_a_farm_of_equal_units_says_nothing_of_kinds() -> None:
    assert kinds_sentences(farm_run()) == []
    assert not any("Several kinds" in line for line in printed(farm_run()))
