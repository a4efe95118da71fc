"""What stands in a state's tables, held against the types of their columns."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sentry.making import made
from wulf.core.errors import UsageError, WulfError
from wulf.sentry.incident import Kind
from wulf.sentry.rows import Real, RowError, Text, TextByName, Texts, Time, Whole, checked
from wulf.sentry.state import SentryState, in_state


def answer(*values: Any) -> sqlite3.Cursor:
    """Of one row, whose columns are a, b, …"""
    named = ", ".join(f"? AS {chr(ord('a') + place)}" for place in range(len(values)))
    return sqlite3.connect(":memory:").execute(f"SELECT {named}", values)


def test_values_come_as_their_columns_types() -> None:
    row = ("n1", 3, 2.5, None, '["a", "b"]', '{"pid": "1"}', "changed", 1.7e9)
    columns = (Text, Whole, Real, Real | None, Texts, TextByName, Kind, Time)
    expected = ("n1", 3, 2.5, None, ("a", "b"), {"pid": "1"}, Kind.CHANGED, 1.7e9)
    assert checked(answer(*row), columns) == [expected]


@pytest.mark.parametrize(
    ("value", "column"),
    [
        (b"\xff", Text), (None, Text), ("x", Real), (float("inf"), Real), ("1.5", Real), (1.5, Whole), ("[1", Texts),
        ("[1]", Texts), ("{}", Texts), ("[]", TextByName), ("chanGed", Kind), (-1.0, Time), (1e308, Time),
    ],
)  # fmt: skip
def test_another_value_is_named_by_its_column(value: Any, column: Any) -> None:
    with pytest.raises(RowError, match=r"b in row 1: "):
        checked(answer("n1", value), (Text, column))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE incident SET openings = '[[['", "openings in row 1: Invalid JSON"),
        ("UPDATE incident SET since = 'x'", "since in row 1"),
        ("UPDATE incident SET severity = 'bae'", "severity in row 1"),
        ("DROP TABLE incident", "no such table: incident"),
    ],
)
def test_a_state_that_is_damaged_is_an_error_that_names_it(tmp_path: Path, change: str, why: str) -> None:
    path = made(tmp_path / "sentry.db", nodes=20, days=40)
    with closing(sqlite3.connect(path)) as db:
        db.execute(change)
        db.commit()
    for read in (lambda: in_state(path, SentryState.incidents), lambda: within(path)):
        with pytest.raises(WulfError, match=why) as told:
            read()
        assert str(path) in told.value.what


def within(path: Path) -> object:
    """As the sentry itself reads."""
    with SentryState(path) as state, state.transaction():
        return state.incidents()


def test_a_page_that_is_damaged_is_an_error_too(tmp_path: Path) -> None:
    path = made(tmp_path / "sentry.db", nodes=20, days=40)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(UsageError, match="no state of a sentry can be read"):
        in_state(path, SentryState.nodes)
