"""Wheels for another Python and another architecture than this machine's: fetched, and unpacked, by pip."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from provision.environment import NO_PIP
from provision.places import Places
from provision.runner import Runner, SetupError, must

OLDEST_GLIBC, NEWEST_GLIBC = 17, 28
"""Of the wheels that are taken, 2.x: what RHEL 8 and Debian 10 have, and all that are newer can load."""
IN_2020 = 1580601600


def wulf_wheel(places: Places) -> Path:
    """The wheel that `make wheel` made."""
    found = sorted((places.repo / "dist").glob("wulf-*.whl"))
    if len(found) != 1:
        raise SetupError(f"dist has {len(found)} wheels of wulf, and one is wanted", "run `make wheel`")
    return found[0]


def version(wheel: Path) -> str:
    return wheel.name.split("-")[1]


def epoch() -> int:
    """The time that files in packages get, by the convention of reproducible builds; else that of files in wheels."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or IN_2020)


def tags(python: str, arch: str) -> list[str]:
    """Options by which pip takes wheels for a Python and an architecture, whatever it runs on itself."""
    platforms = [f"manylinux_2_{minor}_{arch}" for minor in range(NEWEST_GLIBC, OLDEST_GLIBC - 1, -1)]
    platforms += [f"manylinux2014_{arch}"]  # what 2.17 was called
    return ["--only-binary", ":all:", "--python-version", python, *(w for p in platforms for w in ("--platform", p))]


def fetch(runner: Runner, places: Places, wanted: Sequence[str], python: str, arch: str, folder: Path) -> list[Path]:
    """Fetch wheels and those of all they depend on, of the versions in packaging/pinned.txt; a wheel's name each."""
    pins = places.repo / "packaging/pinned.txt"
    words = [*pip(places), "download", "-q", "-d", str(folder), "-c", str(pins), *tags(python, arch), *wanted]
    runner.say(f"fetching what wulf depends on, for Python {python} on {arch}")
    must(runner, words, NO_PIP)
    return sorted(folder.glob("*.whl"))


def unpack(runner: Runner, places: Places, wheels: Sequence[Path], python: str, arch: str, folder: Path) -> None:
    """Install wheels into a folder for modules, without programs, tests of theirs, or anything compiled."""
    words = [*pip(places), "install", "-q", "--root-user-action=ignore", "--no-deps", "--no-index", "--no-compile"]
    must(runner, [*words, *tags(python, arch), "--target", str(folder), *map(str, wheels)], NO_PIP)
    shutil.rmtree(folder / "bin", ignore_errors=True)
    for tests in [path for name in ("numpy", "scipy") for path in (folder / name).rglob("tests")]:
        shutil.rmtree(tests)


def pip(places: Places) -> list[str]:
    return [str(places.python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
