"""Two runs side by side, at 80 columns and as a page."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.unit.measure.make_runs import run
from wulf.measure.comparing import RunComparison, compare_runs
from wulf.report.compare.runs import comparison_view, rows_of
from wulf.report.kit.page import write_view
from wulf.report.kit.terminal import BAR, print_view
from wulf.store.reading import StoreError

LIKE = {"n1>n2": 1.0, "n1>n3": 1.0, "n2>n3": 1.0}


@pytest.fixture
def found() -> RunComparison:
    facts = [{"n1": {"cpu.governor": {"value": value}}} for value in ("performance", "powersave")]
    a, b = run("monday", LIKE, seed=1, facts=facts[0]), run("friday", LIKE | {"n1>n3": 1.3}, seed=2, facts=facts[1])
    return compare_runs(a, b)


def shown(found: RunComparison) -> str:
    out = io.StringIO()
    print_view(comparison_view(found), Console(file=out, width=80, highlight=False))
    return out.getvalue()


def test_fits_80_columns_and_says_all(found: RunComparison) -> None:
    text = shown(found)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "2 slower" in text
    assert "A monday" in text and "B friday" in text
    assert re.search(r"n1 +cpu.governor +performance +powersave", text)
    row = next(line for line in text.splitlines() if "n1 → n3, tcp pingpong, 1 B " in line)
    assert re.search(r" slower .* \+\d\d\.\d\d% +\d", row)
    assert "one after the other" in text


def test_the_interval_is_drawn_around_no_difference(found: RunComparison) -> None:
    lines = shown(found).splitlines()
    start = next(line for line in lines if "1/1." in line).index("1/1.")
    drawn = {line[2:].split(",")[0] + line.split()[4]: line[start : start + BAR] for line in lines if " tcp " in line}
    assert "●" in drawn["n1 → n3pingpong,"][BAR // 2 + 3 :]
    assert "●" in drawn["n1 → n3stream,"][: BAR // 2 - 2]
    assert drawn["n1 → n2pingpong,"][BAR // 2] in "┼●"


def test_a_cell_of_a_node_survey_is_named_by_its_row_or_curve(found: RunComparison) -> None:
    def name(**own: str) -> str:
        cell = found.cells[0]
        one = replace(cell, a=cell.a.model_copy(update={"subject": "n1", **own}))
        return shown(replace(found, cells=[one]))

    assert "n1, cpu.int.add " in name(row="cpu.int.add")
    assert "n1, mem.chase.huge, 1 B " in name(curve="mem.chase.huge")


def test_json_rows_hold_interval_and_verdict(found: RunComparison) -> None:
    row = next(row for row in rows_of(found) if row["subject"] == "n1>n3" and row["metric"] == "rtt")
    assert row["verdict"] == "slower"
    assert row["paired"] is False
    assert row["low"] < 1.3 < row["high"]  # type: ignore[operator]


def test_the_page_holds_every_cell_and_needs_no_network(found: RunComparison, tmp_path: Path) -> None:
    path = tmp_path / "change.html"
    write_view(comparison_view(found), path)
    page = path.read_text()
    assert page.count("<svg") == len(found.cells)
    assert "powersave" in page
    assert "http" not in re.sub(r"http-equiv", "", page)
    assert "<script" not in page


def test_a_name_is_never_markup(found: RunComparison, tmp_path: Path) -> None:
    found.a.meta["id"] = "<script>alert(1)</script>"
    path = tmp_path / "change.html"
    write_view(comparison_view(found), path)
    assert "<script" not in path.read_text()


def test_a_page_that_can_not_be_written_is_named(found: RunComparison, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"missing/change\.html"):
        write_view(comparison_view(found), tmp_path / "missing" / "change.html")
