"""Where the nodes come from with --launcher slurm, what --sbatch submits, and how a run is resumed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.unit.cli.test_slurm import outside as outside
from tests.unit.cli.test_slurm import sbatch as sbatch
from tests.unit.cli.test_slurm import submit


def test_what_is_submitted(sbatch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    done = submit(monkeypatch, run, "--slurm-option", "partition=short")
    assert done.exit_code == 0, done.exception
    assert f"job 42 has been submitted; its run: {run}" in done.output
    assert sbatch.read_text() == f"--parsable {run / 'job.sh'}\n"
    lines = (run / "job.sh").read_text().splitlines()
    assert "#SBATCH --partition=short" in lines
    measure = "survey --launcher slurm --nodes 'n[1-2]' --quick --out \"$run\""
    assert lines[-1] == f"exec {sys.executable} -m wulf.cli.main {measure}"


def test_an_array_is_submitted_once(sbatch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = submit(monkeypatch, tmp_path / "run", "--array", "3")
    assert "3 runs, one after the other, in" in done.output
    text = (tmp_path / "run" / "job.sh").read_text()
    assert "#SBATCH --array=1-3%1" in text
    assert "--array 3" not in text


def test_what_slurm_does_not_take(sbatch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = submit(monkeypatch, tmp_path / "run", "--slurm-option", "account=refuse")
    assert "Slurm did not take the job: no" in str(done.exception)
