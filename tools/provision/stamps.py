"""What is done stays done: a stamp file a step, holding the digest of everything the step depends on.

Contents count and not times, so that a fresh checkout, a touched file or a branch and back redo nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(files: Iterable[Path] = (), words: Iterable[str] = ()) -> str:
    """Digest the names and contents of files and folders (in any order given), and words besides."""
    sums = hashlib.sha256()
    for word in words:
        sums.update(f"{len(word)}:{word}".encode())
    for path in sorted(_files(files)):
        content = path.read_bytes()
        sums.update(f"{path}:{len(content)}:".encode())
        sums.update(content)
    return sums.hexdigest()


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            yield from (file for file in path.rglob("*") if file.is_file())
        else:
            yield path


class Stamps:
    """The stamps of one clone, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fresh(self, step: str, key: str, *outputs: Path) -> bool:
        """Say whether the step was done with this key and its outputs are still there."""
        file = self._folder / step
        return file.is_file() and file.read_text() == key and all(output.exists() for output in outputs)

    def set(self, step: str, key: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / step).write_text(key)

    def drop(self, step: str) -> None:
        (self._folder / step).unlink(missing_ok=True)
