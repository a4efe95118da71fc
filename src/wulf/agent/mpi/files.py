"""Files to and from this node in parts, compressed, each whole or not there."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import zlib
from pathlib import Path
from typing import Any

from wulf.agent.files.durable import make_folder, replace
from wulf.agent.session import Refused

PART = 1 << 19
"""Bytes of a part before base64: a request may be 1 MiB long."""


def digest_of(path: Path) -> str | None:
    """SHA-256 of a file of ours, in hexadecimal digits; None where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.stat().st_uid == os.getuid() else None
    except OSError:
        return None


def mpi_look(path: Any) -> dict[str, Any]:
    """{"op": "mpi_look", "path": …}: the digest of a file here, or null; and as a program, its trouble, or null."""
    target = Path(str(path))
    return {"digest": digest_of(target), "trouble": _trouble(target) if os.access(target, os.X_OK) else None}


def missing_libraries(library: Path) -> list[str]:
    """What a shared library of ours needs and this node lacks; itself, where it is not there."""
    if not library.is_file():
        return [str(library)]
    try:
        done = subprocess.run(
            ["ldd", str(library)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []  # a node without ldd: the loader will say it
    lines = done.stdout.decode(errors="replace").splitlines()
    return [line.split()[0] for line in lines if "not found" in line]


def _trouble(program: Path) -> str | None:
    """Why a program does not run here: a library that this node lacks, another machine's code."""
    if program.suffix == ".so":
        missing = missing_libraries(program)
        return f"{', '.join(missing)} not found" if missing else None
    try:
        done = subprocess.run(
            [str(program), "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return None if done.returncode == 0 else (said or [f"status {done.returncode}"])[-1]


def mpi_read(path: Any, part: Any = 0) -> dict[str, Any]:
    """{"op": "mpi_read", "path": …, "part": 0}: one part of a compressed file, and how many there are."""
    try:
        packed = zlib.compress(Path(str(path)).read_bytes())
    except OSError as error:
        raise Refused("bad-parameter", f"{path} can't be read: {error.strerror}", "path") from error
    parts = max(1, -(-len(packed) // PART))
    return {"data": base64.b64encode(packed[part * PART : (part + 1) * PART]).decode(), "parts": parts}


_partial: dict[str, list[bytes]] = {}


def mpi_write(path: Any, data: Any, digest: Any, part: Any = 0, parts: Any = 1) -> dict[str, Any]:
    """{"op": "mpi_write", "path": …, "data": …, "digest": …}: a file here, verified, moved there when it is whole."""
    target = Path(str(path))
    received = _partial.setdefault(str(target), [])
    if part != len(received):
        del _partial[str(target)]
        raise Refused("bad-parameter", f"part {part} of {target} came where part {len(received)} was due", "part")
    received.append(base64.b64decode(data))
    if len(received) == parts:
        content = zlib.decompress(b"".join(_partial.pop(str(target))))
        if hashlib.sha256(content).hexdigest() != digest:
            raise Refused("bad-parameter", f"{target} arrived damaged", "data")
        put(target, content)
    return {}


def put(target: Path, content: bytes) -> None:
    """Write a program that is seen whole or not at all, whoever writes it at the same time, on whichever node."""
    try:
        make_folder(target.parent)
        replace(target, content, 0o700)
    except OSError as error:
        raise Refused("limit", f"{target} can't be written: {error.strerror}") from error
