"""`wulf report --site` as it is typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.sentry.making import made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose user has a sentry's state where it is looked for."""
    folder = tmp_path_factory.mktemp("home")
    state = folder / "wulf" / "sentry.db"
    state.parent.mkdir()
    made(state, nodes=50, days=61, every=5, end=time.time())
    return {**os.environ, "XDG_STATE_HOME": str(folder)}


def report(home: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wulf.cli.main", "report", *words]
    return subprocess.run(command, env=home, capture_output=True, text=True, check=False, timeout=120)


def test_the_users_own_state_is_shown_with_its_page_beside_it(home: dict[str, str]) -> None:
    done = report(home, "--site", "--days", "60")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("48 of 50 nodes as they were; ")
    page = Path(home["XDG_STATE_HOME"]) / "wulf" / "site.html"
    assert done.stdout.endswith(f"page: {page}\n")
    assert page.read_text().startswith("<!doctype html>")


def test_it_is_one_json_object(home: dict[str, str], tmp_path: Path) -> None:
    done = report(home, "--site", "--json", "--html", str(tmp_path / "page.html"))
    assert done.returncode == 0
    read = json.loads(done.stdout)
    assert (read["nodes"], read["as_they_were"], read["days"]) == (50, 48, 120)
    assert {one["node"] for one in read["open"]} == {"n17", "n42", "@epyc-9654"}
    assert (tmp_path / "page.html").is_file()
