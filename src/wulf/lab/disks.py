"""Where a lab's disks lie: beside the image, on a real disk, since a lab's own directory is mostly in memory.

The lab's directory points there, so that whoever removes it, its first process or a later `wulf lab down`, finds them.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from .inside.linux import DISKS


def make(state: Path, place: Path) -> Path:
    """A folder in `place` for the disks of the lab whose directory is `state`."""
    place.mkdir(parents=True, exist_ok=True)
    target = place / f"{state.name}.{secrets.token_hex(4)}"
    (state / DISKS).symlink_to(target)  # first of all: whatever ends us from here on, the folder is found
    target.mkdir(mode=0o700)
    return target


def folder(state: Path) -> Path:
    """The folder that `make` made."""
    return Path(os.path.realpath(state / DISKS))


def remove(state: Path) -> None:
    """Remove the disks of the lab whose directory is `state`, where it has any."""
    if (state / DISKS).is_symlink():
        shutil.rmtree(folder(state), ignore_errors=True)
