"""Files that survive a power cut: whole as they were, or whole as they are meant to be."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any


def make_folder(folder: Path) -> None:
    """The folder, for its owner alone, with a name that lasts. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Names in a folder last only once the folder itself is on disk (fsync(2)), where its file system can tell."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def replace(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file at once and for good. Raises OSError, with nothing left beside it."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    sync_folder(path.parent)


def remove(path: Path) -> None:
    """Remove a file for good, if it is there."""
    with suppress(FileNotFoundError):
        path.unlink()
        sync_folder(path.parent)


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object that a file holds; None where there is no file. Raises ValueError where it holds no object."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds no JSON object")
    return found
