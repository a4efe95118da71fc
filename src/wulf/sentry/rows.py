"""Rows of the state's tables, each value of the type that its column is meant to have.

SQLite takes any value for any column, and doesn't notice the bits that a disk forgets.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from types import GenericAlias
from typing import Annotated, Any

from pydantic import AllowInfNan, Field, Json, Strict, TypeAdapter, ValidationError

Text = Annotated[str, Strict()]
Whole = Annotated[int, Strict()]
Real = Annotated[float, Strict(), AllowInfNan(False)]
Time = Annotated[float, Strict(), Field(ge=0, le=253_402_300_799)]
"""Unix seconds, until the year 9999."""

Texts = Json[tuple[Text, ...]]
TextByName = Json[dict[str, Text]]
Reals = Json[tuple[Real, ...]]
Times = Json[tuple[Time, ...]]


class RowError(ValueError):
    """A value that its column can't hold; the text says which."""


@cache
def _shape(columns: tuple[Any, ...]) -> TypeAdapter[list[tuple[Any, ...]]]:
    rows: Any = GenericAlias(list, (GenericAlias(tuple, columns),))
    return TypeAdapter(rows)


def checked(answer: sqlite3.Cursor, columns: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """All rows of an answer; lists that stand there as JSON are parsed.

    Parameters
    ----------
    columns
        The types of the answer's columns, of those above or enumerations.

    Raises
    ------
    RowError
        A row has another value.
    """
    try:
        return _shape(columns).validate_python(answer.fetchall())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        row, column = (*first["loc"], 0, 0)[:2]
        name = answer.description[int(column)][0]
        raise RowError(f"{name} in row {int(row) + 1}: {first['msg']}") from error
