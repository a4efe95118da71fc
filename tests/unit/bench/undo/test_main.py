from __future__ import annotations

import pytest
from bench.engine.errors import BenchError
from bench.report.docs import rewritten
from bench.undo.__main__ import PAGE, cell, contest, table
from bench.undo.cases import CASES, Seen, main, other
from bench.undo.contenders import CONTENDERS


def test_a_cell_adds_all_trials_up():
    assert cell([Seen(0, 12), Seen(12, 12)]) == "12 of 24"
    assert cell([Seen(0, 11, True), Seen(0, 11, False)]) == "0 of 22; his value kept 1 of 2 times"


def test_the_table_has_a_row_a_case_and_a_column_a_contender():
    seen = {case: {name: [Seen(0, 12)] for name in CONTENDERS} for case in CASES}
    rows = table(seen, 1, "tuned 2.20.0").splitlines()
    heads, _, first = (row.strip("| ").split(" | ") for row in rows[:3])
    assert heads == ["case", "wulf's agent", "wulf's script", "tuned"]
    assert first == ["taken back in order", "0 of 12", "0 of 12", "0 of 12"]
    assert len(rows) == 2 + len(CASES) + 2
    assert "tuned 2.20.0" in rows[-1]


def test_the_page_has_the_marks():
    assert "a table" in rewritten(PAGE.read_text(), "a table")


@pytest.mark.parametrize(("value", "another"), [(0, 1), (1, 0), (60, 61)])
def test_another_value_differs(value, another):
    assert other(value) == another


def test_without_the_peer_nothing_is_begun():
    with pytest.raises(BenchError, match="there is no no-such-program here"):
        contest(1, "no-such-program")


def test_a_trial_outside_its_namespaces_is_refused():
    with pytest.raises(SystemExit, match="in namespaces of its own"):
        main(["undone", "tuned", "tuned"])
