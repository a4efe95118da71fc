"""Rows as tables of other libraries: NumPy, pandas, Polars, Arrow."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wulf.core.errors import UsageError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Kind = type[str] | type[float] | type[int] | type[bool]


@dataclass(frozen=True)
class Column:
    """A column of a table; what has no value is None.

    Attributes
    ----------
    kind
        Of all values that there are.
    """

    name: str
    kind: Kind
    values: Sequence[Any]

    @property
    def array(self) -> NDArray[Any]:
        """As NumPy holds it, shape (rows,): text without a value is empty, a number without one is NaN."""
        if self.kind is str:
            return np.array([value or "" for value in self.values], dtype=np.str_)
        lacking = any(value is None for value in self.values)
        if lacking or self.kind is float:
            return np.array([np.nan if value is None else value for value in self.values], dtype=np.float64)
        return np.array(self.values, dtype=np.int64 if self.kind is int else np.bool_)


class Tabular(ABC):
    """What can be had as a table, a column for each quantity.

    What has no value is missing: NaN or an empty text in NumPy, NaN or None in pandas, null in Polars and Arrow.
    """

    @abstractmethod
    def _columns(self) -> list[Column]:
        """The columns, all of one length."""

    def table(self) -> NDArray[Any]:
        """A structured NumPy array, shape (rows,), with a field for each column."""
        made = {column.name: column.array for column in self._columns()}
        rows = len(next(iter(made.values())))
        filled = np.empty(rows, dtype=[(name, array.dtype) for name, array in made.items()])
        for name, array in made.items():
            filled[name] = array
        return filled

    def pandas(self) -> pandas.DataFrame:
        """A DataFrame. UsageError where pandas is not installed."""
        library = _library("pandas")
        return library.DataFrame(
            {column.name: list(column.values) if column.kind is str else column.array for column in self._columns()}
        )

    def polars(self) -> polars.DataFrame:
        """A DataFrame. UsageError where Polars is not installed."""
        library = _library("polars")
        kinds = {str: library.String, float: library.Float64, int: library.Int64, bool: library.Boolean}
        columns = self._columns()
        schema = {column.name: kinds[column.kind] for column in columns}
        made: polars.DataFrame = library.DataFrame(
            {column.name: list(column.values) for column in columns}, schema=schema
        )
        return made

    def arrow(self) -> pyarrow.Table:
        """A Table. UsageError where PyArrow is not installed."""
        library = _library("pyarrow")
        kinds = {str: library.string(), float: library.float64(), int: library.int64(), bool: library.bool_()}
        return library.table(
            {column.name: library.array(list(column.values), kinds[column.kind]) for column in self._columns()}
        )


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{name} can't be imported: {error}", f"`pip install {name}` brings it; `.table()` needs NumPy alone"
        ) from error


def columns_of(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, Kind], within: str = "") -> list[Column]:
    """The columns of rows, in the order of `kinds`.

    Parameters
    ----------
    rows
        Name of a column → value.
    within
        Key of a mapping in each row, whose own keys become columns in its place: a record's parameters. One that has
        the name of another column gets `param_` before it.
    """
    columns = []
    for name, kind in kinds.items():
        if name != within:
            columns.append(Column(name, kind, [row[name] for row in rows]))
            continue
        for key in dict.fromkeys(key for row in rows for key in row[within]):
            values = [row[within].get(key) for row in rows]
            columns.append(_inferred(f"param_{key}" if key in kinds else key, values))
    return columns


def _inferred(name: str, values: Sequence[Any]) -> Column:
    """A column of the one kind that all values have; of several kinds each is a text, as JSON has it."""
    seen = {type(value) for value in values if value is not None}
    for kind in (bool, int, str):
        if seen == {kind}:
            return Column(name, kind, values)
    if seen in ({float}, {int, float}):
        return Column(name, float, [None if value is None else float(value) for value in values])
    return Column(name, str, list(_texts(values)))


def _texts(values: Iterable[Any]) -> Iterable[str | None]:
    for value in values:
        yield value if value is None or isinstance(value, str) else json.dumps(value)
