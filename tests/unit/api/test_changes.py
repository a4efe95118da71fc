"""Two runs beside each other, as `wulf.compare` gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

import wulf
from tests.unit.measure.make_runs import run
from wulf.api.changes import FIELDS
from wulf.api.results import Results
from wulf.core.errors import FOUND
from wulf.report.compare.runs import rows_of

LIKE = {"n1>n2": 1.0, "n1>n3": 1.0, "n2>n3": 1.0}


@pytest.fixture
def change() -> wulf.Change:
    facts = [{"n1": {"cpu.governor": {"value": value}}} for value in ("performance", "powersave")]
    a, b = run("monday", LIKE, seed=1, facts=facts[0]), run("friday", LIKE | {"n1>n3": 1.3}, seed=2, facts=facts[1])
    return wulf.compare(Results(a), Results(b))


def test_what_got_slower_is_in_the_table(change: wulf.Change) -> None:
    table = change.table()
    slower = table[table["verdict"] == "slower"]
    assert set(slower["subject"]) == {"n1>n3"} and change.exit_code == FOUND
    rtt = slower[slower["metric"] == "rtt"][0]
    assert rtt["low"] < 1.3 < rtt["high"] and rtt["p_holm"] < 0.05 and rtt["transport"] == "tcp"
    assert "slower" in change.headline and change.headline in repr(change)


def test_facts_that_differ_are_told(change: wulf.Change) -> None:
    assert change.facts == ({"node": "n1", "fact": "cpu.governor", "a": "performance", "b": "powersave"},)


def test_every_field_of_a_row_is_a_column(change: wulf.Change) -> None:
    (first, *_) = rows_of(change._found)
    assert set(first) - set(FIELDS) == {"paired"}, "which no two runs are"
    assert set(FIELDS) <= set(first)


def test_nodes_whose_links_changed_together_are_told_of_quick_runs() -> None:
    links = {f"n{i}>n{j}": 1.0 for i in range(1, 6) for j in range(1, 6) if i != j}
    slow = {link: 80.0 if "n3" in link else 1.0 for link in links}
    change = wulf.compare(Results(run("a", links, seed=3, n=6)), Results(run("b", slow, seed=4, n=6)))
    assert {one["node"] for one in change.nodes} == {"n3"} and change.exit_code == FOUND


def test_a_notebook_shows_what_differs_and_a_page_all(change: wulf.Change, tmp_path: Path) -> None:
    assert "n1&gt;n3" in change._repr_html_() and "`.facts`" in change._repr_html_()
    assert change.report(tmp_path / "change.html").read_text().startswith("<!doctype html>")


def test_runs_without_a_common_cell_are_refused() -> None:
    a, b = run("monday", {"n1>n2": 1.0}, seed=1), run("friday", {"n3>n4": 1.0}, seed=2)
    with pytest.raises(wulf.UsageError, match="no cell in common"):
        wulf.compare(Results(a), Results(b))
