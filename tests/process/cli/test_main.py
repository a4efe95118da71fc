"""What a command ends with where it can say nothing, or stands nowhere: never 1, which would be a finding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WULF = (sys.executable, "-m", "wulf.cli.main")


def ended(redirected: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """How a command ends whose streams a shell has redirected."""
    script = f"mkdir -p here && cd here && {redirected}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(folder)}
    return subprocess.run(
        ["sh", "-c", script, "sh", *WULF, *words],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("redirected", "words", "code", "said"),
    [
        ('exec "$@" 2>/dev/full', ("survey", "--nodes", "["), 2, ""),
        (
            'exec "$@"',
            ("cost", "--price", "1e308", "--gflops", "1e-308", "--years", "1e308", "--json"),
            2,
            "beyond all",
        ),
        ('exec "$@" 2>&-', ("survey", "--nodes", "["), 2, ""),
        ('exec "$@" >/dev/full', ("networks", "list"), 3, "what this command says can't be written: No space left"),
        ('exec "$@" >/dev/full', ("schema",), 3, "what this command says can't be written: No space left"),
        ('exec "$@" >/dev/full 2>&1', ("schema",), 3, ""),
        (
            'rmdir ../here; exec "$@"',
            ("survey", "--nodes", "a.invalid"),
            2,
            "the folder that wulf was started in is gone",
        ),
    ],
)
def test_it_ends_as_documented(tmp_path: Path, redirected: str, words: tuple[str, ...], code: int, said: str) -> None:
    done = ended(redirected, *words, folder=tmp_path)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
