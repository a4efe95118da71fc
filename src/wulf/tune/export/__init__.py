"""Exports: what a campaign kept, as files that make it last, each line with the effect that was measured.

Pure: entries in, text out.

entry    a kept setting and the words for its effect; groups of nodes that kept the same
live     how a running node is changed from a shell
boot     which line of which file brings a setting back when the node starts
formats  one module a format
readme   what is told to a person beside the files
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wulf.core.errors import UsageError
from wulf.tune.export.entry import Entry, by_nodes, why_unsafe
from wulf.tune.export.formats import formats
from wulf.tune.export.readme import README, readme

__all__ = ["Exported", "export"]


@dataclass(frozen=True)
class Exported:
    """Files to write, and what they don't hold."""

    files: dict[str, str]
    """Path → text; those that begin with '#!' are programs."""
    refused: list[tuple[Entry, str]]
    """What the format has no words for, and why."""


def export(entries: Iterable[Entry], name: str) -> Exported:
    """Everything that was kept, in one format.

    Nodes that kept different settings, or had different values before, get a folder each, named after them.

    Raises
    ------
    UsageError
        Nothing was kept, nothing of it can safely stand in a file, or there is no such format.
    """
    known = formats()
    if name not in known:
        raise UsageError(f"there is no format {name!r}", f"the formats are {', '.join(known)}")
    sound: list[Entry] = []
    refused: list[tuple[Entry, str]] = []
    for entry in entries:
        if why := why_unsafe(entry):
            refused.append((entry, why))
        else:
            sound.append(entry)
    if not sound:
        first = f": {refused[0][0].title}: {refused[0][1]}" if refused else ""
        raise UsageError(f"the campaign kept nothing that can be exported{first}")
    groups = by_nodes(sound)
    files: dict[str, str] = {}
    for nodes, its in groups.items():
        folder = f"{nodes}/" if len(groups) > 1 else ""
        written = known[name].write(its)
        files |= {f"{folder}{path}": text for path, text in written.files.items()}
        files[f"{folder}{README}"] = readme(known[name], its, written)
        refused += written.refused
    return Exported(files, refused)
