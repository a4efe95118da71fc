"""pip without pip: its wheel from the package index, found as pip itself would find it."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from provision import index
from provision.index import File
from provision.runner import SetupError

WHEEL = re.compile(r"pip-(\d+(?:\.\d+)*)-[\w.]+-none-any\.whl$")


def newest(files: Sequence[File], page: str, python: tuple[int, int] = sys.version_info[:2]) -> File:
    """Choose the newest released wheel of pip, of those that a page lists, that this Python can run."""
    wheels = {
        tuple(int(part) for part in match.group(1).split(".")): file
        for file in files
        if (match := WHEEL.match(file.name)) and not file.yanked and _runs(file.requires, python)
    }
    if not wheels:
        raise SetupError(
            f"{page} lists no wheel of pip that Python {python[0]}.{python[1]} can run",
            f"{index.CHECK_INDEX}, or install python3-venv as root",
        )
    return wheels[max(wheels)]


def _runs(requires: str, python: tuple[int, int]) -> bool:
    """Check the lower bounds of a Requires-Python; pip sets no upper ones."""
    bounds = re.findall(r">=\s*(\d+)\.(\d+)", requires)
    return all(python >= (int(major), int(minor)) for major, minor in bounds)


def fetch_pip(folder: Path) -> Path:
    """Download pip's wheel into a folder; return its path."""
    file, content = index.fetch("pip", newest)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file.name
    path.write_bytes(content)
    return path
