"""What others say, taken in: JSON whose numbers are finite, whose nesting ends, and whose text drives no terminal."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves a cursor, turns a line around, or is no character: all but newline and tab."""

_SUSPICIOUS = re.compile(
    rb"\\[bfru]|[\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\d[eE]\+?\d{3}|\d{20}"
)
"""In the bytes of a JSON text: what may become such a character, or a number beyond all bounds. Rare: without it a text
need not be walked through."""


MOST = 1e308
"""Magnitude of a number: integers of more digits are no floats."""


def clean(text: str) -> str:
    """Text that drives no terminal; other systems' ends of line are newlines."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def is_plain(text: bytes) -> bool:
    """Whether a JSON text has nothing in it of which `parse` would make something else: other parsers may read it."""
    return not (_SUSPICIOUS.search(text) or b"NaN" in text or b"Infinity" in text)


def parse(text: bytes) -> Any:
    """What a JSON text says, its strings clean.

    Raises
    ------
    ValueError
        It is no JSON (RFC 8259, in UTF-8), is nested beyond all use, or has a number that is not finite.
    """
    try:
        found = json.loads(text.decode("utf-8"), parse_constant=_refused)
        return _walked(found) if _SUSPICIOUS.search(text) else found
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _walked(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _walked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_walked(one) for one in value]
    if isinstance(value, int | float) and not -MOST <= value <= MOST:
        raise ValueError("a number is beyond all bounds")
    return value
