"""What firmware, buses and neighbours say of a node's hardware; each module reads one of them, bounded and checked."""

from __future__ import annotations

MOST_CHARACTERS = 64


def printable(text: str) -> str:
    """A name of somebody else's making: what can be printed of it, its spaces single, cut at `MOST_CHARACTERS`."""
    plain = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(plain.split())[:MOST_CHARACTERS]
