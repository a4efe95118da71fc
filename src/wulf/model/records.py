"""What a GFLOPS of HPL cost on machines that held the record, as their builders published it (records.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

RECORDS_IN = "$"
"""Their currency: a machine's price in another is not held beside them."""


@dataclass(frozen=True)
class PriceRecord:
    """One of them.

    Attributes
    ----------
    precision
        Of HPL's numbers: in single precision it is another benchmark.
    price
        Of one GFLOPS.
    """

    name: str
    year: int
    precision: str
    price: float
    source: str


@cache
def records() -> tuple[PriceRecord, ...]:
    """The oldest first."""
    rows = tomllib.loads((files("wulf.model") / "records.toml").read_text(encoding="utf-8"))["record"]
    return tuple(
        PriceRecord(row["name"], row["year"], row["precision"], row["price"] / row["gflops"], row["source"])
        for row in rows
    )
