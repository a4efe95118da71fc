"""Rates as Prometheus reads them: the text exposition format, version 0.0.4 (prometheus.io, "Exposition formats")."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from wulf.rates.rate import Rate
from wulf.rates.reading import Rates

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, str], float]


def _labels(rate: Rate) -> dict[str, str]:
    return {"name": rate.name, "unit": rate.unit}


def _each(rates: Rates, value: Callable[[Rate], float | None]) -> list[Sample]:
    """One sample of every rate that has such a value."""
    found = ((rate, value(rate)) for rate in rates.values())
    return [(_labels(rate), figure) for rate, figure in found if figure is not None]


def exposition(rates: Rates, now: float) -> str:
    """The rates of a file as metrics; a rate without a value is counted, and has no sample.

    Parameters
    ----------
    now
        Unix time: ages are up to then.
    """
    about = {"host": rates.host, "fingerprint": rates.fingerprint, "version": rates.wulf}
    known = [rate for rate in rates.values() if rate.value is not None]
    return _text(
        [
            ("wulf_rates_readable", "1 if the rates file is whole and of this machine.", [({}, 1.0)]),
            ("wulf_rates_info", "Whose rates they are, and which wulf wrote them.", [(about, 1.0)]),
            (
                "wulf_rates_unknown",
                "Rates in the file that have no value here.",
                [({}, float(len(rates) - len(known)))],
            ),
            ("wulf_rate", "A rate of this machine, in the SI unit of its label.", _each(rates, lambda r: r.value)),
            ("wulf_rate_low", "Lower end of the rate's interval.", _each(rates, lambda r: r.low)),
            ("wulf_rate_high", "Upper end of the rate's interval.", _each(rates, lambda r: r.high)),
            ("wulf_rate_ok", "1 if the verdict is ok.", [(_labels(r), float(r.verdict == "ok")) for r in known]),
            ("wulf_rate_age_seconds", "Time since the rate was measured.", [(_labels(r), r.age(now)) for r in known]),
        ]
    )


def unreadable() -> str:
    """What is shown where there is no file, or one that is torn or of another machine: that, and no stale figure."""
    return _text([("wulf_rates_readable", "1 if the rates file is whole and of this machine.", [({}, 0.0)])])


def _text(metrics: Iterable[tuple[str, str, list[Sample]]]) -> str:
    lines = []
    for name, text, samples in metrics:
        if samples:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
        lines += [f"{name}{_braces(labels)} {value!r}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _braces(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    value = value.encode(errors="replace").decode()  # half a surrogate pair, which JSON can write, is no character
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
