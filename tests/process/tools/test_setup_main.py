"""A target's steps as a whole: all of them once, none of them twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.wording import lacking


def test_an_old_python_gets_advice_and_no_traceback(repo: Path, tmp_path: Path) -> None:
    code = (
        "import runpy, sys; sys.version_info = (3, 9, 18, 'final', 0); sys.argv = ['tools/setup.py', 'demo'];"
        f"runpy.run_path({str(repo / 'tools/setup.py')!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert lacking(done.stderr.splitlines()[0], "Python 3.11 or newer", "python3 here is 3.9") == []
    assert "dnf install python3.11" in done.stderr
