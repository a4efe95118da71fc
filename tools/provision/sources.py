"""Libraries that are compiled in with the probes: their source distributions, from the package index.

They are read, never run: pip would first ask a source distribution's own set-up for its metadata.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from provision import index
from provision.index import Choose, File
from provision.packages import Need
from provision.places import Places
from provision.runner import Runner, SetupError

Fetch = Callable[[str, Choose], tuple[File, bytes]]


def unpack(runner: Runner, places: Places, needs: Iterable[Need], fetch: Fetch = index.fetch) -> None:
    """Unpack the needs' source distributions into the sysroot's usr/src, each into a folder with its version."""
    for need in needs:
        if need.sdist is None:
            continue
        runner.say(f"fetching {need.name}'s sources from the package index")
        file, content = fetch(need.sdist.rpartition("-")[0], partial(named, need.sdist))
        if hashlib.sha256(content).hexdigest() != need.sha256:
            raise SetupError(
                f"{file.name} is not the file whose digest packages.toml has (sha256)",
                "is a mirror or proxy in between that changes files?",
            )
        _extract(content, need.sdist, places.sysroot / "usr/src")


def named(name: str, files: Sequence[File], page: str) -> File:
    """Choose the source distribution NAME.tar.gz, of those that a page lists."""
    for file in files:
        if file.name == f"{name}.tar.gz":
            return file
    raise SetupError(f"{page} lists no {name}.tar.gz", index.CHECK_INDEX)


def _extract(content: bytes, name: str, folder: Path) -> None:
    """Unpack an archive whose only folder is `name`; what is there under that name is whole."""
    part = folder / f"{name}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for member in archive:
            if member.isfile() and (source := archive.extractfile(member)):  # filters are newer than Python 3.11.2
                target = part / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read())
    shutil.rmtree(folder / name, ignore_errors=True)
    (part / name).rename(folder / name)
    part.rmdir()
