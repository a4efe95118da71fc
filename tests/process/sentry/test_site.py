"""`wulf report --site` as it is typed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.unit.sentry.making import made


def test_the_users_own_state_is_shown_with_its_page_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "wulf"
    folder.mkdir()
    made(folder / "sentry.db", nodes=50, days=61, every=5, end=time.time())
    own = {name: value for name, value in os.environ.items() if name != "STATE_DIRECTORY"}
    command = [sys.executable, "-m", "wulf.cli.main", "report", "--site", "--days", "60"]
    done = subprocess.run(
        command, env={**own, "XDG_STATE_HOME": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("48 of 50 nodes as they were; ")
    assert done.stdout.endswith(f"page: {folder / 'site.html'}\n")
    assert (folder / "site.html").read_text().startswith("<!doctype html>")
