"""Where a node keeps what belongs to wulf-mpi: the same two places as for all programs of wulf."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from wulf.agent.files.state import own_cache


def caches() -> list[Path]:
    """~/.cache/wulf/mpi, and a folder in /tmp where that can't be used."""
    return [own_cache() / "mpi", Path(tempfile.gettempdir(), f"wulf-{os.getuid()}", "mpi")]


def wheel_folders() -> list[Path]:
    """The environments that MPIs from PyPI were installed into."""
    return [folder for cache in caches() for folder in sorted(cache.glob("wheel-*")) if folder.is_dir()]


def usable_places() -> list[str]:
    """The caches that this node can write to and run programs from."""
    return [str(cache) for cache in caches() if trouble(cache) is None]


def trouble(cache: Path) -> str | None:
    """Why a folder can't hold programs; None: it can, and exists now, ours alone."""
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        # /tmp is everybody's: a folder of somebody else's, and what a link leads to, are not ours
        for folder in (cache, cache.parent):
            status = os.lstat(folder)
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                return f"{folder} belongs to somebody else"
        with tempfile.NamedTemporaryFile(dir=cache):
            pass
    except OSError as error:
        return f"{error.filename or cache}: {error.strerror}"
    return f"{cache} is mounted noexec" if os.statvfs(cache).f_flag & os.ST_NOEXEC else None
