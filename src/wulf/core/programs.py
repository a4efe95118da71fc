"""Where the built native programs are, and what set-up unpacked beside them."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from .errors import UsageError

PLOTLY = "plotly-cartesian.min.js"
"""The bundle of plotly.js with lines, bars and heat maps."""


def unpacked(root: Path, name: str) -> Path | None:
    """A file of what set-up unpacked into the clone at `root` (packages.toml); None where it is not there."""
    return max((root / "build/sysroot/usr/src").glob(f"*/{name}"), default=None)


def programs_dir() -> Path:
    """Where the built programs are: ``<arch>/<name>``. The environment's WULF_PROGRAMS comes before the package's."""
    given = os.environ.get("WULF_PROGRAMS")
    return Path(given) if given else Path(__file__).parent.parent / "programs"


def program_path(name: str, arch: str | None = None) -> Path:
    """The file of the program `name` for `arch` (as ``uname -m`` prints it; None: this machine's).

    Raises
    ------
    UsageError
        It has not been built.
    """
    arch = arch or platform.machine()
    path = programs_dir() / arch / name
    if not path.is_file():
        raise UsageError(
            f"{path} is missing: {name} has not been built for {arch}",
            "run `make build`; or set WULF_PROGRAMS to a directory that has <arch>/" + name,
        )
    return path
