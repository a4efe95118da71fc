"""A prediction in words and as a page: what must stand there, and what must not."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.workflow.predict_fakes import FakeReplay, make_trace, this
from tests.wording import Wording, lacking
from wulf.core.units import show
from wulf.model.foresight.prediction import CallKind, Differences, Prediction, Step, TraceFit
from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.model.network.figures import Network, scaled
from wulf.model.network.file import parse_network, shipped_network
from wulf.report.foresight.networks import network_details, network_view, networks_view, written
from wulf.report.foresight.object import predict_object
from wulf.report.foresight.page import FULL, predict_page, timeline_chart
from wulf.report.foresight.plots import curve_plots, sensitivity_plot
from wulf.report.foresight.predict import MOST_ROWS, headline, predict_view
from wulf.report.kit.page import render_view, write_view
from wulf.report.kit.view import Section, View
from wulf.stats.estimates import Interval
from wulf.store.reading import StoreError
from wulf.workflow.foresight.predict import predict
from wulf.workflow.foresight.replaying import Replay
from wulf.workflow.foresight.scene import Wanted
from wulf.workflow.foresight.traced import read_traced


@pytest.fixture
def found(tmp_path: Path) -> Prediction:
    networks = [scaled(this(), latency=0.5), Network(shipped_network("10gbe"))]
    traced = read_traced(make_trace(tmp_path / "trace"))
    wanted = Wanted(networks, prices={"this*latency=0.5": 1000.0}, timeline=True, origin="own.toml")
    return predict(Replay(FakeReplay(share=0.99)), traced, this(), wanted)


def section(view: View, heading: str) -> Section:
    return next(one for one in view.sections if one.heading == heading)


def words(view: View) -> str:
    return "\n".join(str(one) for one in view.sections)


def test_calibration_and_coverage_stand_beside_every_run_time(found: Prediction, wording: Wording) -> None:
    times = section(predict_view(found), "Run time")
    said = ("covers 99.0 %", "this (own.toml) the replay takes 1.26 s", "measured were 1.26 s")
    assert lacking(times.lines[0], *said) == []
    wording(times.lines[0])
    assert times.table is not None and times.table.heads[-1] == "covered"
    assert [row[-1] for row in times.table.rows] == ["99.0 %"] * 3
    assert times.table.rows[1][:4] == ["this*latency=0.5", "1.160", "1.04–1.29", "+7.9 %"]


def test_a_model_that_is_far_off_says_so(found: Prediction) -> None:
    far = replace(found, calibration=replace(found.calibration, measured=0.9))
    line = section(predict_view(far), "Run time").lines[0]
    assert "40.0 % too long. That is too far" in line
    unknown = replace(found, calibration=replace(found.calibration, measured=None))
    assert "is not known" in section(predict_view(unknown), "Run time").lines[0]


def test_calls_that_the_replay_has_otherwise_are_listed(found: Prediction, wording: Wording) -> None:
    large = CallKind("MPI_Send", 64, "first", 4, 0.4, 0.004, (1, 7, 0.1, 0.001))
    small = CallKind("MPI_Allreduce", 8, "", 900, 0.009, 0.01, (1, 7, 0.1, 0.001))
    some = replace(found, differences=Differences((large, small), 0.409, 0.014, 2))
    shown = section(predict_view(some), "Where the replay differs from the traced run")
    assert lacking(shown.lines[0], "102 ms of a rank's time as traced", "3.5 ms in the replay") == []
    assert shown.table is not None
    (row,) = shown.table.rows  # the other differs by less than a hundredth of the run
    assert row == ["MPI_Send, the first", "64 byte", "4", "400 ms", "4 ms", "−7.9 %"]
    assert lacking(shown.small[0], "record 7 of rank 1", "100 ms as traced", "1 ms in the replay") == []
    wording(shown.lines[0])
    told = predict_object(some)["differences"]
    assert told["kinds"] == 2 and told["largest"][0]["with"] == "first"


def test_time_that_the_replay_is_known_to_get_right_stands_beside_the_coverage(found: Prediction) -> None:
    far = CallKind("MPI_Wait", 8, "", 9, 0.5, 0.7, (0, 1, 0.1, 0.2))
    near = CallKind("MPI_Send", 8, "", 9, 0.5, 0.55, (0, 1, 0.1, 0.2))
    some = replace(found, differences=Differences((far, near), 1.0, 1.25, 2))
    assert some.met == pytest.approx(1 - 0.5 / (4 * 1.26))
    assert "has 90.1 % of it within 15 %" in section(predict_view(some), "Run time").lines[0]
    assert predict_object(some)["coverage"]["met"] == some.met
    untold = replace(found, differences=Differences())
    assert untold.met is None
    assert "within 15 %" not in section(predict_view(untold), "Run time").lines[0]


def test_a_fit_is_shown_beside_what_was_measured(found: Prediction, wording: Wording) -> None:
    latency, byte = Interval(2e-3, 1.5e-3, 2.5e-3), Interval(2e-8, 1e-8, 4e-8)
    parts = {"latency": (1e-3, latency), "byte": (1e-8, byte), "gap": (1e-6, None)}
    some = replace(found, fit=TraceFit(parts, (5.0, 5.0), (5.0, 5.5), 90))
    shown = section(predict_view(some), "The network as the trace's calls have it")
    assert shown.table is not None
    assert shown.table.rows == [
        ["latency", "1 ms", "2 ms", "1.5 ms", "2.5 ms"], ["byte", "100 MB/s", "50 MB/s", "100 MB/s", "25 MB/s"],
        ["gap", "1 µs", "as measured", "", ""],
    ]  # fmt: skip
    assert lacking(shown.lines[0], "5 s", "5.5 s", "10.0 % too long") == []
    wording(shown.lines[0])
    assert predict_object(some)["fit"]["parts"]["gap"] == {"measured": 1e-6, "fitted": None}


def test_verdicts_come_with_why_and_what_next(found: Prediction, wording: Wording) -> None:
    worth = section(predict_view(found), "Is it worth it?")
    assert lacking(worth.lines[0], "this*latency=0.5: buy", "saves 6.9 % to 8.9 %") == []
    wording("\n".join(worth.lines))
    assert "are estimates" in worth.lines[1] and "Next: measure the candidate" in worth.lines[1]
    assert worth.table is not None
    assert worth.table.rows[0][1:5] == ["buy", "5.0 %", "$1,000", "+7.94 %"]
    assert worth.table.rows[1][3].startswith("$")  # a port's price for each of four hosts


def test_what_saves_nothing_saves_nothing_by_its_price(found: Prediction) -> None:
    slow = replace(found.candidates[0], gain=Interval(-0.1, -0.2, 0.1))
    worth = section(predict_view(replace(found, candidates=(slow,))), "Is it worth it?")
    assert worth.table is not None and worth.table.rows[0][3:] == ["$1,000", "nothing", ""]


def test_headlines(found: Prediction, wording: Wording) -> None:
    assert lacking(headline(found), "buy this*latency=0.5", "saves 6.9 % to 8.9 %") == []
    none = headline(replace(found, candidates=()))
    assert lacking(none, "mpirun ./app, 4 ranks: ", "1.26 s in the replay on this", "1.26 s measured") == []
    wording(f"{headline(found)}\n{none}")
    word = found.candidates[0].verdict
    for said, expected in (("don't", "don't buy"), ("not resolvable", "some are undecided")):
        one = replace(found.candidates[0], verdict=replace(word, word=said))  # type: ignore[arg-type]
        assert expected in headline(replace(found, candidates=(one,)))


def test_what_is_left_out_is_listed(found: Prediction) -> None:
    left = section(predict_view(found), "What is left out")
    assert left.table is not None and left.table.rows[0] == ["MPI_Put", "one-sided", "7", "100 ms"]
    whole = replace(found, program=replace(found.program, left_out=(), covered=1.0))
    (line,) = section(predict_view(whole), "What is left out").lines
    assert line.startswith("Nothing: ")


def test_long_tables_are_cut(found: Prediction) -> None:
    parts = dict.fromkeys(("compute", "latency", "bytes", "overhead", "waiting"), 1.0)
    steps = tuple(Step(rank, float(rank), rank + 1.0, "compute", call=f"MPI_{rank}") for rank in range(99))
    long = replace(found, path=CriticalPath(steps, dict.fromkeys(range(99), parts), 1000))
    view = predict_view(long)
    for heading in ("Critical path by rank", "Critical path by call"):
        table = section(view, heading).table
        assert table is not None and len(table.rows) == MOST_ROWS
    assert "Its 99 longest steps of 1,000." in section(view, "Critical path by call").lines


def test_no_section_is_empty(found: Prediction) -> None:
    for one in predict_view(replace(found, path=CriticalPath(), curves=(), tolerances={}, changes=())).sections:
        assert one.lines or one.table or one.plot


def test_json_is_json_and_in_si(found: Prediction) -> None:
    content = json.loads(json.dumps(predict_object(found), allow_nan=False))
    assert content["best"] == "this*latency=0.5"
    assert content["calibration"]["error"] == pytest.approx(0, abs=1e-9)
    assert content["candidates"][0]["seconds"]["value"] == pytest.approx(1.16)
    assert content["candidates"][0]["saved_by_thousand"]["value"] == pytest.approx(0.1 / 1.26)
    assert content["coverage"]["left_out"][0]["what"] == "MPI_Put"
    assert content["critical_path"]["steps"][1]["from"] == 0


def test_curves_reach_from_little_to_much(found: Prediction) -> None:
    plots = dict(curve_plots(found))
    latency = plots["Run time over latency"].curves[0]
    assert latency.x[-1] == pytest.approx(200e-6) and latency.y[-1] == pytest.approx(3.06)
    assert all(value > 0 for value in latency.x)
    bandwidth = plots["Run time over bandwidth"].curves[0]
    assert bandwidth.x[-1] == pytest.approx(1e8)
    several = sensitivity_plot(found)
    assert several is not None and [word for _, word in several.x_ticks] == ["10gbe", "this*latency=0.5", "this"]
    assert sensitivity_plot(replace(found, candidates=())) is None


def test_the_timeline_has_a_byte_a_bucket(found: Prediction) -> None:
    chart = timeline_chart(found.timelines, found.path)
    coarse, fine = chart["levels"]
    assert list(b64decode(coarse["data"][0]))[:2] == [FULL // 2] * 2
    assert list(b64decode(coarse["data"][2]))[:2] == [FULL // 4] * 2
    assert len(b64decode(fine["data"][0])) == fine["buckets"] > coarse["buckets"]
    assert chart["rows"] == ["0–3"]
    assert chart["path"]["y"] == [0, 0, None, 0, 0, None]
    assert len(chart["path"]["text"]) == len(chart["path"]["x"])


def test_the_page_works_offline_and_escapes(found: Prediction, tmp_path: Path) -> None:
    evil = replace(found, traced=replace(found.traced, command="<script>alert(1)</script>"))
    page = render_view(predict_page(evil))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert page.count('class="chart"') == 4  # latency, bandwidth, networks, timeline
    write_view(predict_page(found), tmp_path / "page.html")
    with pytest.raises(StoreError):
        write_view(predict_page(found), tmp_path / "no" / "page.html")


def test_networks_in_words() -> None:
    table = networks_view([Network(shipped_network(name)) for name in ("ib-hdr", "gbe", "ideal")]).sections[0].table
    assert table is not None and [row[0] for row in table.rows] == ["ideal", "gbe", "ib-hdr"]
    assert table.rows[0][4] == "any" and table.rows[1][-1] == "$32 (2006)"
    view = network_view(Network(shipped_network("10gbe")))
    assert "Hot Interconnects 2003" in words(view)
    assert section(view, "Price").lines[0].startswith("$588 a port in 2012")
    assert "none" in words(network_view(Network(shipped_network("ideal"))))
    shares = [
        name
        for name in ("10gbe", "roce-25")
        if "share its adapter" in words(network_view(Network(shipped_network(name))))
    ]
    assert shares == ["10gbe"]
    details = json.loads(json.dumps(network_details(Network(shipped_network("gbe"))), allow_nan=False))
    assert details["replay"]["inter"]["latency_ps"] == 19_000_000


def test_a_measured_network_that_stores_packets_is_shown() -> None:
    figure = {"value": 54e-9, "source": "run r1"}
    stored = {"packet_byte": figure, "packet": {"value": 1448, "source": "run r1"}}
    base = shipped_network("gbe")
    inter = type(base.inter).model_validate({**base.inter.model_dump(), **stored})
    table = network_view(Network(base.model_copy(update={"inter": inter}))).sections[0].table
    assert table is not None
    rows = {row[0]: row[1] for row in table.rows}
    assert [value for name, value in rows.items() if "stored and forwarded" in name] == ["54 ns"]
    assert rows["the longest such packet"] == show(1448, "B", 4)


@pytest.mark.parametrize("name", ["10gbe", "ideal", "ib-hdr"])
def test_a_network_written_is_the_network(name: str) -> None:
    file = shipped_network(name)
    file = file.model_copy(update={"intra": file.inter})
    assert parse_network(written(file), "again") == file
