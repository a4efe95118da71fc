"""Small archives that are the same wherever they are made: what an image and a node get from the lab."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class File:
    """A file's content and permissions; it will belong to root."""

    content: bytes
    mode: int = 0o644


def pack(files: Mapping[str, File]) -> bytes:
    """A tar of `files` by path ("etc/hostname"), to be unpacked in /; no time or owner of this machine in it.

    Directories are not in it: those that are there keep their permissions.
    """
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(files[name].content), files[name].mode
            archive.addfile(entry, io.BytesIO(files[name].content))
    return raw.getvalue()


def tree(folder: Path) -> dict[str, File]:
    """The files below `folder`; one that the first line calls a script is executable."""
    return {str(path.relative_to(folder)): _read(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def _read(path: Path) -> File:
    content = path.read_bytes()
    return File(content, 0o755 if content.startswith(b"#!") else 0o644)
