"""A tar with wulf and all that it depends on, for a machine without a network, a compiler or pip."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from provision.places import Places
from provision.runner import Runner

from distribution import wheels

PIP = "pip"
"""Travels along: a Python of a distribution may come without, and a wheel of pip runs as it is."""


def bundle(runner: Runner, places: Places, python: str, arch: str) -> Path:
    """Make one for a Python and an architecture, in dist/; return it."""
    wheel = wheels.wulf_wheel(places)
    fetched = places.build / f"bundle/{python}-{arch}"
    for old in fetched.glob("*.whl"):
        old.unlink()
    found = wheels.fetch(runner, places, [str(wheel), PIP], python, arch, fetched)
    name = f"wulf-{wheels.version(wheel)}-offline-py{python}-{arch}"
    target = places.repo / "dist" / f"{name}.tar"
    runner.say(f"packing dist/{target.name}")
    script = (places.repo / "packaging/offline/install").read_text(encoding="utf-8").replace("@PYTHON@", python)
    files = {f"wheels/{path.name}": path.read_bytes() for path in found}
    files["install"] = script.encode()
    files["SHA256SUMS"] = sums(files).encode()
    target.write_bytes(packed(name, files, wheels.epoch()))
    return target


def sums(files: Mapping[str, bytes]) -> str:
    """As sha256sum(1) writes and checks them."""
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items()))


def packed(folder: str, files: Mapping[str, bytes], seconds: int) -> bytes:
    """A tar of files in one folder, which hangs on names, contents and the time given alone; wheels are compressed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), seconds, 0o755 if name == "install" else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()
