"""A farm's table from a CSV, from a run, and the table of 2007."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.measure.make_farm import farm_run
from wulf.core.errors import UsageError
from wulf.model.farm.study import TABLE, farm_study
from wulf.store.run import Run
from wulf.workflow.model.farm import FarmTable, from_csv, from_run, of_2007


def read(path: Path, text: str, units: int | None = None) -> FarmTable:
    file = path / "farm.csv"
    file.write_text(text)
    return from_csv(file, units)


def each_unit(table: FarmTable) -> dict[tuple[int, int], list[float]]:
    """Seconds a unit."""
    return {(p.workers, p.batch): [s / (p.units or 1) for s in p.values["seconds"]] for p in table.points}


def test_seconds_with_their_units(tmp_path: Path) -> None:
    text = (
        "Workers,batch,Seconds,units,replicate\n# mine\n1,1,10,1000,1\n1,1,12,1000,2\n4,10,3,1000,1\nserial,,9,1000,1\n"
    )
    table = read(tmp_path, text)
    assert not table.rates
    assert {(p.workers, p.batch): p.values["seconds"] for p in table.points} == {
        (0, 1): [9.0], (1, 1): [10.0, 12.0], (4, 10): [3.0],
    }  # fmt: skip
    assert {(p.units, p.style) for p in table.points} == {(1000, TABLE)}
    assert read(tmp_path, "workers,batch,seconds\n1,1,10\n", 1000).points[0].units == 1000


@pytest.mark.parametrize(("figure", "value"), [("units/s", 400.0), ("messages/s", 40.0)])
def test_rates_need_no_units(tmp_path: Path, figure: str, value: float) -> None:
    table = read(tmp_path, f"workers,batch,{figure}\n4,10,{value}\n")
    assert table.rates
    assert each_unit(table)[4, 10] == pytest.approx([1 / 400])
    assert not read(tmp_path, f"workers,batch,{figure}\n4,10,{value}\n", 500).rates


def test_seconds_of_runs_of_different_lengths(tmp_path: Path) -> None:
    table = read(tmp_path, "workers,batch,seconds,units\n1,1,10,1000\n1,10,80,10000\n")
    assert table.rates, "there is no time of one whole run"
    assert each_unit(table) == {(1, 1): pytest.approx([1e-2]), (1, 10): pytest.approx([8e-3])}


@pytest.mark.parametrize(
    ("text", "units", "why"),
    [
        ("", None, "is empty"),
        ("workers,batch,seconds\n", 10, "no line with a number of workers"),
        ("workers,batch,seconds\nserial,1,3\n", 10, "no line with a number of workers"),
        ("workers,batch,time\n1,1,2\n", None, "line 1: column 'time' is not known"),
        ("workers,seconds\n1,2\n", 10, "line 1: the column batch is missing"),
        ("batch,seconds\n1,2\n", 10, "line 1: the column workers is missing"),
        ("workers,batch\n1,2\n", None, "line 1: one of the columns seconds, units/s, messages/s is needed.* are 0"),
        ("workers,batch,seconds,units/s\n1,1,2,3\n", 10, "line 1: one of the columns .* are 2"),
        ("workers,batch,batch,seconds\n1,1,1,2\n", 10, "line 1: column 'batch' stands there twice"),
        ("workers,batch,seconds\n1,1,2\n", None, "line 1: seconds need the units of their runs"),
        ("workers,batch,seconds,units\n1,1,2,3\n", 3, "line 1: the column units and --units both"),
        ("workers,batch,seconds,units\n1,1,2,3.5\n", None, "line 2: 3.5 units is no whole number"),
        ("workers,batch,seconds\n\n1,0,2\n", 10, "line 3: batch is 0, which is not above 0"),
        ("workers,batch,seconds\n1,x,2\n", 10, "line 2: batch is 'x', which is no number"),
        ("workers,batch,seconds\n1,11,2\n", 10, "line 2: batch is 11, of 10 units in all"),
        ("workers,batch,seconds\n1,1\n", 10, "line 2: 2 columns, where the first line names 3"),
        ("workers,batch,seconds\n0,1,2\n", 10, "line 2: workers is 0, which is not above 0"),
        ("workers,batch,seconds\n1e10,1,2\n", 10, "line 2: workers is 1e10, more than 1,000,000,000"),
        ("workers,batch,seconds\n1,1,1e30\n", 10, "line 2: seconds is 1e30: 1e.29 s a unit, not 1e-12 to 1e.09 s"),
        ("workers,batch,units/s\n1,1,1e-300\n", None, "line 2: units/s is 1e-300: 1e.300 s a unit"),
        ("workers,batch,messages/s\n1,1,inf\n", None, "line 2: messages/s is inf, which is not above 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_column(tmp_path: Path, text: str, units: int | None, why: str) -> None:
    with pytest.raises(UsageError) as error:
        read(tmp_path, text, units)
    assert re.search(rf"farm\.csv,? .*{why}|farm\.csv {why}|farm\.csv has {why}", error.value.what), error.value.what
    assert error.value.next_step


def test_a_table_is_no_larger_than_can_be_fitted(tmp_path: Path) -> None:
    rows = "\n".join(f"{workers},{batch},1" for workers in range(1, 34) for batch in range(1, 32))
    with pytest.raises(UsageError, match="has 1,023 cells"):
        read(tmp_path, f"workers,batch,units/s\n{rows}\n")


def test_a_run_of_the_live_farm() -> None:
    run = farm_run()
    table = from_run(run)
    assert not table.rates and table.source == "run farm"
    study = farm_study(table.points)
    assert study is not None and study.cost is not None and study.times is not None
    assert {"same core", "other node"} == set(study.near)
    with pytest.raises(UsageError, match="run other has no farm"):
        from_run(Run(Path(), {"id": "other"}))


def test_the_table_of_2007_is_studied_as_any() -> None:
    table = of_2007()
    assert len(table.points) == 20 and table.of_2007
    study = farm_study(table.points)
    assert study is not None and study.times is not None and study.times.best == "turn"
    assert study.cost is None and "a table of times has none" in study.lacks[0]
    assert study.tables.overhead_message(7, 10) == pytest.approx(33e-6)
