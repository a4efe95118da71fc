"""A table of one machine's figures, step by step as it was tuned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.model.cost import GIGA, MachineSpec, Sourced
from wulf.model.draws import known
from wulf.workflow.model.csv_table import CsvLine, read_csv

STEP, RATE, PRICE = COLUMNS = ("step", "gflops", "price")

EXAMPLE = "step,gflops"

Steps = list[tuple[str, MachineSpec]]
"""What was done, and the machine after it."""


def read_steps(path: Path, price: float | None, peaks: Mapping[str, Sourced]) -> Steps:
    """Its steps, in the file's order.

    Parameters
    ----------
    price
        Of the machine, where the table has no column of prices; there an empty cell is a price that is not known.

    Raises
    ------
    UsageError
        Names file, line, column and what to do.
    """
    table = read_csv(path, EXAMPLE)
    table.check_known(COLUMNS)
    for name in (STEP, RATE):
        if name not in table.heads:
            table.refuse(f"column {name!r} is missing", table.naming(COLUMNS))
    if not table.lines:
        raise UsageError(f"{path} has no step", f"a line of it is, for example: NB 160,12.74 ({EXAMPLE})")
    own = PRICE in table.heads
    return [
        (line.text(STEP), MachineSpec(Sourced(known(line.number_of(RATE) * GIGA), line.text(STEP)),
                                      _price(line) if own else price, peaks=peaks))
        for line in table.lines
    ]  # fmt: skip


def _price(line: CsvLine) -> float | None:
    return line.number_of(PRICE) if line.text(PRICE) else None
