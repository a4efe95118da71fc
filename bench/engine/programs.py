"""Programs as one starts them: to their end, with whatever they started; and those that a file names."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.engine.errors import BenchError


def output(words: Sequence[str], seconds: float, folder: Path | None = None) -> str:
    """What a program prints on both streams.

    lmbench's programs measure in children, which would go on beside all that is measured later.

    Raises
    ------
    BenchError
        It failed, or took longer than so many seconds.
    """
    child = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
        process_group=0,
    )  # fmt: skip
    try:
        printed = child.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{' '.join(words)} did not end within {seconds:g} s") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    if child.returncode != 0:
        raise BenchError(f"{' '.join(words)} ended with {child.returncode}: {printed[-300:]}")
    return printed


def listed(file: Path) -> dict[str, Mapping[str, Any]]:
    """The tables `programs.NAME` of a TOML file, each with its `argv`. BenchError where it has none."""
    try:
        found: dict[str, Mapping[str, Any]] = tomllib.loads(file.read_text())["programs"]
    except (KeyError, tomllib.TOMLDecodeError) as error:
        raise BenchError(f"{file} has no tables programs.NAME: {error}") from error
    if lacking := [name for name, program in found.items() if "argv" not in program]:
        raise BenchError(f"{file}: {', '.join(lacking)}: there is no argv")
    return found


def picked(names: Sequence[str], known: Collection[str]) -> list[str]:
    """Those asked for, or all. BenchError where one of them is not known."""
    if unknown := [name for name in names if name not in known]:
        raise BenchError(f"there is no program {', '.join(unknown)}: there are {', '.join(known)}")
    return list(names or known)
