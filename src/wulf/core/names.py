"""Names for people: nodes in natural order, folded node sets, text that is safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_FOLDABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DIGITS = re.compile(r"(\d+)")


@lru_cache(maxsize=1 << 16)  # a report on 10,000 nodes sorts them for every fact
def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which n2 stands before n10."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part)


def fold(names: Iterable[str], limit: int = 8) -> str:
    """Node names as ClusterShell folds them: `n[1-2,4]`.

    Names that it would read as something else (an IPv6 address, `@group`) are listed, the first `limit` of them.
    """
    return _folded(tuple(sorted(set(names), key=natural)), limit)


@lru_cache(maxsize=64)  # most facts have the same value on all nodes: one set of names, folded once
def _folded(ordered: tuple[str, ...], limit: int) -> str:
    if len(ordered) > 1 and all(_FOLDABLE.fullmatch(name) for name in ordered):
        from ClusterShell.NodeSet import NodeSet  # slow to import, needed for many nodes alone

        return str(NodeSet.fromlist(ordered))
    if len(ordered) > limit:
        return f"{', '.join(ordered[:limit])} and {len(ordered) - limit} more"
    return ", ".join(ordered)


def fold_places(places: Iterable[str]) -> str:
    """Places on a node, folded: `cpu[0-63]`, `rx-[0-7] of eth0`; '' stands for the node itself, and is left out."""
    owners: dict[str, list[str]] = {}
    for place in filter(None, places):
        name, _, owner = place.partition(" of ")
        owners.setdefault(owner, []).append(name)
    return ", ".join(fold(names) + (f" of {owner}" if owner else "") for owner, names in owners.items())


def printable(text: object) -> str:
    """Text without control characters, so that a name or fact can't drive a terminal or turn a line around."""
    said = str(text)
    if said.isprintable():  # nearly all is: a page of 10,000 nodes asks a million times
        return said
    return "".join(c if c.isprintable() else " " if c in "\n\t" else "\ufffd" for c in said)


def shortened(text: str, limit: int) -> str:
    """At most so many characters of a text, the middle left out: names differ at their ends."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def capitalised(text: str) -> str:
    """With a capital at its beginning, and the rest as it is."""
    return text[:1].upper() + text[1:]


def uncapitalised(text: str) -> str:
    """Without a capital at its beginning, as within a sentence."""
    return text[:1].lower() + text[1:]


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 record`, `1,234 records`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def subject_text(subject: str) -> str:
    """A record's or finding's subject for people: `n1>n3` as `n1 → n3`."""
    parts = subject.split(">")
    return printable(" → ".join(parts) if len(parts) == 2 and all(parts) else subject)


def markdown(text: str) -> str:
    """Text that Markdown leaves as it is: no tags, no emphasis."""
    return re.sub(r"([\\*`])", r"\\\1", text).replace("<", "&lt;")


def markdown_cell(text: str) -> str:
    """The same in a cell of a table."""
    return markdown(text).replace("|", "\\|")
