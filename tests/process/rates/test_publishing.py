"""What is published is merged with what holds still, and the file is whole at every moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import wulf.rates


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace;"
        "from tests.unit.rates.making import SIZE, written;"
        "[written(Path(sys.argv[1]), replace(SIZE, name=f'a.{sys.argv[2]}.{i}')) for i in range(10)]"
    )
    path = tmp_path / "rates.json"
    running = [subprocess.Popen([sys.executable, "-c", code, path, str(i)]) for i in range(3)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    assert len(wulf.rates.load(path)) == 30
