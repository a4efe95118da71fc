"""What Prometheus gets, and that nobody gets anything else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.unit.rates.test_exposition import file as file
from tests.unit.scrape.test_serving import ask


def test_it_ends_with_its_stdin(file: Path) -> None:
    command = [sys.executable, "-m", "wulf.cli.main", "rates", "serve", "--listen", ":0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics\n", process.stderr.readline())
        assert found is not None
        assert ask(int(found[1]), "/metrics")[0] == 200
        process.stdin.close()
        assert process.wait(timeout=60) == 0
