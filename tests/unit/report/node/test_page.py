"""The node probe's part of the HTML report, and the page of machines: complete, escaped, absent where due."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.make_node import NODE_SHAPES, measured, node_run
from tests.unit.report.make_run import EVIL, SHAPES, make_run, record
from tests.unit.report.run.test_html import PLOTLY, Checker, chart_data, parsed
from wulf.measure.node.machines import machines_of
from wulf.report.kit.page import render_view, write_view
from wulf.report.kit.terminal import print_all
from wulf.report.kit.view import Cell, Columns, Items, Note, Section, walk
from wulf.report.node.comparison import machines_of_run, machines_section, machines_view, titles
from wulf.report.node.machines import (
    VIEWS,
    beside,
    drawn_views,
    footnote,
    json_rows,
    machine_chart,
    machine_rows,
    ratio_ticks,
)
from wulf.report.node.sections import MOST_NODES, MOST_SWEEPS, node_sections
from wulf.report.run.html import render
from wulf.report.run.view import RecordTable, run_view

SECTIONS = ["node-key", "node-rows", "node-sweeps", "node-matrices", "node-noise", "node-machines"]


def sections(checker: Checker) -> list[str]:
    return [str(attrs["id"]) for tag, attrs in checker.tags if tag == "section"]


@pytest.mark.parametrize("shape", NODE_SHAPES)
def test_every_shape_is_sound_html(shape: str) -> None:
    text, checker = parsed(NODE_SHAPES[shape]())
    ids = [attrs["id"] for _, attrs in checker.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {str(a["href"])[1:] for t, a in checker.tags if t == "a"} <= set(ids)
    assert EVIL not in text.replace(PLOTLY, "")
    images = [attrs for _, attrs in checker.tags if attrs.get("role") == "img"]
    assert all(attrs.get("aria-label") for attrs in images)


def test_all_sections_stand_between_findings_and_facts() -> None:
    _, checker = parsed(node_run(("n1", "n2")))
    assert sections(checker) == ["findings", *SECTIONS, "records", "facts", "method"]


def test_a_mixed_run_has_both_parts() -> None:
    _, checker = parsed(NODE_SHAPES["node-mixed"]())
    assert sections(checker) == ["pairs", "findings", "sweep", *SECTIONS, "records", "facts", "method"]


@pytest.mark.parametrize("shape", ["survey", "troubled", "empty", "layers"])
def test_pages_without_records_of_nodes_have_nothing_of_it(shape: str) -> None:
    run = SHAPES[shape]()
    assert node_sections(run) == []
    assert "wulf-node's sections" not in render(run), "nor the script"


def test_a_single_probe_is_a_record_and_no_section() -> None:
    _, checker = parsed(NODE_SHAPES["node-probe"]())
    assert sections(checker) == ["findings", "records", "facts", "method"]


def test_charts_have_a_place_each() -> None:
    for shape in ("node", "node-five", "node-nothing"):
        text, checker = parsed(NODE_SHAPES[shape]())
        places = {attrs["id"] for _, attrs in checker.tags if "chart" in str(attrs.get("class")).split()}
        drawn = {chart["id"] for chart in chart_data(text)} if places else set()
        assert places == drawn


def test_many_nodes_are_bounded_and_the_odd_one_is_among_them() -> None:
    run = NODE_SHAPES["node-forty"]()
    elements = list(walk(node_sections(run)))
    grid = next(one for one in elements if isinstance(one, Columns) and one.alike)
    assert len(grid.heads) == 2 + MOST_NODES
    assert "node33" in grid.heads
    latencies = [one.heading for one in elements if isinstance(one, Section) and one.heading.startswith("Latency, ")]
    assert len(latencies) == MOST_SWEEPS
    assert latencies[-1] == "Latency, node33"
    assert any(f"sweeps of {40 - MOST_SWEEPS} more nodes" in one.text for one in elements if isinstance(one, Note))
    (machines,) = (one for one in elements if isinstance(one, Columns) and one.key == "machine-table")
    assert len(machines.heads) == 3  # all of one kind
    assert len(render(run)) - len(PLOTLY) < 2_000_000


def test_a_deviation_is_said_in_its_cell() -> None:
    text, checker = parsed(NODE_SHAPES["node-five"]())
    said = [words for words in checker.text if re.fullmatch("[▲▽◆] [^;]*", words)]
    assert said == ["▽ −6 % better", "▲ +31 % worse", "◆ ×2", "▲ ÷2.3 worse", "▲ ÷2.3 worse", "▲ +31 % worse"]
    assert "worse than its like" in text
    assert "worse than its like" not in render(node_run(("n1", "n2")))


def test_few_nodes_are_not_judged_and_the_page_says_so() -> None:
    said = "nobody can say which one is odd"
    assert said in " ".join(parsed(node_run(("n1", "n2")))[1].text)
    assert said not in " ".join(parsed(NODE_SHAPES["node-five"]())[1].text)
    assert said not in " ".join(parsed(node_run(("n1",)))[1].text)


def test_reasons_stand_below_with_the_numbers_of_their_cells() -> None:
    _, checker = parsed(node_run(("n1",)))
    reasons = [attrs["id"] for tag, attrs in checker.tags if str(attrs.get("id", "")).startswith("why-")]
    assert reasons == ["why-1", "why-2", "why-3", "why-4"]
    assert any("io_uring is switched off here" in text for text in checker.text)


def test_the_records_of_nodes_count_in_bytes_and_the_method_is_theirs() -> None:
    elements = list(walk(run_view(node_run(("n1",))).sections))
    records = next(one for one in elements if isinstance(one, RecordTable))
    triad = next(row for row in records.rows if "bandwidth" in row[2])
    assert "GB/s" in triad[4].text
    assert "fresh memory, files, processes and sockets" in method_of(elements)
    assert "fresh sockets and buffers" in method_of(walk(run_view(SHAPES["survey"]()).sections))


def method_of(elements: Iterable[Any]) -> str:
    return next(one for one in elements if isinstance(one, Items)).items[0].text


def two_machines() -> Any:
    runs = {"old": node_run(("n1",)), "new": node_run(("big",), seed=9)}
    for one in runs["new"].records:
        if one.metric == "latency" and one.value is not None:
            one.value, one.low, one.high = one.value / 2, one.value / 2.1, one.value / 1.9
    return beside(machines_of(runs, {"old": 1000.0}), titles())


def test_machines_have_a_line_for_time_cycles_and_cost_and_the_best_is_marked() -> None:
    lines = [line for line in machine_rows(two_machines()) if line[0].title == "mem.l2.latency"]
    assert [line[1].text for line in lines] == ["time per operation", "cycles per operation", "price per Mop/s"]
    assert [cell.text.endswith(" ★") for cell in lines[0][2:]] == [False, True]
    assert lines[2][3] == Cell("–", "dim", small=["no price given"])
    assert lines[0][0].text == "L2, memory latency"


def test_a_program_of_ones_own_comes_first_by_clock_and_time() -> None:
    mine = [
        record(node, "wall", wall, probe="app", phase="app", unit="s", params={"pattern": "run", "command": "./solver"})
        for node, wall in (("n1", 10.0), ("n2", 8.0))
    ]
    runs = {"nodes": node_run(("n1", "n2"), cpus=2), "mine": make_run(("n1", "n2"), mine)}
    these = beside(machines_of(runs, {"n1": 1000.0}), titles())
    lines = machine_rows(these)[:3]
    assert [[cell.text for cell in line] for line in lines] == [
        ["./solver, wall", "time per run", "10.0 s", "8.00 s ★"],
        ["./solver, wall", "cycles per run", "31.0 G", "24.8 G ★"],
        ["./solver, wall", "price per run/s", "10,000 ★", "–"],
    ]
    assert "A program's cycles" in footnote(these.machines)
    assert "A program's cycles" not in footnote(two_machines().machines)
    assert json_rows(these)[0]["work"] == "run"


def test_a_chart_of_machines_is_relative_to_the_best_of_each_line() -> None:
    these = two_machines()
    time = machine_chart(these, VIEWS[0])
    place = time["names"].index("L2, memory latency")
    assert time["series"][1]["x"][place] == 1
    assert time["series"][0]["x"][place] == pytest.approx(2, rel=0.05)
    assert time["short"][place] == "mem.l2.latency"
    assert [view.key for view in drawn_views(these)] == ["time", "cycles"], "one price is no comparison"
    assert drawn_views(beside(these.machines[:1], titles())) == []


def test_the_json_is_in_si_units() -> None:
    one = next(row for row in json_rows(two_machines()) if row["row"] == "mem.l2.latency")
    assert one["time"]["value"] == pytest.approx(4.9e-9, rel=0.02)
    assert one["cycles"]["value"] == pytest.approx(4.9e-9 * 3.1e9, rel=0.02)
    assert one["cost"]["value"] == pytest.approx(4.9e-6, rel=0.02)


@pytest.mark.parametrize("top", [1.0, 1.04, 1.3, 2.2, 9.0, 800.0, 1e7])
def test_ticks_of_ratios_reach_the_top_and_begin_at_the_best(top: float) -> None:
    ticks = ratio_ticks(top)
    assert ticks[0] == 1
    assert 2 <= len(ticks) <= 8
    assert ticks == sorted(ticks)


def test_the_page_of_machines_is_sound_and_needs_no_network(tmp_path: Path) -> None:
    these = two_machines()
    write_view(machines_view(these), tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text.replace(PLOTLY, ""))
    assert checker.open == []
    assert text.startswith("<!doctype html>")
    policy = next(str(a["content"]) for t, a in checker.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.count("sha256-") == 2
    assert not any("src" in attrs for _, attrs in checker.tags)
    one = render_view(machines_view(beside(these.machines[:1], titles())))
    assert PLOTLY not in one
    assert "<script" not in one


def test_the_terminal_shows_them_in_eighty_columns() -> None:
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    print_all([machines_section(two_machines())], Console(file=out, width=80))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "old" not in text.splitlines()[0]  # nodes have names of their own here
    assert "price 1,000" in text
    assert "L2, memory latency" in text


def test_of_many_nodes_one_of_each_kind_is_compared() -> None:
    nodes = [f"n{i}" for i in range(1, 9)]
    run = node_run(nodes, cpus=2)
    run.fingerprint["n8"]["cpu.model"] = {"value": "another"}
    assert [one.name for one in machines_of_run(run)] == ["n1, one of n[1-7]", "n8"]
    assert [one.name for one in machines_of_run(node_run(("n1", "n2"), cpus=2))] == ["n1", "n2"]


def test_a_node_without_rows_is_no_machine() -> None:
    run = make_run(("n1",), [measured("n1", "latency", 1e-9, {"pattern": "syscall"}, unit="s")])
    assert machines_of_run(run) == []
