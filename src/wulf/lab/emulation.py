"""What an emulated link does to frames: how people write it, how it changes, how it is shown. No effect on any lab.

A link is None (a plain one, shaped by tbf) or `{"emulator": "link" | "netem", "out": {…}, "in": {…}}`, where "out" is
the direction from the node to the switch, and each direction holds, in SI units, what differs from doing nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from wulf.core.durations import NOTHING, parse_duration
from wulf.core.errors import LabError
from wulf.core.units import show

from . import rates

EMULATORS = ("link", "netem", "none")
DIRECTIONS = ("out", "in", "both")
MTU_LIMITS = (576, 65521)
"""Bytes: what every IPv4 host takes (RFC 791), and the most that a TAP device carries."""
LONGEST_DELAY_S, LONGEST_BATCH_S = 10.0, 1.0
MOST_FRAMES = 1_000_000

Direction = dict[str, float]
Link = dict[str, Any]


def parse_share(text: str) -> float:
    """A share from 0 to 1 of `0.1%`, `0` or `none`; ValueError as above."""
    words = text.strip()
    if NOTHING.fullmatch(words):
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*%", words, re.ASCII)
    if match is None or float(match[1]) > 100:
        raise ValueError("Write it in per cent, from 0% to 100%: 0.1%, or none.")
    return float(match[1]) / 100


def parse_count(text: str, least: int, most: int) -> int | None:
    """A whole number within limits, or None for `none`; ValueError as above."""
    words = text.strip()
    if words.lower() == "none":
        return None
    if not re.fullmatch(r"\d{1,9}", words, re.ASCII) or not least <= int(words) <= most:
        raise ValueError(f"Give a whole number from {least} to {most}, or none.")
    return int(words)


_PARSERS: dict[str, Callable[[str], float | None]] = {
    "delay": lambda text: parse_duration(text, LONGEST_DELAY_S),
    "jitter": lambda text: parse_duration(text, LONGEST_DELAY_S),
    "queue": lambda text: parse_count(text, 0, MOST_FRAMES),
    "loss": parse_share,
    "duplicate": parse_share,
    "reorder": parse_share,
    "mtu": lambda text: parse_count(text, *MTU_LIMITS),
    "moderate": lambda text: parse_duration(text, LONGEST_BATCH_S),
}
_UNITS = {"delay": "s", "jitter": "s", "moderate": "s", "loss": "%", "duplicate": "%", "reorder": "%"}
OPTIONS = ("rate", *_PARSERS)


def parse(given: Mapping[str, str], node: str) -> dict[str, float | None]:
    """Each option's value in SI units; None where it is to be as if it had never been set.

    Raises
    ------
    LabError
        Names `node`, the option, and what would be right.
    """
    values: dict[str, float | None] = {}
    for name, text in given.items():
        if name == "rate":
            values[name] = rates.parse(text, node)
            continue
        if name not in _PARSERS:
            raise LabError(f"{node}: a link has no {name!r}", f"It has {', '.join(OPTIONS)}.")
        try:
            values[name] = _PARSERS[name](text)
        except ValueError as error:
            raise LabError(f"{node}: {text!r} is no {name} for a link", str(error)) from None
    return values


def wants_emulator(names: Mapping[str, object] | set[str]) -> bool:
    """Whether these options need more than tbf, which shapes a plain link's rate."""
    return bool(set(names) - {"rate"})


def change(
    link: Link | None,
    values: Mapping[str, float | None],
    *,
    node: str,
    rate: int | None = None,
    direction: str = "both",
    emulator: str | None = None,
) -> Link | None:
    """The link after a change; `rate` is what tbf shapes a plain one to.

    Raises
    ------
    LabError
        The directions would contradict themselves, or the emulator can't do it.
    """
    for what, given, known in (("direction", direction, DIRECTIONS), ("emulator", emulator or "link", EMULATORS)):
        if given not in known:
            raise LabError(f"{node}: a link has no {what} {given!r}", f"Choose one of {', '.join(known)}.")
    if emulator == "none":
        _refuse_without_emulator(values, direction, node)
        return None
    if link is None and emulator is None and not wants_emulator(values) and direction == "both":
        return None
    before: Link = link or {"out": _only(rate=rate), "in": _only(rate=rate)}
    chosen = emulator or before.get("emulator") or "link"
    after: Link = {"emulator": chosen, "out": dict(before["out"]), "in": dict(before["in"])}
    for side in ("out", "in") if direction == "both" else (direction,):
        for name, value in values.items():
            after[side].pop(name, None)
            after[side].update(_only(**{name: value}))
        _check(after[side], chosen, node)
    return after


def _only(**values: float | None) -> Direction:
    """What differs from doing nothing; a queue of 0 frames does."""
    return {name: value for name, value in values.items() if value is not None and (value or name == "queue")}


def _refuse_without_emulator(values: Mapping[str, float | None], direction: str, node: str) -> None:
    needing = sorted(set(values) - {"rate"})
    if needing or direction != "both":
        what = needing[0] if needing else "a single direction"
        raise LabError(f"{node}: {what} needs an emulator", "Use `--emulator link`, or leave --emulator out.")


def _check(side: Direction, emulator: str, node: str) -> None:
    if side.get("jitter", 0) > side.get("delay", 0):
        raise LabError(
            f"{node}: the jitter is more than the delay, so that frames would arrive before they left",
            "Give a delay of at least the jitter.",
        )
    if side.get("reorder") and not side.get("delay"):
        raise LabError(
            f"{node}: reordering needs a delay: without one there is nothing to overtake", "Give --delay as well."
        )
    if emulator == "netem" and side.get("moderate"):
        raise LabError(f"{node}: netem has no interrupt moderation", "Use `--emulator link`.")


def show_link(link: Link | None) -> str:
    """For people: `delay 50 µs, loss 0.1 %`; both directions where they differ; "" for a plain link."""
    if link is None:
        return ""
    out, into = _show_side(link["out"]), _show_side(link["in"])
    text = out if out == into else f"out: {out}; in: {into}"
    return text if link["emulator"] == "link" else f"{link['emulator']}: {text}"


def _show_side(side: Direction) -> str:
    return ", ".join(f"{name} {_show_value(name, side[name])}" for name in OPTIONS if name in side) or "zero setting"


def _show_value(name: str, value: float) -> str:
    if name == "rate":
        return rates.show(round(value))
    unit = _UNITS.get(name)
    return f"{value * 100:.6g} %" if unit == "%" else show(value, unit or "1", digits=6)


def common_rate(link: Link | None) -> str | None:
    """The rate of both directions, as tc writes it; None where there is none or they differ."""
    if link is None:
        return None
    out, into = link["out"].get("rate"), link["in"].get("rate")
    return rates.show(round(out)) if out and out == into else None
