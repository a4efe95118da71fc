"""Why rows of the table are open or missed: data/open.toml, a reason for rows by the patterns of their names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bench.engine.places import DATA
from bench.engine.rows import BEST, MISSED, OPEN, Row

FILE = DATA / "open.toml"

UNEXPLAINED = "nobody has said why yet"


@dataclass(frozen=True)
class Reason:
    """What holds rows back from their goal.

    Parameters
    ----------
    rows
        Patterns of their names, as of a shell.
    why
        A sentence, or several.
    peers
        Patterns of the peers' names.
    machines
        Patterns of the folders in results/.
    """

    rows: tuple[str, ...]
    why: str
    peers: tuple[str, ...] = ("*",)
    machines: tuple[str, ...] = ("*",)

    def holds(self, row: Row, machine: str) -> bool:
        """Whether it is this row's, which was measured on that machine."""
        asked = ((row.name, self.rows), (row.peer_name, self.peers), (machine, self.machines))
        return all(any(fnmatchcase(name, pattern) for pattern in patterns) for name, patterns in asked)


def read(path: Path = FILE) -> list[Reason]:
    """The file's reasons, the particular before the general."""
    return [_reason(entry) for entry in tomllib.loads(path.read_text())["reason"]]


def _reason(entry: Mapping[str, Any]) -> Reason:
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}
    return Reason(**fields)


def unreached(rows: Sequence[Row]) -> list[Row]:
    """The rows whose goal is open or missed, without those that repeat another."""
    return [row for row in rows if row.verdict in (OPEN, MISSED) and not row.name.endswith(BEST)]


def explained(rows: Sequence[Row], machine: str, reasons: Sequence[Reason]) -> dict[str, list[Row]]:
    """Reason → the open and missed rows that it is the first to hold for; `UNEXPLAINED` last, if at all."""
    found: dict[str, list[Row]] = {}
    for row in unreached(rows):
        why = next((reason.why for reason in reasons if reason.holds(row, machine)), UNEXPLAINED)
        found.setdefault(why, []).append(row)
    left = found.pop(UNEXPLAINED, None)
    return found | ({UNEXPLAINED: left} if left else {})


MOST_NAMED = 6
"""Open rows of one reason that are named; of more a few, and how many there are besides."""


def markdown(found: dict[str, list[Row]]) -> str:
    """A list: rows, what they are, and why; missed ones are all named."""
    return "\n".join(f"- {_named(rows)}: {why.strip()}" for why, rows in found.items())


def _named(rows: Sequence[Row]) -> str:
    shown = [row for number, row in enumerate(rows) if number < MOST_NAMED or row.verdict == MISSED]
    told = "; ".join(f"*{row.name}*" + (" (missed)" if row.verdict == MISSED else "") for row in shown)
    return told + (f"; and {len(rows) - len(shown)} more that are open" if len(shown) < len(rows) else "")
