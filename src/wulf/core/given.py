"""Files that a user names, taken in: of bounded size, UTF-8, and TOML or JSON that ends, with numbers that are finite.

A pipe is read too (`--hostfile <(scontrol show hostnames)`), but nobody waits for one into which nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import select
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pydantic import ValidationError

MOST = 64 << 20
"""Bytes of a file: what describes 10,000 nodes in full has a tenth of it."""

PATIENCE = 10.0
"""Seconds without a byte after which a pipe is given up."""

_HALF = re.compile("[\ud800-\udfff]")
"""Of a surrogate pair: JSON can have it alone, and no program of ours takes it."""

NOT_REGULAR = "it is no regular file"

LONGEST_LINE = 1 << 16
"""Bytes of a line of a table."""

_CHUNK = 1 << 20


class Unreadable(ValueError):  # noqa: N818 - it says what is the matter with a file
    """A file can't be taken in; the text is the reason, to stand behind the file's name."""

    @property
    def absent(self) -> bool:
        """Whether nothing has that name."""
        return isinstance(self.__cause__, FileNotFoundError)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open to be read piece by piece.

    Raises
    ------
    Unreadable
        It is not there (from a FileNotFoundError), may not be read, or is no regular file: nobody waits for a pipe.
    """
    descriptor = _open(path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable(NOT_REGULAR)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from error


def contents(path: Path, most: int = MOST, *, patience: float = PATIENCE, regular: bool = False) -> bytes:
    """A file's or pipe's bytes.

    Parameters
    ----------
    patience
        Seconds without a byte after which a pipe is given up.
    regular
        Nothing but a regular file will do.

    Raises
    ------
    Unreadable
        It is not there (from a FileNotFoundError), may not be read, is a folder, holds more than `most` bytes, or a
        pipe says nothing.
    """
    return b"".join(_pieces(path, most, patience, regular=regular))


def _pieces(path: Path, most: int, patience: float, *, regular: bool = False) -> Iterator[bytes]:
    descriptor = _open(path)
    try:
        status = os.fstat(descriptor)
        is_regular = stat.S_ISREG(status.st_mode)
        if regular and not is_regular:
            raise Unreadable(NOT_REGULAR)
        if is_regular and status.st_size > most:
            raise Unreadable(f"it has {status.st_size:,} bytes, more than {most:,}")
        yield from _read(descriptor, most, patience)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def _read(descriptor: int, most: int, patience: float) -> Iterator[bytes]:
    left = most
    while True:
        try:
            more = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            if not select.select([descriptor], [], [], patience)[0]:
                raise Unreadable(f"nothing was written into this pipe for {patience:g} s") from None
            continue
        if not more:
            return
        left -= len(more)
        if left < 0:
            raise Unreadable(f"it has more than {most:,} bytes")
        yield more


def text_of(path: Path, most: int = MOST) -> str:
    """Its text, without a mark of byte order. Raises Unreadable, also where it is not UTF-8."""
    try:
        return contents(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 text: {error.reason} at byte {error.start}") from error


def lines_of(path: Path, most: int = MOST) -> Iterator[str]:
    """A text's lines without their ends, one after another: of a long table, nobody holds the whole.

    Raises
    ------
    Unreadable
        As `contents`; or a line has more than `LONGEST_LINE` bytes, or is not UTF-8.
    """
    number, rest = 1, b""
    for piece in _pieces(path, most, PATIENCE):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield _line(number, line)
            number += 1
        _hold_to_length(number, rest)  # before more of it is read: it may have no end
    if rest:
        yield _line(number, rest)


def _hold_to_length(number: int, line: bytes) -> None:
    if len(line) > LONGEST_LINE:
        raise Unreadable(f"line {number} has more than {LONGEST_LINE:,} bytes")


def _line(number: int, line: bytes) -> str:
    _hold_to_length(number, line)
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"line {number} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def toml_of(path: Path) -> dict[str, Any]:
    """What a TOML file says. Raises Unreadable."""
    return toml(text_of(path))


def toml(text: str) -> dict[str, Any]:
    """What a text in TOML says.

    Raises
    ------
    Unreadable
        It is no TOML, is nested beyond all use, or a number is not finite.
    """
    found: dict[str, Any] = _decoded(tomllib.loads, text, "TOML")
    return found


def json_of(path: Path) -> Any:
    """What a JSON file says.

    Raises
    ------
    Unreadable
        As `text_of`; it is no JSON, is nested beyond all use, or a number is not finite.
    """
    return _decoded(json.loads, text_of(path), "JSON")


def _decoded(decode: Callable[[str], Any], text: str, language: str) -> Any:
    try:
        found = decode(text)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:  # its decoder's own is one; of a number of thousands of digits is another
        raise Unreadable(f"it is no {language}: {error}") from error
    _check(found)
    return found


def first_fault(error: ValidationError, whole: str = "the whole") -> str:
    """Field and reason of the first of what is wrong with a document; `whole` where that is no field's."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {first['msg']}"


def _check(value: Any) -> None:
    if isinstance(value, dict):
        for name, one in value.items():
            _check(name)
            _check(one)
    elif isinstance(value, list):
        for one in value:
            _check(one)
    elif isinstance(value, str):
        if not value.isascii() and _HALF.search(value):
            raise Unreadable("a text has half of a character in it, which is no UTF-8")
    elif isinstance(value, float) and not isfinite(value):
        raise Unreadable(f"{value} is no figure")
    elif isinstance(value, int) and value.bit_length() > 1000:
        raise Unreadable("a number is beyond all bounds")
