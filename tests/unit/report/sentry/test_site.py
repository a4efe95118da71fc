"""The page of a whole cluster: its first line, tables, the drawn grid, the terminal's; bounded, and safe."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.unit.report.make_run import EVIL
from tests.unit.sentry.making import DRIFT, FLAPPING, NOW, STEP, made
from tests.unit.sentry.test_site import site
from tests.wording import Wording
from wulf.core.findings import Severity
from wulf.report.kit.console import CleanConsole
from wulf.report.kit.page import render_view
from wulf.report.kit.terminal import print_view
from wulf.report.kit.view import Columns, Drawing, walk
from wulf.report.sentry.days import days_chart, printed_cost, printed_days, spent_chart
from wulf.report.sentry.site import MOST_INCIDENTS, headline, move, site_object, site_view
from wulf.sentry.incident import Incident, Kind, Observation, What, seen
from wulf.sentry.site import Site, read_site, rows_of
from wulf.sentry.state import SentryState


def printed(found: Site, width: int = 80) -> str:
    console = CleanConsole(file=io.StringIO(), width=width, highlight=False, markup=False)
    print_view(site_view(found), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def quiet(found: Site) -> Site:
    return replace(found, open=[], closed=[], marked=[], unmeasured=[])


def table(found: Site, key: str) -> Columns:
    (one,) = [one for one in walk(site_view(found).sections) if isinstance(one, Columns) and one.key == key]
    return one


def test_all_of_it_in_a_terminal(wording: Wording) -> None:
    text = printed(site())
    assert max(map(len, text.splitlines())) <= 80
    wording(text)


def test_the_first_line_answers(wording: Wording, tmp_path: Path) -> None:
    found = site()
    wording(headline(found), "open")
    wording(headline(quiet(found)), "nothing open")
    one = next(one for one in found.open if one.what.node == DRIFT)
    wording(headline(replace(found, open=[one])), "one")
    with SentryState(tmp_path / "sentry.db") as state:
        wording(headline(read_site(state, NOW, 30)), "no nodes")
        state.watch({"n1": "a"}, NOW, 0.1)
        wording(headline(read_site(state, NOW, 30)), "nothing measured")


def test_a_state_without_anything_is_shown(tmp_path: Path) -> None:
    with SentryState(tmp_path / "sentry.db") as state:
        found = read_site(state, NOW, 30)
    assert "No node is watched yet." in printed(found)
    assert "<h1>" in render_view(site_view(found))
    assert json.dumps(site_object(found), allow_nan=False)


def test_each_cell_of_the_grid_is_drawn_in_percent() -> None:
    found = site()
    rows = rows_of(found)
    chart = days_chart(found, rows)
    assert (len(chart["z"]), len(chart["z"][0]), len(chart["days"])) == (len(rows), 90, 90)
    assert chart["days"][-1] == "2026-11-23"
    assert chart["rows"][0] == STEP
    for i, row in enumerate(rows):
        drawn = [np.nan if value is None else value / 100 for value in chart["z"][i]]
        np.testing.assert_allclose(drawn, row.worse, atol=0.0006)
    assert {(i, j) for i, j, _ in chart["told"]} == {
        (i, j) for i, row in enumerate(rows) for j in range(90) if row.of[j] >= 0
    }
    assert {chart["metrics"][metric] for i, _, metric in chart["told"] if i == 0} == {"mem.triad"}


def test_changes_are_marked_on_their_day() -> None:
    found = site()
    marks = {mark["row"]: mark for mark in days_chart(found, rows_of(found))["marks"]}
    assert (marks[0]["day"], marks[0]["open"], marks[0]["worse"]) == ("2026-10-15", True, True)
    closed = [mark for mark in marks.values() if not mark["open"]]
    assert len(closed) == 2


def test_cost_by_day_and_measure() -> None:
    chart = spent_chart(site())
    assert [one["name"] for one in chart["series"]] == ["node"]
    assert chart["series"][0]["y"][-2] == 199
    (line,) = printed_cost(site(), 78)
    assert len(line) <= 78


def test_a_terminal_shows_when_each_began() -> None:
    lines = {line.split()[0]: line for line in printed_days(site(), 78) if line.startswith(("n", "9"))}
    strip = lines[STEP].split()[1]
    assert strip == "·" * 25 + "▆" * 20, "two days a character, 40 of 90 days"
    assert lines[FLAPPING].count("▆") + lines[FLAPPING].count("▅") >= 4
    assert max(map(len, printed_days(site(), 78))) <= 78


def incident(i: int) -> Incident:
    what = Observation(
        Kind.CHANGED, f"n{i}", "mem.triad", Severity.BAD, NOW, NOW, "It changed.", "", "B/s", 2e9, 1e9, 0.5, 0.4, 0.6
    )
    return seen(None, what, NOW)[0]


def test_tables_are_bounded_and_json_has_all() -> None:
    found = replace(site(), open=[incident(i) for i in range(1000)])
    assert len(table(found, "incidents").rows) == MOST_INCIDENTS
    assert len(site_object(found)["open"]) == 1000
    assert "and 185 more on the page" in printed(found)


@pytest.mark.parametrize(
    ("unit", "metric", "expected"),
    [
        ("B/s", "mem.triad", "2.00 → 1.00 GB/s"), ("B/s", "tcp.stream", "16.0 → 8.00 Gbit/s"),
        ("flop/s", "cpu.add", "2.00 → 1.00 Gflop/s"),
    ],
)  # fmt: skip
def test_figures_are_shown_in_the_units_that_people_know(unit: str, metric: str, expected: str) -> None:
    one = incident(1)
    assert move(replace(one, what=replace(one.what, unit=unit, metric=metric))) == expected


def test_names_and_sentences_drive_neither_page_nor_terminal(tmp_path: Path) -> None:
    with SentryState(made(tmp_path / "sentry.db", nodes=10, days=10)) as state:
        state.watch({EVIL: EVIL, "n1": "a"}, NOW, 0.1)
        what = replace(incident(1).what, node=EVIL, metric=f"{EVIL}\x1b[2J", text=f"{EVIL}\x1b[31m")
        state.keep(seen(None, what, NOW)[0], What.OPENED, NOW)
        found = read_site(state, NOW, 10)
    page = render_view(site_view(found))
    assert EVIL not in page
    assert "\x1b" not in page
    assert "\x1b[2J" not in printed(found)


def test_a_site_is_one_page_of_bounded_size() -> None:
    page = render_view(site_view(site()))
    assert len(page.encode()) < 1.5e6
    drawn = [one.key for one in walk(site_view(site()).sections) if isinstance(one, Drawing)]
    assert drawn == ["nodes-days", "spent"]
