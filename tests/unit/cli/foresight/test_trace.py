"""`wulf trace` as a person types it, and what it prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.unit.trace.making import made, pingpong, send
from wulf.cli.main import cli
from wulf.core.errors import UsageError
from wulf.trace.record import Record
from wulf.workflow.engine.done import Done
from wulf.workflow.trace import run as workflow


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the workflow was asked; nothing is started."""
    seen: dict[str, Any] = {}

    def done(writer: Any) -> Done:
        return Done({"run": writer.id}, writer.path, 0)

    def here(request: Any, writer: Any, **_: Any) -> Done:
        seen.update(here=request)
        return done(writer)

    def nodes(inventory: Any, application: Any, writer: Any, *, sites: bool, **_: Any) -> Done:
        seen.update(nodes=inventory.names, application=application, sites=sites)
        return done(writer)

    monkeypatch.setattr(workflow, "trace_here", here)
    monkeypatch.setattr(workflow, "trace_nodes", nodes)
    return seen


def wulf(*words: str) -> Any:
    return CliRunner().invoke(cli, ["trace", *words], standalone_mode=False)


def test_a_command_of_this_machine(asked: dict[str, Any], tmp_path: Path) -> None:
    done = wulf(
        "--json", "--out", str(tmp_path / "r"), "--env", "A=1", "--mpi", "mpich", "--", "mpirun", "-n", "4", "./a"
    )
    assert done.exception is None, done.exception
    here = asked["here"]
    assert (here.words, here.mpi, here.environment, here.quiet) == (
        ("mpirun", "-n", "4", "./a"),
        "mpich",
        {"A": "1"},
        True,
    )
    assert here.network, "measured unless it is not wanted"


def test_the_network_is_left_alone_where_that_is_asked(asked: dict[str, Any], tmp_path: Path) -> None:
    done = wulf("--json", "--no-network", "--out", str(tmp_path / "r"), "--", "mpirun", "-n", "4", "./a")
    assert done.exception is None, done.exception
    assert not asked["here"].network


def test_a_program_over_nodes(asked: dict[str, Any], tmp_path: Path) -> None:
    done = wulf("n[1-4]", "--ranks", "8", "--sites", "--json", "--out", str(tmp_path / "r"), "--", "./a", "in")
    assert done.exception is None, done.exception
    job = asked["application"].job("", 8)
    assert asked["nodes"] == ("n1", "n2", "n3", "n4") and asked["sites"]
    assert job.command == ("./a", "in") and job.mpi and asked["application"].spec.per_node == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [(["n1"], "no program is given"), (["--chdir", "/tmp", "--", "./a"], "--chdir is for programs on nodes")],
)
def test_what_can_not_be_traced(asked: dict[str, Any], words: list[str], why: str) -> None:
    done = wulf(*words)
    assert isinstance(done.exception, UsageError) and why in str(done.exception)


def widths(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > 80]


def test_a_trace_is_shown_in_eighty_columns(tmp_path: Path) -> None:
    made(tmp_path / "trace", pingpong(rounds=10, size=1 << 20))
    done = wulf("show", str(tmp_path))
    assert done.exception is None and done.return_value == 0
    assert re.search(r"MPI_Send +20 +1 µs +18.2 % +20 MiB +1 MiB", done.output) and not widths(done.output)


def test_a_large_one_with_faults_too(tmp_path: Path) -> None:
    ranks = [[send((rank + 1) % 100, 2**30, gap=10**12, call=rank * 10**9) for _ in range(3)] for rank in range(100)]
    headers = {rank: {"host": f"a-host-with-a-rather-long-name-{rank}"} for rank in range(100)}
    made(tmp_path / "trace", ranks, headers)
    for rank in (3, 4, 5):
        (tmp_path / f"trace/rank-{rank:06d}.wtr").unlink()
    done = wulf("show", str(tmp_path))
    assert done.return_value == 1 and "! 3 of 100 ranks left no trace: 3-5" in done.output
    assert "most in MPI: 99" in done.output and "the largest 10 of 97 pairs" in done.output
    found = json.loads(wulf("show", str(tmp_path), "--json").stdout)
    assert found["missing"] == [3, 4, 5] and len(found["ranks"]) == 97


def test_export_says_where_and_what_is_not_there(tmp_path: Path) -> None:
    (path,) = (one.path for one in made(tmp_path / "trace", [[Record("Barrier")]]).ranks)
    path.write_bytes(path.read_bytes()[:-1])
    done = wulf("export", str(tmp_path), "--to", "perfetto", str(tmp_path / "p.json"))
    assert done.return_value == 0 and "note: rank 0" in done.stderr
    assert done.stdout.strip() == str(tmp_path / "p.json")


def test_import_of_a_schedule(tmp_path: Path) -> None:
    (tmp_path / "p.goal").write_text("num_ranks 1\nrank 0 {\ncalc 2000000000\n}\n")
    done = wulf("import", str(tmp_path / "p.goal"), "--from", "goal", "--out", str(tmp_path / "r"))
    assert done.exception is None, done.exception
    assert "goal: 1 rank" in done.output and "2 s" in done.output


def test_flops_are_for_traces_whose_computing_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 init\n0 compute 4e9\n0 finalize\n")
    command = ("import", str(tmp_path / "a.txt"), "--flops", "2e9", "--out", str(tmp_path / "r"), "--from")
    done = wulf(*command, "simgrid")
    assert done.exception is None, done.exception
    assert "simgrid: 1 rank" in done.output and "2 s" in done.output
    refused = wulf(*command, "goal").exception
    assert isinstance(refused, UsageError) and "--flops says nothing about goal" in str(refused)
