"""A table of a tuning experiment that somebody entered by hand, from CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.core.units import unit_named
from wulf.stats.moments import Moments
from wulf.tune.table.arms import NONE, Settings, SettingTable, TableRow
from wulf.workflow.model.csv_table import CsvLine, CsvTable, read_csv

ARM, VALUE, MEAN, DEVIATION, NUMBER, BLOCK, ORDER = "arm", "value", "mean", "sd", "n", "block", "order"
FIGURES = (VALUE, MEAN)
OWN = (ARM, VALUE, MEAN, DEVIATION, NUMBER, BLOCK, ORDER)
"""All other columns are settings."""

EXAMPLE = "moderation,firewall,mean,sd,n"

OFF, ON = ("off", "no", "false", "0", "-", "–", ""), ("on", "yes", "true", "1", "x")
UNCHANGED = (NONE, "baseline", "default", *OFF)
ABSENT = ("", "-", "–")

MOST_SETTINGS, MOST_ARMS = 32, 500
LEAST, MOST = 1e-30, 1e30
"""What is measured: beyond, there is a slip in the table."""


def from_csv(path: Path, unit: str, *, lower_is_better: bool) -> SettingTable:
    """A table with a column a setting, or one of arms (`a + b`), and measurements (value) or means (mean, sd, n).

    A setting's column says off or on, or its level, the first line's being the baseline's. `block` (of measurements)
    and `order` are allowed. Lines that begin with # are comments.

    Parameters
    ----------
    unit
        Of the figures, as people write it: us, Gbit/s.

    Raises
    ------
    UsageError
        The file can't be read, a column is missing or unknown, or a line is wrong: which, and why.
    """
    table = read_csv(path, EXAMPLE)
    _check_columns(table)
    si, factor = unit_named(unit)
    arms, factors, exclusive = _arms(table)
    if len(factors) > MOST_SETTINGS or len(set(arms)) > MOST_ARMS:
        raise UsageError(
            f"{path} has {len(factors)} settings in {len(set(arms))} arms",
            f"give {MOST_SETTINGS} settings and {MOST_ARMS} arms at most",
        )
    if len(set(arms)) < 2:
        raise UsageError(f"{path} has fewer than two arms", f"give a line for '{NONE}', and one for each change")
    figures = [_figure(line, VALUE if VALUE in table.heads else MEAN) * factor for line in table.lines]
    common = (si, lower_is_better)
    if VALUE in table.heads:
        rows = [
            TableRow(arm, value, _block(line), _order(line))
            for arm, value, line in zip(arms, figures, table.lines, strict=True)
        ]
        values: dict[Settings, list[float]] = {}
        for row in rows:
            values.setdefault(row.arm, []).append(row.value)
        each = {arm: Moments.of(own) for arm, own in values.items()}
        return SettingTable(str(path), factors, each, *common, rows=rows, exclusive=exclusive)
    means: dict[Settings, Moments] = {}
    for arm, mean, line in zip(arms, figures, table.lines, strict=True):
        if arm in means:
            line.refuse(f"this arm stands there twice: {' + '.join(sorted(arm)) or NONE}",
                        "give its measurements in a column `value`, or one line of their mean")  # fmt: skip
        means[arm] = Moments(mean, _deviation(line, factor), _number(line))
    orders = {arm: _order(line) for arm, line in zip(arms, table.lines, strict=True)}
    places = {arm: place for arm, place in orders.items() if place is not None}
    return SettingTable(str(path), factors, means, *common, places=places, exclusive=exclusive)


def _check_columns(table: CsvTable) -> None:
    """Which kind of table it is, and that nothing contradicts that."""
    heads = table.heads
    table.check_once("name each once")
    if "" in heads:
        table.refuse(f"column {heads.index('') + 1} has no name", "name the setting that it holds")
    if len([name for name in FIGURES if name in heads]) != 1:
        kinds = "value: a measurement a line; mean,sd,n: an arm a line"
        table.refuse("one of the columns value and mean is needed, and not both", kinds)
    wrong = [name for name in ((DEVIATION, NUMBER) if VALUE in heads else (BLOCK,)) if name in heads]
    if wrong:
        table.refuse(f"column {wrong[0]!r} doesn't go with {VALUE if VALUE in heads else MEAN}", "leave it out")
    settings = [name for name in heads if name not in OWN]
    if ARM in heads and settings:
        table.refuse(f"column {settings[0]!r} stands beside `arm`, which names all settings", "keep one of both")
    if ARM not in heads and not settings:
        table.refuse("no column is a setting", f"the first line names the columns: {EXAMPLE}")


@dataclass(frozen=True)
class _Column:
    """A setting's: whether its cells are off and on; else the baseline's level, the first line's."""

    name: str
    switch: bool
    base: str

    def factor(self, cell: str) -> str | None:
        """The setting at this level; None at the baseline's."""
        if self.switch:
            return None if cell.lower() in OFF else self.name
        return None if cell.lower() == self.base else f"{self.name}={cell}"


