"""Which files of ours a C++ source is compiled from."""

from __future__ import annotations

import re
from pathlib import Path

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def read_by(source: Path, root: Path) -> set[Path]:
    """Find a source and all headers that it includes, directly or through another.

    Parameters
    ----------
    root
        The folder that names in quotes are relative to, after the including file's own. What is in neither belongs to
        the system, and is not followed.
    """
    found: set[Path] = set()
    ahead = [source]
    while ahead:
        path = ahead.pop()
        if path not in found:
            found.add(path)
            names = _INCLUDE.findall(path.read_text(encoding="utf-8"))
            ahead += [place for name in names if (place := _place(name, path.parent, root))]
    return found


def _place(name: str, *folders: Path) -> Path | None:
    return next(((folder / name).resolve() for folder in folders if (folder / name).is_file()), None)
