"""The source of libwulf-trace as one file: what travels to the node that builds it. Standard library alone."""

from __future__ import annotations

import functools
from pathlib import Path

from wulf.codegen.profile_source import carried, matching
from wulf.codegen.trace_calls import generated

NAME = "wulf-trace-source.zip"

PATTERNS = (
    "interpose/*.[ch]pp", "trace/*.[ch]pp", "trace/calls/*.[ch]pp", "trace/file/*.[ch]pp", "trace/format/*.hpp",
    "trace/format/crc.cpp",
)  # fmt: skip
"""The decoder is of those who read traces: the library needs none of it."""


def files(native: Path) -> dict[str, bytes]:
    """Name → content of all that the compiler needs, what is made from the table included.

    Parameters
    ----------
    native
        The folder of the native sources.
    """
    made = generated((native / "trace/calls.txt").read_text(encoding="utf-8"))
    return matching(native, PATTERNS) | {name: text.encode() for name, text in made.items()}


@functools.cache
def trace_source() -> tuple[bytes, str]:
    """The source of this wulf, packed, and its digest: from the source tree, or as the wheel carries it.

    Raises
    ------
    FileNotFoundError
        Neither is there.
    """
    return carried("trace", NAME, files)
