"""Where the nodes come from with --launcher slurm, what --sbatch submits, and how a run is resumed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from wulf.cli import options
from wulf.cli.main import cli
from wulf.cli.options import inventory_of, node_options, terminable
from wulf.cli.slurm import WULF, without
from wulf.cluster.slurm import allocation
from wulf.cluster.slurm.jobs import SlurmJob
from wulf.core.errors import UsageError
from wulf.store.run import RunWriter, read_run

SBATCH = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
grep -q refuse "$2" && { echo "sbatch: error: no" >&2; exit 1; }
echo "42;lab"
"""


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "SLURM_JOB_NODELIST"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sbatch that takes every script but one with `refuse` in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sbatch").write_text(SBATCH)
    (folder / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / "asked"


@click.command()
@node_options
def where(**options: Any) -> None:
    """Prints the inventory that the options add up to."""
    with inventory_of(**options) as inventory:
        found = {"names": inventory.names, "launcher": inventory.launcher, "job": inventory.job}
        click.echo(json.dumps(found))


def ask(*words: str) -> Result:
    return CliRunner().invoke(where, words)


def test_within_a_job_its_nodes_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-3]")
    whole = {"names": ["n1", "n2", "n3"], "launcher": "slurm", "job": "7"}
    assert json.loads(ask("--launcher", "slurm").output) == whole
    assert json.loads(ask("--launcher", "slurm", "--nodes", "n[2-3]").output)["names"] == ["n2", "n3"]
    assert isinstance(ask("--launcher", "slurm", "--nodes", "n9").exception, UsageError)


def test_outside_a_job_one_is_held(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    @contextmanager
    def hold(nodes: str, options: dict[str, str], say: object) -> Iterator[SlurmJob]:
        asked.append((nodes, options))
        yield SlurmJob("8", ("n1", "n2"))

    monkeypatch.setattr(allocation, "allocation", hold)
    found = json.loads(ask("--launcher", "slurm", "--nodes", "2", "--slurm-option", "time=5").output)
    assert (found["names"], found["job"]) == (["n1", "n2"], "8")
    file = tmp_path / "cluster.toml"
    file.write_text('nodes = "n[1-2]"\nlauncher = "slurm"\n[slurm]\npartition = "main"\ntime = 30\nspread-job = true\n')
    assert json.loads(ask("--inventory", str(file), "--slurm-option", "time=5").output)["job"] == "8"
    assert asked == [("2", {"time": "5"}), ("n1,n2", {"partition": "main", "time": "5", "spread-job": ""})]


def test_outside_a_job_the_nodes_must_be_named() -> None:
    assert "needs to know for which nodes" in str(ask("--launcher", "slurm").exception)


def submit(monkeypatch: pytest.MonkeyPatch, run: Path, *words: str) -> Result:
    argv = ["survey", "--launcher", "slurm", "--nodes", "n[1-2]", "--quick", "--sbatch", f"--out={run}", *words]
    monkeypatch.setattr(sys, "argv", ["wulf", *argv])
    return CliRunner().invoke(cli, argv)


def test_a_run_is_not_submitted_over_another(sbatch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.json").touch()
    assert "already holds a run" in str(submit(monkeypatch, tmp_path).exception)
    assert not sbatch.exists()


@pytest.mark.parametrize(
    ("argv", "left"),
    [
        (["--out", "x", "a"], ["a"]),
        (["a", "--out=x", "--sbatch"], ["a"]),
        (["--slurm-option", "time=5", "--slurm-option=qos=x", "--quick"], ["--quick"]),
        (["--outer", "x"], ["--outer", "x"]),
    ],
)
def test_options_taken_out_of_a_command_line(argv: list[str], left: list[str]) -> None:
    assert without(argv, ["--sbatch"], ("--slurm-option", "--out")) == left


def written(path: Path, state: str, **meta: Any) -> Path:
    with RunWriter(path, "survey", {"seed": 5, **meta}) as writer:
        writer.finish(state, exit_code=1)
    return path


def test_resume_says_the_command_again_where_it_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    run = written(tmp_path / "run", "interrupted", argv=["survey", "--out", "run", "--quick"], cwd=str(tmp_path))
    inner = cli.main

    def main(args: list[str], **more: Any) -> int:
        if args[0] == "resume":
            return int(inner(args, **more) or 0)
        said.append((args, Path.cwd()))
        return 130

    monkeypatch.setattr(cli, "main", main)
    assert cli.main(["resume", str(run)], standalone_mode=False) == 130
    assert said == [(["survey", "--quick", "--resume", str(run)], tmp_path)]


def test_what_is_complete_is_left_alone(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "complete", argv=["survey"])
    before = (run / "run.json").read_text()
    done = CliRunner().invoke(cli, ["resume", str(run)], standalone_mode=False)
    assert done.return_value == 1
    assert "is complete" in done.output
    assert (run / "run.json").read_text() == before


def test_a_run_of_a_command_that_can_not_be_resumed(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["resume", str(written(tmp_path / "run", "interrupted", argv=["demo"]))])
    assert "can't be resumed: it is of `wulf survey`" in str(done.exception)


def test_a_resumed_run_keeps_its_seed(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "interrupted")

    @click.command()
    @options.measure_options
    def measure(out: Path | None, seed: int | None, **_: Any) -> None:
        with options.measuring("survey", out, seed) as (writer, drawn, _line):
            click.echo(f"{writer.path} {drawn}")

    assert CliRunner().invoke(measure, ["--resume", str(run)]).output.split() == [str(run), "5"]
    CliRunner().invoke(measure, ["--out", str(tmp_path / "new")])
    assert read_run(tmp_path / "new").meta["cwd"] == str(Path.cwd())


def test_sigterm_interrupts_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), terminable():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)  # while what was measured is written down
    assert signal.getsignal(signal.SIGTERM) == before


def test_the_job_runs_this_python() -> None:
    assert WULF[0] == sys.executable
