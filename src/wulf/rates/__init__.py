"""Rates that programs read: what this machine can do, from one file, with interval, age and provenance.

    import wulf.rates

    rates = wulf.rates.load()
    block = rates["mem.l2.size"].value            # B
    if rates["mem.l2.latency"].age() > 7 * 86400: ...

Imports the standard library alone. docs/how-to/rates.md describes the file, docs/reference/rates.schema.json its
form; `wulf rates publish` writes it. Programs in C read it through `wulf_rates.h` (`wulf rates --cflags`).
"""

from wulf.rates.errors import (
    RateMissingError,
    RateOldError,
    RatesError,
    RatesMachineError,
    RatesMissingError,
    RatesTornError,
    RatesVersionError,
    RateUnknownError,
)
from wulf.rates.places import read_path
from wulf.rates.rate import Rate
from wulf.rates.reading import Rates, load

__all__ = [
    "Rate",
    "RateMissingError",
    "RateOldError",
    "RateUnknownError",
    "Rates",
    "RatesError",
    "RatesMachineError",
    "RatesMissingError",
    "RatesTornError",
    "RatesVersionError",
    "load",
    "read_path",
]
