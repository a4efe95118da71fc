"""Times as people write them: short ones as `50us`, `1.5ms`, `0.01s`, long ones as `60s`, `5m`, `1h`, `7d`."""

from __future__ import annotations

import re
from math import inf

from wulf.core.units import show

_DURATION = re.compile(
    r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|usecs?|msecs?|secs?|nsecs?)", re.IGNORECASE | re.ASCII
)
_SECONDS = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "s": 1.0}
NOTHING = re.compile(r"none|0(\.0*)?", re.IGNORECASE)
"""How people write that there is none of something."""


def parse_duration(text: str, most: float = inf) -> float:
    """Seconds of `50us`, `1.5ms`, `0.01s`, `0` or `none`; ValueError says what would be right."""
    words = text.strip()
    if NOTHING.fullmatch(words):
        return 0.0
    match = _DURATION.fullmatch(words)
    if match is None:
        raise ValueError("Write it as tc does, with its unit: 50us, 1.5ms, 0.01s, or none.")
    seconds = float(match[1]) * _SECONDS[match[2][0].lower()]
    if seconds > most:
        raise ValueError(f"The most is {show(most, 's')}.")
    return round(seconds, 12)


HOUR, DAY = 3600.0, 86400.0
"""Seconds."""

_LONG = {"s": 1.0, "m": 60.0, "h": HOUR, "d": DAY}


LONGEST = 36_500 * DAY
"""A century. What is longer is a slip of the keyboard, and nobody would live to see it end."""


def parse_long_duration(text: str) -> float:
    """Seconds of `60s`, `5m`, `1h`, `7d` or a plain number of them; ValueError says what is wrong."""
    words = text.strip()
    factor = _LONG.get(words[-1:])
    try:
        seconds = float(words) if factor is None else float(words[:-1]) * factor
    except ValueError:
        raise ValueError(f"{text!r} is not a duration such as 60s, 5m, 1h or 7d") from None
    if not seconds > 0:
        raise ValueError(f"{text!r} is not above 0")
    if seconds > LONGEST:
        raise ValueError(f"{text!r} is longer than {LONGEST / DAY:.0f}d")
    return seconds
