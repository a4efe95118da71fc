"""Sets of nodes as ClusterShell writes them, with a bound: 'n[1-10000000]' is a few letters, and ten million names."""

from __future__ import annotations

import re

MOST = 100_000
"""Names that one set may stand for: ten times the largest cluster that wulf is made for."""

LONGEST = 253
"""Letters of a host's name, dots among them (RFC 1035, section 2.3.4)."""

_TERM = re.compile(r"(?:\[[^\]]*\]|[^\[,!&^\s])+")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"(\d+)-(\d+)(?:/(\d+))?")
_NESTED = re.compile(r"\[[^\[\]]*\[")
_MOST_DIGITS = 18


def names_in(text: str) -> list[str]:
    """The names of a set, in its order.

    Raises
    ------
    ValueError
        It can't be parsed, names an unknown group, or stands for more than `MOST` nodes.
    """
    from ClusterShell.NodeSet import NodeSet, NodeSetException  # slow to import, needed for sets alone

    if _NESTED.search(text):  # looked for first: _TERM would scan the rest of the text from each of them
        raise ValueError("a bracket stands within brackets")
    if sum(_size(term) for term in _TERM.findall(text)) > MOST:
        raise ValueError(f"it stands for more than {MOST:,} nodes")
    try:
        found = NodeSet(text)
    except NodeSetException as error:
        raise ValueError(str(error)) from error
    if len(found) > MOST:
        raise ValueError(f"it stands for more than {MOST:,} nodes")
    names = [str(name) for name in found]
    if long := next((name for name in names if len(name) > LONGEST), None):
        raise ValueError(f"a host's name has at most {LONGEST} letters, and {long[:20]}… has {len(long):,}")
    return names


def _size(term: str) -> int:
    """How many names a term stands for, at most."""
    size = 1
    for inside in _BRACKETS.findall(term):
        size *= max(1, sum(_length(part) for part in inside.split(",")))
    return size


def _length(part: str) -> int:
    found = _RANGE.fullmatch(part.strip())
    if found is None:
        return 1
    if max(map(len, found.groups(default="1"))) > _MOST_DIGITS:
        return MOST + 1
    first, last, step = map(int, found.groups(default="1"))
    return max(0, last - first) // max(1, step) + 1
