"""Slurm's words: jobs, options, scripts, and what srun says when it fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

from wulf.cluster.slurm import jobs as slurm


def carried_out(text: str, **environ: str) -> str:
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True, env=environ).stdout


def test_the_script_in_a_directory_with_a_space(tmp_path: Path) -> None:
    run = tmp_path / "my run's"
    run.mkdir()
    text = slurm.batch_script([], run, ["echo", "begins"], ["echo", "resumes"])
    assert carried_out(text) == f"begins {run}\n"
    (run / "run.json").touch()
    assert carried_out(text) == f"resumes {run}\n"


def test_the_tasks_of_an_array_have_a_run_each(tmp_path: Path) -> None:
    text = slurm.batch_script([], tmp_path, ["echo", "begins"], ["echo", "resumes"], tasks=3)
    assert "#SBATCH --array=1-3%1\n" in text
    assert f"#SBATCH --output={tmp_path}/job-%a.log\n" in text
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "run.json").touch()
    assert carried_out(text, SLURM_ARRAY_TASK_ID="1") == f"begins {tmp_path}/1\n"
    assert carried_out(text, SLURM_ARRAY_TASK_ID="2") == f"resumes {tmp_path}/2\n"
