"""Scaling for people. Everything inside wulf is in SI base units; only what is printed is scaled, here."""

from __future__ import annotations

_SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "Hz": ((1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")),
    "T/s": ((1e9, "GT/s"), (1e6, "MT/s"), (1.0, "T/s")),
    "byte/s": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    "flop/s": (
        (1e18, "Eflop/s"),
        (1e15, "Pflop/s"),
        (1e12, "Tflop/s"),
        (1e9, "Gflop/s"),
        (1e6, "Mflop/s"),
        (1.0, "flop/s"),
    ),
    "W": ((1.0, "W"), (1e-3, "mW")),
    "J": ((1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ")),
    "B": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
}

ASCII = {"us": "µs", "uJ": "µJ"}
"""As keyboards have them."""


def unit_named(name: str) -> tuple[str, float]:
    """The unit that is used inside for a name that people write, and its factor: `us` → ("s", 1e-6).

    A name that is not known is a unit of its own.
    """
    written = ASCII.get(name, name)
    known = ((unit, divisor) for unit, scales in _SCALES.items() for divisor, each in scales if each == written)
    return next(known, (name, 1.0))


def _significant(value: float, digits: int) -> str:
    """`value` with so many significant digits, never in exponent form."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    return f"{float(text):.0f}" if abs(value) >= 1 else f"{float(text):.12f}".rstrip("0")


def scale_for(value: float, unit: str) -> tuple[float, str]:
    """The divisor and the unit's name in which `value` reads best; rates in B/s are shown in bit/s.

    Rates of memory, which people know in GB/s, are asked for as "byte/s".

    Returns
    -------
    tuple
        `(divisor, name)`: `value / divisor` is a number of `name`.
    """
    if unit == "B/s":
        divisor, name = scale_for(value * 8, "bit/s")
        return divisor / 8, name
    scales = _SCALES.get(unit)
    if scales is None:
        return 1.0, "" if unit == "1" else unit
    for divisor, name in scales:
        if abs(value) >= divisor * 0.9995:
            return divisor, name
    return scales[-1]


def show(value: float | None, unit: str, digits: int = 3) -> str:
    """A figure for people: `18.5 µs`, `9.41 Gbit/s`; a dash where there is none."""
    if value is None:
        return "–"
    if unit == "1" and float(value).is_integer():
        return f"{value:.0f}"
    divisor, name = scale_for(value, unit)
    return f"{_significant(value / divisor, digits)} {name}".rstrip()


def show_interval(low: float | None, high: float | None, unit: str, digits: int = 3) -> str:
    """An interval for people, both ends in one unit: `18.3–18.8 µs`; `-2 to 18.8 µs`, where a dash reads as a sign."""
    if low is None or high is None:
        return "–"
    divisor, name = scale_for(max(high, -low), unit)
    dash = "–" if low >= 0 else " to "
    return f"{_significant(low / divisor, digits)}{dash}{_significant(high / divisor, digits)} {name}".rstrip()


def show_in(value: float | None, divisor: float, digits: int = 3) -> str:
    """A bare figure in a unit chosen for a whole table (see `scale_for`): `0.192`, `18.0`; a dash where there is none.

    Unlike `show` it keeps trailing zeros, so that the figures of a column claim the same precision.
    """
    if value is None:
        return "–"
    text = f"{value / divisor:#.{digits}g}".rstrip(".")
    return _significant(value / divisor, digits) if "e" in text else text
