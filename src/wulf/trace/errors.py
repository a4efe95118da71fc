"""What is wrong with a trace, or with a file of another format: always where, and what is still good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from wulf.core import files, given
from wulf.core.errors import USAGE, WulfError


class TraceError(WulfError):
    """A trace can't be read, or not to its end (exit 2).

    Parameters
    ----------
    rank, chunk, offset
        Where: the rank whose file it is, the number of the chunk from 0, and the byte that the fault begins at; None
        where it is not in one.
    """

    exit_code = USAGE

    def __init__(
        self, what: str, next_step: str = "", *, rank: int | None = None, chunk: int | None = None,
        offset: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(what, next_step)
        self.rank, self.chunk, self.offset = rank, chunk, offset


_MINE = "is it there, and yours to read?"


class FormatError(TraceError):
    """A file of another format is not as that format wants it: names the file and the line."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file of a trace, or of another format. FormatError where it can't be read, or is no regular file."""
    try:
        with given.opened(path) as file:
            try:
                yield file
            except OSError as error:
                raise FormatError(f"{path} can't be read: {error.strerror}", "is it whole?") from error
    except given.Unreadable as error:
        raise FormatError(f"{path} can't be read: {error}", _MINE) from error


def contents(path: Path, most: int) -> bytes:
    """All bytes of such a file. FormatError where it can't be read, is no regular file, or has more than `most`."""
    try:
        return given.contents(path, most, regular=True)
    except given.Unreadable as error:
        raise FormatError(f"{path} can't be read: {error}", _MINE) from error


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """A text file that is whole or not there: it takes its name when the block ends well.

    Raises
    ------
    TraceError
        The disk is full, or there is no permission.
    """
    try:
        with files.writing(path) as out:
            yield out
    except OSError as error:
        raise TraceError(f"can't write {path}: {error.strerror}", "free some space, or name another place") from error
