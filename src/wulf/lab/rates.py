"""Rates of links, written as tc(8) writes them."""

from __future__ import annotations

import re

from wulf.core.errors import LabError

LOWEST, HIGHEST = 1_000, 34_000_000_000
"""Limits in bit/s. Below, a frame takes longer than anyone waits; above ends tbf's 32-bit field of bytes per second."""

_PATTERN = re.compile(
    r"(?P<number>\d+(\.\d*)?(e\+?\d{1,3})?)(?P<prefix>[kmgt]?)(?P<binary>i?)(?P<unit>bit|bps|)",
    re.IGNORECASE | re.ASCII,
)
_PREFIX = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse(text: str, node: str) -> int | None:
    """Rate in bit/s, or None for "none".

    Accepts `200mbit`, `1.5gbit`, `10kibit`, `25mbps` (bytes, as in tc) and plain numbers in bit/s.

    Raises
    ------
    LabError
        Names `node`, the rate and the limits.
    """
    if text.strip().lower() == "none":
        return None
    match = _PATTERN.fullmatch(text.strip())
    if match is None or (match["prefix"] + match["binary"] and not match["unit"]):
        raise LabError(f"{node}: {text!r} is not a rate", "Write it as tc does: 200mbit, 1.5gbit, 64kbit, none.")
    base = 1024 if match["binary"] else 1000
    rate = float(match["number"]) * float(base) ** _PREFIX[match["prefix"].lower()]
    rate *= 8 if match["unit"].lower() == "bps" else 1
    if not LOWEST <= rate <= HIGHEST:
        raise LabError(
            f"{node}: tc can't shape a link to {text} (limits: {show(LOWEST)} to {show(HIGHEST)})",
            "Choose a rate within the limits, or `none` for an unshaped link.",
        )
    return round(rate)


def show(rate: int) -> str:
    """`rate` in bit/s as tc writes it, exactly: 200mbit, 1500kbit, 12345bit."""
    for prefix, factor in (("g", 10**9), ("m", 10**6), ("k", 10**3)):
        if rate % factor == 0:
            return f"{rate // factor}{prefix}bit"
    return f"{rate}bit"
