"""What an application's ranks left of their profile on this node, and whether one can be taken of it at all."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from wulf.agent.mpi.find import PATIENCE
from wulf.agent.session import Refused

_MPI = re.compile(r"\s*libmpi(?:ch)?\.so\S* => (/\S+)")
"""A line of ldd."""


def profile_read(folder: Any) -> dict[str, Any]:
    """{"op": "profile_read", "folder": …}: the profiles there, by rank; those that can't be read are named."""
    found: list[Any] = []
    torn: list[Any] = []
    for path in sorted(Path(str(folder)).glob("rank-*.json")):
        profile = _parsed(path)
        (torn if isinstance(profile, str) else found).append(profile)
    return {"profiles": found, "torn": torn}


def _parsed(path: Path) -> Any:
    """The profile; or, as a text, why it can't be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"{path.name}: {error}"


def profile_fits(program: Any, library: Any) -> dict[str, Any]:
    """{"op": "profile_fits", "program": "xhpl", "library": …}: a program's MPI, and why it can't be counted.

    The library must come with the same MPI: with another one's handles the program would end. Of a script, which may
    load an MPI later, nothing is known: "linked" is null, and there is no trouble.
    """
    path = shutil.which(str(program))
    if path is None:
        raise Refused("bad-parameter", f"{program} is not on this node", "program")
    wanted, used = mpi_of(str(library)), mpi_of(path)
    if not used or used & wanted:
        return {"linked": min(used, default=None), "trouble": None}
    return {"linked": min(used), "trouble": f"{path} uses {', '.join(sorted(used))}, the profile {', '.join(wanted)}"}


def mpi_of(path: str) -> set[str]:
    """The real paths of the MPI library that a file is linked with."""
    try:
        done = subprocess.run(
            ["ldd", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return set()
    rows = (_MPI.match(line) for line in done.stdout.decode(errors="replace").splitlines())
    return {str(Path(row[1]).resolve()) for row in rows if row}