def _arms(table: CsvTable) -> tuple[list[Settings], tuple[str, ...], Mapping[str, str]]:
    """Of each line its arm; all factors; and of settings with several levels, factor → setting."""
    if ARM in table.heads:
        words = [_named(line) for line in table.lines]
        return [frozenset(some) for some in words], tuple(dict.fromkeys(one for some in words for one in some)), {}
    columns = [_column(table, name) for name in table.heads if name not in OWN]
    arms: list[list[str]] = [[] for _ in table.lines]
    factors: list[str] = []
    exclusive: dict[str, str] = {}
    for column in columns:
        cells = [column.factor(line.text(column.name)) for line in table.lines]
        levels = list(dict.fromkeys(one for one in cells if one is not None))
        if not levels or (column.switch and None not in cells):
            table.refuse(f"column {column.name!r} is the same in every line", "leave it out, or give its other level")
        factors += levels
        exclusive |= dict.fromkeys(levels, column.name) if len(levels) > 1 else {}
        for arm, factor in zip(arms, cells, strict=True):
            arm.extend([factor] if factor is not None else [])
    return [frozenset(arm) for arm in arms], tuple(factors), exclusive


def _column(table: CsvTable, name: str) -> _Column:
    cells = [line.text(name).lower() for line in table.lines]
    return _Column(name, all(cell in (*OFF, *ON) for cell in cells), cells[0] if cells else "")


def _named(line: CsvLine) -> Sequence[str]:
    """The settings that an arm's name has."""
    text = line.text(ARM)
    if text.lower() in UNCHANGED:
        return []
    names = [name.strip() for name in text.split("+")]
    if "" in names or len(set(names)) < len(names):
        line.refuse(f"arm is {text!r}", f"write '{NONE}', 'a' or 'a + b'")
    return names


def _figure(line: CsvLine, name: str) -> float:
    value = line.number_of(name)
    if not LEAST <= value <= MOST:
        line.refuse(f"{name} is {line.text(name)}, which nothing measures")
    return value


def _deviation(line: CsvLine, factor: float) -> float | None:
    """Standard deviation, where the line has one."""
    if not _there(line, DEVIATION):
        return None
    if line.finite(DEVIATION) == 0:
        return 0.0
    return _figure(line, DEVIATION) * factor


def _number(line: CsvLine) -> int | None:
    return line.count(NUMBER) if _there(line, NUMBER) else None


def _block(line: CsvLine) -> str | None:
    return line.text(BLOCK) if _there(line, BLOCK) else None


def _order(line: CsvLine) -> float | None:
    return line.finite(ORDER) if _there(line, ORDER) else None


def _there(line: CsvLine, name: str) -> bool:
    """Whether the line says something in this column."""
    return name in line.table.heads and line.text(name) not in ABSENT
