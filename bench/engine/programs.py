"""Peers as one starts them: a program to its end, and whatever it started ends with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

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
