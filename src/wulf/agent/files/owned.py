"""Whether other accounts can get at a folder: every folder above it is looked at, as sshd's StrictModes does."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def exposed(folder: Path) -> str | None:
    """Who else could write into a folder, or put another one in its place; None: root and this user alone.

    Where the path leads over links, both ways are looked at. What lies in a sticky folder that everybody may write to,
    as /tmp, is safe from everybody but its owner. Access control lists are not looked at.

    Raises
    ------
    OSError
        There is no such folder, or it can't be reached.
    """
    asked, real = folder.absolute(), folder.resolve()
    for one in dict.fromkeys((*reversed(asked.parents), asked, *reversed(real.parents), real)):
        for status in (one.lstat(), one.stat()):
            mode, owner = status.st_mode, status.st_uid
            if owner not in (0, os.geteuid()) and not _unmapped(owner):
                return f"{one} belongs to user {owner}"
            if stat.S_ISLNK(mode) or not mode & (stat.S_IWGRP | stat.S_IWOTH):
                continue
            if one in (asked, real) or not mode & stat.S_ISVTX:
                return f"{one} can be written by others (mode {stat.filemode(mode)})"
    return None


def _unmapped(owner: int) -> bool:
    """Whether it stands for everybody whom this user namespace does not know, root of the machine among them."""
    try:
        overflow = int(Path("/proc/sys/kernel/overflowuid").read_text())
        everybody = Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]
    except (OSError, ValueError):
        return False
    return owner == overflow and not everybody
