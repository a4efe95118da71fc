"""Files that are whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def replace_file(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file as `writing` does. Raises OSError."""
    with writing(path, mode) as out:
        out.write(text)


@contextmanager
def writing(path: Path, mode: int = 0o644) -> Iterator[IO[str]]:
    """A text file to be written atomically and durably: after a crash `path` holds all of it, or what it held before.

    Its mode is set by descriptor: whoever owns the folder could put a link in the place of a name. A device such as
    /dev/null is written to, and stays what it is.

    Raises
    ------
    OSError
        The disk is full, there is no permission, or a folder, a pipe or a link to one has that name; nothing is left
        beside `path`.
    """
    if _is_device(path):
        with path.open("w", encoding="utf-8", newline="\n") as out:
            yield out
        return
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", newline="\n", delete=False
    ) as out:
        new = Path(out.name)
        try:
            yield out
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise


def _is_device(path: Path) -> bool:
    """Whether it is a character device itself. FileExistsError where it is, or leads to, what must not be replaced."""
    try:
        itself, found = path.lstat(), path.stat()
    except FileNotFoundError:
        return False
    if stat.S_ISCHR(itself.st_mode):
        return True
    if not stat.S_ISREG(found.st_mode):
        raise FileExistsError(errno.EEXIST, "it is no file", str(path))
    return False
