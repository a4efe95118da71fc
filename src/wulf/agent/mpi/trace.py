"""What a traced application's ranks left on this node, read in parts: a trace may be larger than this node's memory."""

from __future__ import annotations

import base64
import os
import zlib
from pathlib import Path
from typing import Any

from wulf.agent.session import Refused

PATTERN = "rank-*.wtr"

PART = 1 << 19
"""Bytes of a part before compression and base64: an answer may be 1 MiB long."""


def trace_look(folder: Any) -> dict[str, Any]:
    """{"op": "trace_look", "folder": …}: the ranks' files there with their sizes, and what of the disk is free."""
    place = Path(str(folder))
    try:
        rows = [{"name": path.name, "bytes": path.stat().st_size} for path in sorted(place.glob(PATTERN))]
        disk = os.statvfs(place)
    except OSError as error:
        raise Refused("bad-parameter", f"{place} can't be read: {error.strerror}", "folder") from error
    return {"files": rows, "free": disk.f_bavail * disk.f_frsize, "host": os.uname().nodename}


def trace_read(folder: Any, name: Any, offset: Any = 0) -> dict[str, Any]:
    """{"op": "trace_read", "folder": …, "name": "rank-000000.wtr", "offset": 0}: a compressed part of a file."""
    path = Path(str(folder)) / str(name)
    if path.parent != Path(str(folder)) or not path.match(PATTERN):
        raise Refused("bad-parameter", f"{name!r} is no rank's file: they are {PATTERN}", "name")
    try:
        with path.open("rb") as file:
            file.seek(int(offset))
            part = file.read(PART)
    except (OSError, ValueError) as error:
        raise Refused("bad-parameter", f"{path} can't be read: {error}", "name") from error
    return {"data": base64.b64encode(zlib.compress(part, 1)).decode(), "bytes": len(part)}
