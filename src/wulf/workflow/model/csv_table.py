"""A table that a user has: a CSV whose first line names the columns; what is wrong is told with its line and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NoReturn

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, text_of


@dataclass(frozen=True)
class CsvLine:
    """A line of figures.

    Attributes
    ----------
    number
        Of the line, from 1.
    cells
        Of `table.heads`.
    """

    table: CsvTable
    number: int
    cells: Sequence[str]

    def text(self, name: str) -> str:
        """What stands in a column."""
        return self.cells[self.table.heads.index(name)]

    def number_of(self, name: str) -> float:
        """A number above zero. Raises UsageError."""
        value = self._float(name)
        if not isfinite(value) or value <= 0:
            self.refuse(f"{name} is {self.text(name)}, which is not above 0")
        return value

    def finite(self, name: str) -> float:
        """A number. Raises UsageError."""
        value = self._float(name)
        if not isfinite(value):
            self.refuse(f"{name} is {self.text(name)}, which is no number")
        return value

    def _float(self, name: str) -> float:
        try:
            return float(self.text(name))
        except ValueError:
            self.refuse(f"{name} is {self.text(name)!r}, which is no number")

    def count(self, name: str) -> int:
        """A whole number above zero. Raises UsageError."""
        value = self.number_of(name)
        if not value.is_integer():
            self.refuse(f"{self.text(name)} {name} is no whole number")
        return int(value)

    def refuse(self, why: str, next_step: str = "put the line right") -> NoReturn:
        """Raise UsageError that names file and line."""
        raise UsageError(f"{self.table.path}, line {self.number}: {why}", next_step)


@dataclass
class CsvTable:
    """A whole table.

    Attributes
    ----------
    heads
        Names of the columns, in small letters.
    first
        Number of the line that names them.
    """

    path: Path
    heads: Sequence[str]
    first: int
    lines: Sequence[CsvLine] = ()

    def check_known(self, known: Sequence[str]) -> None:
        """Every column is one of these, and stands there once. Raises UsageError."""
        unknown = next((name for name in self.heads if name not in known), None)
        if unknown is not None:
            self.refuse(f"column {unknown!r} is not known", self.naming(known))
        self.check_once(self.naming(known))

    def check_once(self, next_step: str) -> None:
        """Every column stands there once. Raises UsageError."""
        doubled = next((name for name in self.heads if self.heads.count(name) > 1), None)
        if doubled is not None:
            self.refuse(f"column {doubled!r} stands there twice", next_step)

    def naming(self, known: Sequence[str]) -> str:
        """What to do about its first line."""
        return f"the first line names the columns: {', '.join(known)}"

    def refuse(self, why: str, next_step: str) -> NoReturn:
        """Raise UsageError of the line that names the columns."""
        CsvLine(self, self.first, ()).refuse(why, next_step)


def read_csv(path: Path, example: str) -> CsvTable:
    """Its columns and lines; lines that begin with # are comments.

    Parameters
    ----------
    example
        Columns that such a file may have, for people.

    Raises
    ------
    UsageError
        The file can't be read, is no table or empty, or a line has too few or too many columns.
    """
    try:
        text = text_of(path)
    except Unreadable as error:
        raise UsageError(f"can't read {path}: {error}", f"give a CSV file: {example}") from error
    try:
        lines = list(enumerate(csv.reader(io.StringIO(text)), 1))
    except csv.Error as error:
        raise UsageError(f"{path} is no table: {error}", f"give a CSV file: {example}") from error
    rows = [(number, [cell.strip() for cell in row]) for number, row in lines if "".join(row).strip()]
    rows = [(number, row) for number, row in rows if not row[0].startswith("#")]
    if not rows:
        raise UsageError(f"{path} is empty", f"its first line names the columns: {example}")
    first, heads = rows[0]
    table = CsvTable(path, [head.lower() for head in heads], first)
    table.lines = [CsvLine(table, number, row) for number, row in rows[1:]]
    for line in table.lines:
        if len(line.cells) != len(heads):
            line.refuse(f"{len(line.cells)} columns, where the first line names {len(heads)}")
    return table
