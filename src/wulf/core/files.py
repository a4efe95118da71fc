"""Files that are whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
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

    All is done below a descriptor of the folder: whoever owns that, or one above it, could put a link in the place of a
    name. A device such as /dev/null is written to, and stays what it is.

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
    new = f".{path.name}.{secrets.token_hex(4)}"
    with _opened(path.parent) as folder, _created(new, folder) as out:
        try:
            yield out
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
            os.rename(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(new, dir_fd=folder)
            raise


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _created(name: str, folder: int) -> IO[str]:
    """A new file of the folder, for its owner alone."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    return open(descriptor, "w", encoding="utf-8", newline="\n")  # noqa: PTH123 - a descriptor


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
