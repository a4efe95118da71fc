"""Rates as metrics for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable

from wulf.rates.errors import RatesError
from wulf.rates.rate import Rate
from wulf.rates.reading import Rates, load
from wulf.scrape.openmetrics import Family, Form, Sample, exposition

READABLE = Family("wulf_rates_readable", "1 if the rates file is whole and of this machine.")
WHOSE = Family("wulf_rates", "Whose rates they are, and which wulf wrote them.", "info")
UNKNOWN = Family("wulf_rates_unknown", "Rates in the file that have no value here.")
RATE = Family("wulf_rate", "A rate of this machine, in the SI unit of its label.")
LOW = Family("wulf_rate_low", "Lower end of the rate's interval.")
HIGH = Family("wulf_rate_high", "Upper end of the rate's interval.")
SURE = Family("wulf_rate_ok", "1 if the verdict is ok.")
AGE = Family("wulf_rate_age_seconds", "Time since the rate was measured.", unit="seconds")

FAMILIES = (READABLE, WHOSE, UNKNOWN, RATE, LOW, HIGH, SURE, AGE)
"""All that there are."""


def _labels(rate: Rate) -> dict[str, str]:
    return {"name": rate.name, "unit": rate.unit}


def _each(rates: Rates, value: Callable[[Rate], float | None]) -> list[Sample]:
    """One sample of every rate that has such a value."""
    found = ((rate, value(rate)) for rate in rates.values())
    return [(_labels(rate), figure) for rate, figure in found if figure is not None]


def families(rates: Rates, now: float) -> list[Family]:
    """The rates of a file as metrics; a rate without a value is counted, and has no sample.

    Parameters
    ----------
    now
        Unix time: ages are up to then.
    """
    about = {"host": rates.host, "fingerprint": rates.fingerprint, "version": rates.wulf}
    known = [rate for rate in rates.values() if rate.value is not None]
    return [
        READABLE.of([({}, 1.0)]),
        WHOSE.of([(about, 1.0)]),
        UNKNOWN.of([({}, float(len(rates) - len(known)))]),
        RATE.of(_each(rates, lambda rate: rate.value)),
        LOW.of(_each(rates, lambda rate: rate.low)),
        HIGH.of(_each(rates, lambda rate: rate.high)),
        SURE.of([(_labels(rate), float(rate.verdict == "ok")) for rate in known]),
        AGE.of([(_labels(rate), rate.age(now)) for rate in known]),
    ]


UNREADABLE = (READABLE.of([({}, 0.0)]),)
"""What is shown where there is no file, or one that is torn or of another machine: that, and no stale figure."""


def metrics(form: Form) -> str:
    """What `wulf rates serve` answers: the file is read at every request."""
    try:
        found = families(load(), time.time())
    except RatesError:
        return exposition(UNREADABLE, form)
    return exposition(found, form)
