"""The table of culprits and the picture of the worst detours, in a terminal and on a page."""

from __future__ import annotations

import io
import json
from pathlib import Path

from rich.console import Console

from tests.unit.findings.node.test_noise import cluster
from wulf.report.kit.page import write_view
from wulf.report.kit.terminal import print_view
from wulf.report.kit.view import View
from wulf.report.node.culprits import BAR, answer, culprit_sections, detour_chart, timeline, told

DETOUR = {
    "at": 0.5, "length": 100e-6, "more": 2,
    "pieces": [
        {"class": "entry", "name": "", "at": 0.0, "length": 10e-6},
        {"class": "interrupt", "name": "local_timer", "at": 10e-6, "length": 15e-6},
        {"class": "task", "name": "make", "pid": 7, "at": 25e-6, "length": 70e-6},
        {"class": "entry", "name": "", "at": 95e-6, "length": 4e-6},
    ],
}  # fmt: skip


def test_a_timeline_has_a_letter_for_whoever_had_most_of_each_part() -> None:
    drawn = timeline(DETOUR)
    assert len(drawn) == BAR
    assert drawn == "··iiii" + "T" * 17 + "·"


def test_in_words_who_took_most_comes_first() -> None:
    assert told(DETOUR) == "task make 70 µs, interrupt local_timer 15 µs, kernel entry 14 µs and 1 more"


def test_the_chart_has_a_series_a_class() -> None:
    chart = detour_chart([(("n1", 0), DETOUR), (("n2", 3), DETOUR)])
    assert chart["rows"] == ["n1 CPU 0", "n2 CPU 3"]
    assert [one["name"] for one in chart["classes"]] == ["interrupt", "task", "kernel entry"]
    assert [one["row"] for one in chart["classes"]] == [[0, 1], [0, 1], [0, 0, 1, 1]]
    assert [one["plain"] for one in chart["classes"]] == [False, False, True]
    json.dumps(chart)


def test_who_took_the_cpu_in_a_terminal(tmp_path: Path) -> None:
    sections = culprit_sections(cluster(4))
    view = View("noise", answer(cluster(4)), sections)
    text = io.StringIO()
    print_view(view, Console(file=text, width=80))
    said = text.getvalue()
    assert "n3 CPU 1 loses" in said
    assert "kworker/1:2" in said
    assert "The worst detours" in said
    assert "2 CPUs that lose less" in said
    assert max(map(len, said.splitlines())) <= 80
    write_view(view, tmp_path / "page.html", "what was kept")
    page = (tmp_path / "page.html").read_text()
    assert "culprits-worst" in page
    assert "n1 CPU 0" in page


def test_a_run_without_culprits_has_no_such_section() -> None:
    assert culprit_sections([]) == []
    assert answer([]) == ""
