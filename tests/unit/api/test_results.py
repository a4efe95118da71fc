"""What a run measured, as `wulf.load` gives it; and the list of runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import wulf
from tests.unit.report.make_run import EVIL, SHAPES, hostile, survey, troubled
from wulf.api.results import Results
from wulf.store.run import Run, RunWriter


def kept(path: Path, run: Run, headline: str = "") -> Path:
    """The run on disk."""
    with RunWriter(path, run.meta["command"], {"nodes": run.meta["nodes"]}) as writer:
        writer.write_json("plan.json", run.plan)
        writer.write_json("fingerprint.json", run.fingerprint)
        writer.write_findings(run.findings)
        for record in run.records:
            writer.append(record)
        writer.finish(run.meta["state"], exit_code=1, headline=headline)
    return path


@pytest.fixture
def monday(tmp_path: Path) -> wulf.Results:
    return wulf.load(kept(tmp_path / "monday", survey()))


def test_a_run_is_loaded_by_its_name(monday: wulf.Results, tmp_path: Path) -> None:
    assert wulf.load("monday", tmp_path).id == wulf.load("last", tmp_path).id == wulf.load(monday.id, tmp_path).id
    assert (monday.name, monday.command, monday.state, monday.exit_code) == ("monday", "survey", "complete", 1)
    assert monday.nodes == ("n1", "n2", "n3", "n4")
    assert monday.headline.startswith("n3 stands out") and monday.headline in repr(monday)
    assert [finding.subject for finding in monday.findings] == ["n3", "n4"]
    assert monday.facts["n1"]["cpu.cores"]["value"] == 32
    with pytest.raises(wulf.UsageError, match="no run named 'x'"):
        wulf.load("x", tmp_path)


def test_the_table_has_a_row_for_each_record_and_a_column_for_each_parameter(monday: wulf.Results) -> None:
    table = monday.table()
    assert len(table) == len(monday.records)
    streams = table[(table["metric"] == "throughput") & (table["client"] == "n1") & (table["server"] == "n2")]
    (own,) = [r for r in monday.records if r.metric == "throughput" and r.subject == "n1>n2"]
    assert (streams["value"], streams["bytes"], streams["transport"]) == (own.value, 131072, "tcp")
    assert {"verdict", "low", "high", "confidence", "unit", "pattern"} <= set(table.dtype.names)


def test_a_map_holds_values_intervals_and_why_one_is_missing(tmp_path: Path) -> None:
    run = wulf.load(kept(tmp_path / "run", troubled()))
    rtt = run.maps["TCP round trip, 1 B"]
    assert (rtt.metric, rtt.unit, rtt.nodes) == ("rtt", "s", ("n1", "n2", "n3", "n4"))
    assert rtt.values.shape == (4, 4) and np.isnan(np.diag(rtt.values)).all()
    assert rtt.values[0, 1] == rtt.values[1, 0] and rtt.low[0, 1] < rtt.values[0, 1] < rtt.high[0, 1]
    assert np.isnan(rtt.values[0, 3]) and rtt.reasons["n1", "n4"] == "n4: its session ended"
    assert np.isnan(rtt.values[2, 3]) and rtt.reasons["n3", "n4"] == "not measured"
    assert ("n1", "n1") not in rtt.reasons and ("n1", "n2") not in rtt.reasons
    rate = run.maps["TCP bandwidth"]
    assert rate.values[0, 1] != rate.values[1, 0], "a stream is of one direction"
    assert rate._repr_html_().count("<svg") == 1


def test_the_pictures_of_the_report_are_there(monday: wulf.Results, tmp_path: Path) -> None:
    assert [title.split(" (")[0] for title in monday.pictures] == [
        "TCP round trip, 1 B", "TCP bandwidth", "UDP round trip, 1 B", "Round trip over size",
        "Effective bandwidth over size",
    ]  # fmt: skip
    saved = monday.pictures["Round trip over size"].save(tmp_path / "rtt.svg")
    assert saved.read_text().startswith("<svg") and "currentColor" not in saved.read_text()
    with pytest.raises(wulf.UsageError, match="can't be written"):
        monday.pictures["Round trip over size"].save(tmp_path / "no" / "rtt.svg")


def test_the_report_is_written_where_it_is_asked_for(monday: wulf.Results, tmp_path: Path) -> None:
    assert monday.report(tmp_path / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("shape", sorted(set(SHAPES) - {"sixty-four"}))
def test_every_shape_of_a_run_can_be_looked_at(shape: str) -> None:
    run = Results(SHAPES[shape]())
    assert run.headline and run._repr_html_().startswith("<p><strong>") and repr(run)
    assert len(run.table()) == len(run.records)
    assert all(picture.svg.startswith("<svg") for picture in run.pictures.values())
    assert set(run.maps) <= {title.split(" (")[0].split(", from")[0] for title in run.pictures}


def test_no_text_of_others_is_markup_in_a_notebook() -> None:
    run = Results(hostile())
    shown = [run._repr_html_(), *(picture._repr_html_() for picture in run.pictures.values())]
    assert all("<script" not in each and "<img" not in each and "<b>n1" not in each for each in shown)
    assert all(EVIL not in each for each in shown)


def test_the_runs_are_listed_with_what_they_came_to(tmp_path: Path) -> None:
    kept(tmp_path / "monday", survey(), headline="n3 stands out.")
    kept(tmp_path / "friday", survey(slow=None), headline="No node and no link stands out.")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "run.json").write_text("{")
    for name, day in (("monday", 1), ("friday", 5)):
        meta = json.loads((tmp_path / name / "run.json").read_text()) | {"started": f"2026-11-0{day}T00:00:00Z"}
        (tmp_path / name / "run.json").write_text(json.dumps(meta))
    runs = wulf.runs(tmp_path)
    assert [(run.name, run.command, run.headline) for run in runs] == [
        ("monday", "survey", "n3 stands out."), ("friday", "survey", "No node and no link stands out."),
    ]  # fmt: skip
    assert list(runs.unread) == [tmp_path / "torn"]
    assert runs[-1].load().name == "friday" and [run.name for run in runs[:1]] == ["monday"]
    assert runs.table()["exit_code"].tolist() == [1, 1]
    assert "n3 stands out." in runs._repr_html_()
    assert len(wulf.runs(tmp_path / "none")) == 0
