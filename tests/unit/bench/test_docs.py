import json

import pytest
from bench import docs, rows
from bench.__main__ import LATEST, MACHINE, PAGE
from bench.errors import BenchError

MADE = "| a |"


def test_only_what_stands_between_the_marks_is_replaced():
    page = f"before\n{docs.BEGIN}\nold\n{docs.END}\nafter\n"
    assert docs.rewritten(page, MADE) == f"before\n{docs.BEGIN}\n{MADE}\n{docs.END}\nafter\n"


def test_text_with_backslashes_survives():
    page = f"{docs.BEGIN}\n{docs.END}"
    assert r"\1 \g<0>" in docs.rewritten(page, r"\1 \g<0>")


def test_a_page_without_marks_is_refused():
    with pytest.raises(BenchError, match="lacks the marks"):
        docs.rewritten("nothing", MADE)


def test_the_page_shows_the_latest_results():
    made = docs.section(rows.read(LATEST), json.loads(MACHINE.read_text()))
    page = PAGE.read_text()
    assert docs.rewritten(page, made) == page, "run `python -m bench --docs`"
