"""`wulf config` as a program, and what it tells of two files and the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WULF = (sys.executable, "-m", "wulf.cli.main")


def wulf(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("WULF_", "XDG_"))}
    return subprocess.run(
        [*WULF, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
        env={**environ, "HOME": str(home), **more},
    )


def test_it_is_begun_with_an_example_that_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / ".config/wulf/config.toml"
    done = wulf(tmp_path, "config", "init")
    assert (done.returncode, done.stdout) == (0, f"begun: {path}\n")
    assert wulf(tmp_path, "config", "init").returncode == 2
    done = wulf(tmp_path, "config", "show", "--json")
    assert json.loads(done.stdout)["settings"] == []
    example = "\n".join(line.removeprefix("# ") for line in path.read_text().splitlines()[3:])
    path.write_text(example)
    done = wulf(tmp_path, "config", COLUMNS="200")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "net.stream.seconds" in done.stdout
    assert "6 settings are configured" in done.stdout
    assert f"\n{path}\n" in done.stdout
    assert "/etc/wulf/config.toml\n  not there" in done.stdout


def test_runs_go_where_it_says_unless_the_environment_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('runs = "kept"\n')
    by_file = wulf(tmp_path, "runs", WULF_CONFIG=str(path)).stdout.replace("\n", " ")
    assert f"no runs under {tmp_path / 'kept'};" in by_file
    by_variable = wulf(tmp_path, "runs", WULF_CONFIG=str(path), WULF_RUNS="other").stdout.replace("\n", " ")
    assert "no runs under other;" in by_variable


def test_a_key_that_no_command_takes_is_told_by_show_and_a_file_that_is_no_toml_by_all(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('widht = "3%"\n')
    done = wulf(tmp_path, "config", "show", WULF_CONFIG=str(path))
    assert done.returncode == 1
    assert "widht" in done.stdout
    path.write_text("width = ")
    done = wulf(tmp_path, "runs", WULF_CONFIG=str(path))
    assert done.returncode == 2
    assert f"{path}: can't read the configuration: it is no TOML" in done.stderr
    assert "Traceback" not in done.stderr
