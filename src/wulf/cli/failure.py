"""When wulf itself fails: one line for the user, and a report in a file for those who mend it.

A report has a name by what failed and where, so that a command run every five minutes on all nodes leaves one file.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from wulf import __version__
from wulf.core.errors import InternalError
from wulf.core.files import replace_file
from wulf.core.places import user_folder

LONGEST = 300
"""Characters of an exception's own words that are told."""


def places(environment: Mapping[str, str]) -> list[Path]:
    """Where a report may lie: the user's folder for state, else the one for temporary files."""
    return [user_folder("state", environment), Path(tempfile.gettempdir())]


def failed(error: Exception, command: Sequence[str], at: datetime, where: Sequence[Path]) -> InternalError:
    """What the user is told of an exception that nobody expected; the report is written.

    Where it can be written nowhere, it goes to stderr.
    """
    frames = traceback.extract_tb(error.__traceback__)
    last = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    words = " ".join(str(error).split())
    told = words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    what = f"wulf itself failed: {type(error).__name__} at {last}{': ' if told else ''}{told}"
    path = _write(_report(error, command, at), f"failure-{_mark(error, frames)}.txt", where)
    if path is None:
        return InternalError(what, "send the lines above to those who maintain wulf")
    return InternalError(what, f"send {path} to those who maintain wulf; it holds this command line, and no figures")


def _mark(error: Exception, frames: traceback.StackSummary) -> str:
    """The same for the same failure: of its type and its way through the code, not of what was measured."""
    way = "\n".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__}-{hashlib.sha256(way.encode()).hexdigest()[:8]}"


def _report(error: Exception, command: Sequence[str], at: datetime) -> str:
    here = os.uname()
    lines = [
        f"{at.isoformat(timespec='seconds')}  wulf {__version__}",
        f"Python {platform.python_version()}, {here.sysname} {here.release} {here.machine}",
        f"command: {shlex.join(command)}",
        "",
        *traceback.format_exception(error),
    ]
    return "\n".join(line.rstrip("\n") for line in lines) + "\n"


def _write(text: str, name: str, where: Sequence[Path]) -> Path | None:
    printable = text.encode("utf-8", "backslashreplace").decode()
    for folder in where:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid not in (0, os.geteuid()) or folder.is_symlink():
                continue  # root was sent there, as by sudo -E, by whoever has it
            replace_file(folder / name, printable, mode=0o600)
        except OSError:
            continue  # a full or read-only disk: the next place, and stderr at the end
        return folder / name
    with suppress(OSError):
        sys.stderr.write(printable)
    return None
