"""Files that are whole or not there, and folders that others may own.

Whoever owns a folder, or one above it, can put a link in the place of a name. So all is done below a descriptor, and no
link is followed there; only a folder that the user has named may be one.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # nobody waits for a pipe


def replace_file(path: Path, text: str, mode: int = 0o644, below: int | None = None) -> None:
    """Write a file as `writing` does. Raises OSError."""
    with writing(path, mode, below) as out:
        out.write(text)


@contextmanager
def writing(path: Path, mode: int = 0o644, below: int | None = None) -> Iterator[IO[str]]:
    """As `writing_bytes`, text in UTF-8."""
    with writing_bytes(path, mode, below) as raw:
        out = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        try:
            yield out
            out.flush()
        finally:
            with suppress(OSError):  # what it holds back is lost with the rest
                out.detach()


@contextmanager
def writing_bytes(path: Path, mode: int = 0o644, below: int | None = None) -> Iterator[BinaryIO]:
    """A file to be written atomically and durably: after a crash `path` holds all of it, or what it held before.

    A device such as /dev/null is written to, and stays what it is.

    Parameters
    ----------
    below
        Descriptor of a folder that the path is relative to; those on its way are made. None: by its whole name.

    Raises
    ------
    OSError
        The disk is full, there is no permission, or a folder, a pipe or a link to one has that name; nothing is left
        beside `path`.
    """
    new = f".{path.name}.{secrets.token_hex(4)}"
    with folder(path.parent, below) as parent:
        if _is_device(path, parent):
            with os.fdopen(os.open(path.name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent), "wb") as out:
                yield out
            return
        made = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=parent)
        with os.fdopen(made, "wb") as out:
            try:
                yield out
                out.flush()
                os.fchmod(out.fileno(), mode)
                os.fsync(out.fileno())
                os.rename(new, path.name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(OSError):
                    os.unlink(new, dir_fd=parent)
                raise


def copy_file(source: Path, path: Path) -> None:
    """Write a file as `writing_bytes` does, with what another one holds. Raises OSError."""
    with source.open("rb") as given, writing_bytes(path) as out:
        shutil.copyfileobj(given, out)


def appending(path: Path, below: int | None = None, *, mode: int = 0o644) -> io.FileIO:
    """A file to read, and to append to, each write at once; made where it is not there.

    Raises
    ------
    OSError
        A link, or what is no regular file, has that name (ELOOP, EEXIST), or there is no permission.
    """
    with folder(path.parent, below) as parent:
        descriptor = os.open(path.name, os.O_RDWR | os.O_APPEND | _FILE, mode, dir_fd=parent)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file(path)
    return io.FileIO(str(path), "ab+", opener=lambda *_: descriptor)


def emptied(path: Path) -> BinaryIO:
    """A file of that name with nothing in it yet, for what is worth having in part. Raises OSError as `appending`."""
    file = appending(path)
    file.truncate(0)
    return io.BufferedWriter(file)


@contextmanager
def folder(path: Path, below: int | None = None, *, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder, to write below. Raises OSError.

    Parameters
    ----------
    below
        As of `writing_bytes`: the folder and those on its way are made.
    make
        Whether they are made where there is no `below`.
    """
    if below is None and make:
        path.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, _FOLDER) if below is None else os.dup(below)
    try:
        for name in () if below is None else path.parts:
            if name in (os.sep, os.pardir):
                raise PermissionError(errno.EPERM, "it leads out of its folder", str(path))
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _is_device(path: Path, parent: int) -> bool:
    """Whether it is a character device itself. FileExistsError where it is, or leads to, what must not be replaced."""
    try:
        itself = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
        found = os.stat(path.name, dir_fd=parent)
    except FileNotFoundError:
        return False
    if stat.S_ISCHR(itself.st_mode):
        return True
    if not stat.S_ISREG(found.st_mode) or _leads_to_a_process(path.name, parent, itself):
        raise _no_file(path)
    return False


def _leads_to_a_process(name: str, parent: int, itself: os.stat_result) -> bool:
    """Whether it is as /dev/stdout is: another file for whoever looks, and a link that all need."""
    return stat.S_ISLNK(itself.st_mode) and os.readlink(name, dir_fd=parent).startswith("/proc/")


def _no_file(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "it is no file", str(path))
