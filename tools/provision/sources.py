"""Libraries that are compiled in with the probes, or put into pages: archives of the package index and of npm.

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

NPM_FOLDER = "package"
"""The one folder of every archive of npm's registry."""

Fetch = Callable[[str, Choose], tuple[File, bytes]]
FetchNpm = Callable[[str, str], bytes]


def unpack(
    runner: Runner,
    places: Places,
    needs: Iterable[Need],
    fetch: Fetch = index.fetch,
    fetch_npm: FetchNpm = index.fetch_npm,
) -> None:
    """Unpack the needs' archives into the sysroot's usr/src, each into a folder with its version."""
    for need in needs:
        if need.sdist is not None:
            runner.say(f"fetching {need.name}'s sources from the package index")
            _, content = fetch(need.sdist.rpartition("-")[0], partial(named, need.sdist))
            _extract(_checked(content, need), need.sdist, need.sdist, places.sysroot / "usr/src")
        if need.npm is not None:
            runner.say(f"fetching {need.name} from npm's registry")
            name, _, version = need.npm.rpartition("-")
            _extract(_checked(fetch_npm(name, version), need), NPM_FOLDER, need.npm, places.sysroot / "usr/src")


def _checked(content: bytes, need: Need) -> bytes:
    if hashlib.sha256(content).hexdigest() != need.sha256:
        raise SetupError(
            f"the archive of {need.name} is not the one whose digest packages.toml has (sha256)",
            "is a mirror or proxy in between that changes files?",
        )
    return content


def named(name: str, files: Sequence[File], page: str) -> File:
    """Choose the source distribution NAME.tar.gz, of those that a page lists."""
    for file in files:
        if file.name == f"{name}.tar.gz":
            return file
    raise SetupError(f"{page} lists no {name}.tar.gz", index.CHECK_INDEX)


def _extract(content: bytes, only: str, name: str, folder: Path) -> None:
    """Unpack an archive with one folder, `only`, as `name`; what is there under that name is whole."""
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
    (part / only).rename(folder / name)
    part.rmdir()
