"""`wulf doctor` on the machine that the tests run on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def doctor(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wulf.cli.main", "doctor", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def test_what_was_built_here_is_whole() -> None:
    done = doctor("--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["whole"] is True
    assert all(one["able"] or one["lacks"] for one in found["abilities"])


def test_without_its_programs_it_says_what_to_do(tmp_path: Path) -> None:
    done = doctor(WULF_PROGRAMS=str(tmp_path), COLUMNS="80")
    assert done.returncode == 1
    assert "is not whole" in done.stdout
    assert "has not been built" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
