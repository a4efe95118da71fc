"""What a format of export is: files made from what was kept, and what it has no words for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wulf.tune.export.entry import Entry, ascii_words

Lines = dict[str, list[str]]
"""Path → lines."""


@dataclass
class Written:
    """What one format made of the settings of one group of nodes."""

    lines: Lines = field(default_factory=dict)
    refused: list[tuple[Entry, str]] = field(default_factory=list)
    """What the format can't express, and why."""

    def add(self, path: str, *lines: str) -> None:
        """Append lines to a file."""
        self.lines.setdefault(path, []).extend(lines)

    @property
    def files(self) -> dict[str, str]:
        """Path → text."""
        return {path: "\n".join(lines) + "\n" for path, lines in self.lines.items()}


@dataclass(frozen=True)
class Format:
    """One format."""

    name: str
    help: str
    write: Callable[[Sequence[Entry]], Written]
    install: str
    """How a person puts it into force, as Markdown."""
    undo: str
    """How he takes it back."""


def header(entries: Sequence[Entry], mark: str = "#") -> list[str]:
    """The first lines of a file."""
    source = entries[0].source
    nodes = f", on {entries[0].kept.nodes}" if entries[0].kept.nodes else ""
    return [
        ascii_words(f"{mark} Settings that `wulf tune` kept in the run {source.run} of {source.date}{nodes}."),
        f"{mark} Beside each: what it changed there, with the interval; or that this was not measured.",
    ]
