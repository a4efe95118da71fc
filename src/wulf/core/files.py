"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file atomically and durably: after a crash `path` holds `text`, or what it held before.

    Its mode is set by descriptor: whoever owns the folder could put a link in the place of a name.

    Raises
    ------
    OSError
        The disk is full, or there is no permission; nothing is left beside `path`.
    """
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", newline="\n", delete=False
    ) as out:
        new = Path(out.name)
        try:
            out.write(text)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise
