"""The source of libwulf-profile as one file: what travels to the node that builds it. Standard library alone."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path

from wulf.codegen.native_source import zipped
from wulf.codegen.profile_calls import generated

NAME = "wulf-profile-source.zip"

PATTERNS = ("interpose/*.[ch]pp", "profile/*.[ch]pp")


def files(native: Path) -> dict[str, bytes]:
    """Name → content of all that the compiler needs, what is made from the table included.

    Parameters
    ----------
    native
        The folder of the native sources.
    """
    made = generated((native / "profile/calls.txt").read_text(encoding="utf-8"))
    return matching(native, PATTERNS) | {name: text.encode() for name, text in made.items()}


@functools.cache
def profile_source() -> tuple[bytes, str]:
    """The source of this wulf, packed, and its digest: from the source tree, or as the wheel carries it.

    Raises
    ------
    FileNotFoundError
        Neither is there.
    """
    return carried("profile", NAME, files)


def matching(native: Path, patterns: tuple[str, ...]) -> dict[str, bytes]:
    """Name → content of the native sources that match."""
    return {str(path.relative_to(native)): path.read_bytes() for pattern in patterns for path in native.glob(pattern)}


def carried(folder: str, name: str, files_of: Callable[[Path], dict[str, bytes]]) -> tuple[bytes, str]:
    """A library's source, packed, and its digest, where `folder` of the source tree has it, or the wheel under `name`.

    Raises
    ------
    FileNotFoundError
        Neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    archive, native = package / "programs" / name, package.parents[1] / "native"
    if (native / folder).is_dir():
        data = zipped(files_of(native))
    elif archive.is_file():
        data = archive.read_bytes()
    else:
        raise FileNotFoundError(f"this installation of wulf lacks {archive}, the source of libwulf-{folder}")
    return data, hashlib.sha256(data).hexdigest()
