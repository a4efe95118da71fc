"""Where tests keep what takes long to build: in the clone, for the next run, and not in the home of who runs them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "build/tests-cache"
"""Stands in place of ~/.cache for the tests and the commands that they run (tests/conftest.py)."""


@contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Let one process of all that test this clone build the thing of this name; the others wait, and find it built."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def use() -> None:
    os.environ["XDG_CACHE_HOME"] = str(CACHE)
