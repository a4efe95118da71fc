"""The HTML report as text: self-contained, escaped, complete, written atomically."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.make_run import EVIL, SHAPES, hostile, make_run, record, survey, troubled
from wulf.core.findings import Evidence, Finding, Severity
from wulf.measure.net.bottleneck import Bottleneck
from wulf.report.kit import html as html_kit
from wulf.report.kit.charts import MAX_HEAT_NODES, decade_ticks, heat_map, label, pair_chart, sweep_charts
from wulf.report.kit.html import json_for_script, plotly
from wulf.report.kit.matrices import pair_matrices, sweeps
from wulf.report.kit.view import walk
from wulf.report.run.html import render, write_report
from wulf.report.run.view import MAX_RECORDS, RecordTable, run_view
from wulf.store.reading import StoreError
from wulf.store.run import Run

PLOTLY = plotly([{}])
VOID = {"meta", "link", "br", "input", "img", "use", "rect", "path"}


class Checker(HTMLParser):
    """Notes elements, attributes and text, and whether every element is closed in its turn."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def parsed(run: Run) -> tuple[str, Checker]:
    text = render(run)
    checker = Checker()
    checker.feed(text.replace(PLOTLY, ""))
    assert checker.open == []
    return text, checker


def chart_data(text: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: list[dict[str, Any]] = json.loads(found[1])
    return data


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_sound_html(shape: str) -> None:
    _, checker = parsed(SHAPES[shape]())
    assert ("html", {"lang": "en"}) in checker.tags
    ids = [attrs["id"] for _, attrs in checker.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = [str(a["href"])[1:] for t, a in checker.tags if t == "a"]
    assert set(targets) <= set(ids)
    assert sum(tag == "h1" for tag, _ in checker.tags) == 1


@pytest.mark.parametrize("shape", ["survey", "hostile", "empty"])
def test_nothing_is_loaded_from_anywhere(shape: str) -> None:
    _, checker = parsed(SHAPES[shape]())
    for tag, attributes in checker.tags:
        assert "src" not in attributes, tag
        assert not any(name.startswith("on") for name in attributes), tag
        if tag != "a" and "href" in attributes:
            assert str(attributes["href"]).startswith(("data:", "#")), tag


def test_the_policy_allows_these_scripts_and_no_other() -> None:
    text, checker = parsed(survey())
    policy = next(str(a["content"]) for t, a in checker.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    scripts = re.findall(r"<script>(.*?)</script>", text.replace(PLOTLY, "PLOTLY"), re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        content = script.replace("PLOTLY", PLOTLY)
        assert base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() in policy


def test_markup_in_names_and_facts_stays_text() -> None:
    text, checker = parsed(hostile())
    own = text.replace(PLOTLY, "")
    assert EVIL not in own
    assert "<img" not in own
    assert sum(tag == "script" for tag, _ in checker.tags) == 3
    assert EVIL in "".join(checker.text)
    assert "\x1b" not in own


def test_chart_texts_are_escaped_for_plotly_too() -> None:
    charts = chart_data(render(hostile()))
    assert "&lt;b&gt;n1&lt;/b&gt;" in charts[0]["nodes"]
    assert label("<b>&") == "&lt;b&gt;&amp;"
    assert label("x" * 50, 9) == "xxxx…xxxx"


def test_json_in_a_script_can_not_end_it() -> None:
    text = json_for_script({"a": "</script><!--\u2028"})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--\u2028"}
    with pytest.raises(ValueError, match="Out of range"):
        json_for_script([float("nan")])


def test_a_page_of_four_nodes_can_be_sent_by_mail() -> None:
    assert len(render(survey()).encode()) <= 1_500_000


def test_in_a_clone_that_is_not_set_up_what_is_missing_is_named(monkeypatch) -> None:
    monkeypatch.setattr(html_kit, "PLOTLY", "absent.min.js")
    monkeypatch.setattr(html_kit, "_plotly", html_kit._plotly.__wrapped__)
    assert plotly([]) == ""
    with pytest.raises(StoreError, match=r"absent\.min\.js is missing") as error:
        plotly([{}])
    assert "make build" in error.value.next_step


def test_without_charts_there_is_no_plotly() -> None:
    assert len(render(make_run()).encode()) < 100_000


def test_sections_in_order_the_picture_first_then_what_stands_out() -> None:
    _, checker = parsed(survey())
    sections = [attrs["id"] for tag, attrs in checker.tags if tag == "section"]
    assert sections == ["pairs", "findings", "sweep", "records", "facts", "method"]


def test_a_run_cut_short_says_so() -> None:
    assert run_view(survey()).warning == ""
    _, checker = parsed(troubled())
    assert any("This run was interrupted" in text for text in checker.text)


def test_a_heat_map_has_every_pair_with_its_figures() -> None:
    matrix = pair_matrices(survey())[1]
    chart = heat_map(matrix, "not measured")
    for i, a in enumerate(matrix.nodes):
        for j, b in enumerate(matrix.nodes):
            if i == j:
                assert chart["z"][i][j] is None
                continue
            shown = chart["hover"][i][j]
            found = matrix.get(a, b)
            assert found is not None
            assert f"<b>{a} → {b}</b>" in shown
            assert "10 replicates" in shown
            assert "(95 % interval)" in shown
            assert shown.endswith("ok")
            assert 10 ** chart["z"][i][j] == pytest.approx((found.value or 0) / 1.25e8, rel=1e-4)


def test_a_node_against_itself_has_its_cell() -> None:
    chart = heat_map(pair_matrices(SHAPES["loopback"]())[0], "")
    assert chart["text"] == [["9.00"]]
    assert "n1, loopback" in chart["hover"][0][0]
    assert "1 of 1 pair, 9 µs" in render(SHAPES["loopback"]())


def test_the_evidence_of_a_fact_shows_both_sides() -> None:
    (table,) = run_view(survey()).sections[1].body[1].body
    assert table.rows == [("5.15.0-91-generic", "n4"), ("6.1.0-28-amd64", "the others")]


def test_values_that_span_little_are_coloured_linearly_and_look_alike() -> None:
    chart = heat_map(pair_matrices(survey(slow=None))[0], "")
    low, high = chart["range"]
    assert high / low == pytest.approx(1.5, rel=1e-4)
    assert "log" not in chart["unit"]
    assert all(low < value < high for row in chart["z"] for value in row if value is not None)


def test_yellow_is_slower_in_every_map() -> None:
    assert [chart["yellowHigh"] for chart in chart_data(render(survey())) if chart["kind"] == "heat"] == [
        True,
        False,
        True,
    ]


def test_what_has_no_value_is_hatched_with_its_reason_and_never_zero() -> None:
    rtt = heat_map(pair_matrices(troubled())[0], "not measured: the run is interrupted")
    assert [0, 3] in rtt["missing"]
    assert [3, 0] in rtt["missing"]
    assert rtt["z"][0][3] is None
    assert rtt["text"][0][3] == "×"
    assert "failed: n4: its session ended" in rtt["hover"][0][3]
    assert "not measured: the run is interrupted" in rtt["hover"][2][3]
    assert rtt["text"][2][3] == "–"
    assert rtt["noisy"] == [[1, 3], [3, 1]]
    assert rtt["text"][1][3] == "~25.0"


def test_sweep_charts_carry_intervals_and_gaps() -> None:
    rtt, rate = (make() for _, make in sweep_charts(sweeps(troubled())))
    series = rtt["series"][0]
    assert series["x"] == [4**i for i in range(7)]
    assert series["y"][3] is None
    assert "failed: no answer from n2 within 15 s" in series["hover"][3]
    known = [i for i in range(7) if i != 3]
    assert all(series["low"][i] < series["y"][i] < series["high"][i] for i in known)
    effective = rate["series"][0]
    assert effective["y"][6] == pytest.approx(2 * 4096 / series["y"][6])
    assert effective["low"][6] < effective["y"][6] < effective["high"][6]


def test_axis_ticks_are_round_in_the_units_shown() -> None:
    assert [text for _, text in decade_ticks([1.25e5, 1.25e9], "B/s")] == [
        "1 Mbit/s",
        "10 Mbit/s",
        "100 Mbit/s",
        "1 Gbit/s",
        "10 Gbit/s",
    ]
    assert [text for _, text in decade_ticks([17e-6, 29e-6], "s")] == ["16 µs", "18 µs", "20 µs", "25 µs", "30 µs"]
    assert 2 <= len(decade_ticks([1e-9, 1e9], "s")) <= 7
    assert decade_ticks([], "s") == []


def test_a_thousand_nodes_are_summarised() -> None:
    nodes = [f"n{i:04d}" for i in range(1000)]
    rings = [record(f"{a}>{b}", "rtt", 1e-5, phase="pairs") for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True)]
    run = make_run(nodes, rings, fingerprint={})
    (matrix,) = pair_matrices(run)
    chart = pair_chart(matrix, "")
    assert (chart["kind"], len(chart["y"])) == ("strip", 1000)
    text, checker = parsed(run)
    assert len(text.encode()) - len(PLOTLY.encode()) < 600_000
    assert f"More than {MAX_HEAT_NODES} nodes" in "".join(checker.text)
    assert f"{MAX_RECORDS} of 1,000 records" in "".join(checker.text)


def test_the_records_table_begins_with_what_is_not_ok() -> None:
    rows = next(one for one in walk(run_view(troubled()).sections) if isinstance(one, RecordTable)).rows
    assert [row[9].style == "ok" for row in rows] == [False] * 6 + [True] * 26


def test_backquotes_are_code() -> None:
    assert "<code>tc qdisc show</code>" in render(survey())
    run = survey()
    run.findings[0].text = "`<b>`"
    assert f"<code>{html.escape('<b>')}</code>" in render(run)


def test_written_atomically(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(survey(), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert path.stat().st_mode & 0o777 == 0o644
    write_report(make_run(), path)
    assert "Nothing was measured." in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_can_not_be_written_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"can't write the page .*/missing/report\.html"):
        write_report(survey(), tmp_path / "missing" / "report.html")
    (tmp_path / "taken").mkdir()
    with pytest.raises(StoreError):
        write_report(survey(), tmp_path / "taken")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


def test_a_verdicts_evidence_stands_beside_its_thresholds() -> None:
    evidence = Evidence.model_validate(
        {"subject": "n2", "metric": "CPU 3 used", "unit": "1", "value": 0.99, "threshold": 0.95}
    )
    run = survey()
    run.findings = [
        Finding(kind="bottleneck", severity=Severity.INFO, subject="n2", text="cpu-bound", evidence=[evidence])
    ]
    run.records[0] = record("n1>n2", "rtt", 1e-5, bottleneck=[Bottleneck("cpu-bound", "n2", "busy").to_json()])
    _, checker = parsed(run)
    text = " ".join(checker.text)
    assert "Threshold" in text
    assert {"0.99", "0.95", "cpu-bound"} <= set(text.split())
