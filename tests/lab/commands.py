"""wulf's commands as a user runs them over a lab, of which nothing may stay behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from wulf.lab import state

WULF = [sys.executable, "-m", "wulf.cli.main"]

HANG = 120.0
"""Seconds that only a hang lasts, on however busy a machine."""


def wulf(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WULF, *words], capture_output=True, text=True, timeout=240, check=False, **more)


def marked(mark: str) -> list[str]:
    """Command lines of the processes that have the mark in their environment: what a test started, however it was
    orphaned; and the labs made for one command whose maker is gone (they start with an environment of their own).
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"WULF_TEST_MARK={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    makers = {name: Path("/proc", name.split("-")[1]) for name, _ in state.processes() if name.startswith("tmp-")}
    return found + [f"lab {name}" for name, maker in makers.items() if not maker.exists()]


def left(mark: str, seconds: float = 10.0) -> list[str]:
    """What of it does not go away."""
    deadline = time.monotonic() + seconds
    while (found := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def start(*words: str, out: Path, **more: Any) -> subprocess.Popen[bytes]:
    """Start a measuring command, and wait until it measures."""
    process = subprocess.Popen(
        [*WULF, *words, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )
    replicates = out / "replicates.jsonl"
    deadline = time.monotonic() + HANG
    while time.monotonic() < deadline and process.poll() is None:
        if replicates.exists() and replicates.read_bytes().count(b"\n") > 20:
            return process
        time.sleep(0.05)
    process.kill()
    pytest.fail(f"did not get to measuring: {process.communicate()[1]!r}")
