"""Tracing over nodes and launchers in memory: words added, files fetched once, faults said, what is there kept."""

from __future__ import annotations

import base64
import json
import os
import shutil
import zlib
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.unit.trace.making import made, pingpong
from tests.wording import lacking
from wulf.apps.ran import OK, Ran
from wulf.cluster.mpi.installed import Installed
from wulf.core.errors import FOUND, UsageError, WulfError
from wulf.measure.engine.watcher import UNWATCHED
from wulf.store.run import RunWriter, read_run
from wulf.trace.errors import TraceError
from wulf.trace.manifest import read_manifest
from wulf.workflow.impact.run import Ready
from wulf.workflow.trace import files as trace_files
from wulf.workflow.trace import launch as trace_launch
from wulf.workflow.trace.files import export_trace, import_trace, show_trace, trace_at
from wulf.workflow.trace.nodes import Tracer
from wulf.workflow.trace.run import CommandEnd, _finished

OPENMPI = Installed("openmpi", "4.1.4", "/usr", "/usr/bin/mpicxx", "/usr/bin/mpirun.openmpi", "g++", "system")
MPICH = Installed("mpich", "4.0.2", "/usr", "/usr/bin/mpicxx", "/usr/bin/mpirun.mpich", "g++", "system")


@pytest.fixture
def launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH that has both MPIs' launchers, and nothing else."""
    there = {"mpirun", "mpirun.openmpi", "mpiexec.hydra"}
    monkeypatch.setattr(shutil, "which", lambda word: f"/usr/bin/{word}" if word in there else None)


def test_open_mpi_is_told_by_x_and_hydra_by_genv(launchers: None) -> None:
    folder = Path("/runs/r/trace")
    words, environment = trace_launch.traced_words(
        ["time", "mpirun.openmpi", "-n", "4", "./a"], OPENMPI, "/l.so", folder
    )
    own = ["-x", "LD_PRELOAD=/l.so", "-x", "WULF_TRACE_DIR=/runs/r/trace"]
    assert words == ["time", "mpirun.openmpi", *own, "-n", "4", "./a"] and environment == {}
    words, environment = trace_launch.traced_words(["mpiexec.hydra", "./a"], MPICH, "/l.so", folder, sites=True)
    own = ["-genv", "LD_PRELOAD", "/l.so", "-genv", "WULF_TRACE_DIR", str(folder), "-genv", "WULF_TRACE_SITES", "1"]
    assert words == ["mpiexec.hydra", *own, "./a"] and environment == {}


def test_each_of_several_programs_of_open_mpi_has_them(launchers: None) -> None:
    words, _ = trace_launch.traced_words(["mpirun", "-n", "1", "a", ":", "-n", "1", "b"], OPENMPI, "/l.so", Path("/t"))
    own = ["-x", "LD_PRELOAD=/l.so", "-x", "WULF_TRACE_DIR=/t"]
    assert words == ["mpirun", *own, "-n", "1", "a", ":", *own, "-n", "1", "b"]
    words, _ = trace_launch.traced_words(["mpiexec.hydra", "a", ":", "b"], MPICH, "/l.so", Path("/t"))
    assert words.count("-genv") == 2


def test_a_script_has_them_in_its_environment(launchers: None) -> None:
    words, environment = trace_launch.traced_words(["sh", "job.sh"], OPENMPI, "/l.so", Path("/t"))
    assert words == ["sh", "job.sh"]
    assert environment == {
        "LD_PRELOAD": "/l.so", "WULF_TRACE_DIR": "/t",
        "OMPI_MCA_mca_base_env_list": "LD_PRELOAD=/l.so;WULF_TRACE_DIR=/t",
    }  # fmt: skip


def test_a_launcher_belongs_to_the_mpi_beside_it() -> None:
    assert trace_launch._sibling(MPICH, "/usr/bin/mpiexec.mpich") and not trace_launch._sibling(
        MPICH, "/usr/bin/mpiexec"
    )
    assert not trace_launch._sibling(MPICH, "/opt/bin/mpiexec.mpich")


class FakeAgent:
    alive = True

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.asked: list[str] = []

    def request(self, op: str, _timeout: float, **fields: Any) -> dict[str, Any]:
        return self.call(op, **fields).result()

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        self.asked.append(op)
        future: Future[dict[str, Any]] = Future()
        answer: dict[str, Any] = {}
        if op == "app_folder":
            answer = {"folder": f"/jobs/{fields['name']}", "place": "/jobs"}
        elif op == "trace_look":
            answer = {"files": [{"name": name, "bytes": len(data)} for name, data in self.files.items()]}
        elif op == "trace_read":
            part = self.files[fields["name"]][fields["offset"] : fields["offset"] + 5]
            answer = {"data": base64.b64encode(zlib.compress(part)).decode()}
        future.set_result(answer)
        return future


def ready(run: Any) -> Ready:
    return Ready(run, "./app", "./app", OPENMPI, 2, "n[1-2]")


def test_ranks_files_are_fetched_once_and_the_nodes_left_clean(tmp_path: Path) -> None:
    """Both nodes see rank 1's file, of which n2, that writes it, has more."""
    agents = FakeAgent({"rank-000000.wtr": b"0123456789ab", "rank-000001.wtr": b"01"}), FakeAgent(
        {"rank-000001.wtr": b"abcdefg"})  # fmt: skip
    seen: list[Mapping[str, str]] = []

    def run(environment: Mapping[str, str]) -> Ran:
        seen.append(environment)
        return Ran(OK, "", (), seconds=2.0)

    tracer = Tracer({"n1": agents[0], "n2": agents[1]}, "/cache/lib.so")  # type: ignore[dict-item]
    tracer.run(ready(run), tmp_path, UNWATCHED)
    assert (tmp_path / "rank-000000.wtr").read_bytes() == b"0123456789ab"
    assert (tmp_path / "rank-000001.wtr").read_bytes() == b"abcdefg"
    assert seen[0]["LD_PRELOAD"] == "/cache/lib.so" and seen[0]["WULF_TRACE_DIR"].startswith("/jobs/trace-")
    assert agents[0].asked[-1] == agents[1].asked[-1] == "app_clear"
    assert agents[0].asked.count("trace_read") == 3 and agents[1].asked.count("trace_read") == 2


def test_a_node_that_goes_on_fills_no_disk(tmp_path: Path) -> None:
    class Endless(FakeAgent):
        def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
            return super().call(op, **{**fields, "offset": 0} if op == "trace_read" else fields)

    tracer = Tracer({"n1": Endless({"rank-000000.wtr": b"0123456789ab"})}, "/cache/lib.so")  # type: ignore[dict-item]
    tracer.run(ready(lambda _: Ran(OK, "", (), seconds=2.0)), tmp_path, UNWATCHED)
    assert (tmp_path / "rank-000000.wtr").read_bytes() == b"012340123401234"


def test_a_run_that_is_lost_leaves_no_folder(tmp_path: Path) -> None:
    agent = FakeAgent({})

    def lost(_: Mapping[str, str]) -> Ran:
        raise WulfError("n1 is lost")

    with pytest.raises(WulfError, match="lost"):
        Tracer({"n1": agent}, "/l.so").run(ready(lost), tmp_path, UNWATCHED)  # type: ignore[dict-item]
    assert agent.asked == ["app_folder", "app_clear"]


def finished(tmp_path: Path, told: CommandEnd, *, ranks: bool = True) -> tuple[Any, Path]:
    with RunWriter(tmp_path / "run", "trace") as writer:
        (writer.path / "trace").mkdir()
        if ranks:
            made(writer.path / "trace", pingpong())
        return _finished(writer, told, lambda: "it is statically linked", UNWATCHED), writer.path


def test_a_good_run_has_manifest_and_summary(tmp_path: Path) -> None:
    done, path = finished(tmp_path, CommandEnd(["./a", "b c"], 2.5, mpi="Open MPI 4.1.4"))
    assert done.exit_code == 0 and done.result["calls"]["Send"]["count"] == 4
    manifest = read_manifest(path / "trace")
    assert (manifest["command"], manifest["ranks"], manifest["mpi"], manifest["wall_seconds"]) == (
        ["./a", "b c"], 2, "MPI 1", 2.5)  # fmt: skip
    assert manifest["hosts"] == {"0": "n1", "1": "n1"} and manifest["missing"] == manifest["faults"] == []
    assert json.loads((path / "summary.json").read_text())["size"] == 2
    assert read_run(path).meta["state"] == "complete"
    assert show_trace(str(path))[1] == 0


def test_a_program_that_fails_keeps_its_trace_and_is_said(tmp_path: Path) -> None:
    done, path = finished(tmp_path, CommandEnd(["./a"], 1.0, "the command ended with status 3"))
    assert done.exit_code == FOUND and len(done.result["ranks"]) == 2
    result, code = show_trace(str(path))
    assert code == FOUND and [fault["text"] for fault in result["faults"]] == ["the command ended with status 3"]


def test_no_trace_at_all_says_why(tmp_path: Path) -> None:
    done, path = finished(tmp_path, CommandEnd(["./a"], 1.0), ranks=False)
    assert done.exit_code == FOUND and read_run(path).meta["state"] == "failed"
    assert lacking(done.result["faults"][0]["text"], "no rank left a trace", "statically linked") == []
    result, code = show_trace(str(path))
    assert code == FOUND and result["faults"] == done.result["faults"]


def test_traces_are_found_by_run_folder_and_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, path = finished(tmp_path, CommandEnd(["./a"], 1.0))
    assert trace_at(str(path)) == trace_at(str(path / "trace")) == path / "trace"
    monkeypatch.setenv("WULF_RUNS", str(tmp_path))
    assert trace_at("last") == path / "trace"
    with pytest.raises(UsageError):
        trace_at("nothing")


def test_an_export_needs_a_place(tmp_path: Path) -> None:
    _, path = finished(tmp_path, CommandEnd(["./a"], 1.0))
    for place, why in ((tmp_path, "is a folder"), (tmp_path / "no/p.goal", "there is no folder")):
        with pytest.raises(UsageError, match=why):
            export_trace(str(path), "goal", place)
    export_trace(str(path), "perfetto", tmp_path / "p.json")
    assert json.loads((tmp_path / "p.json").read_text())["traceEvents"]


def imported(tmp_path: Path, text: str) -> Any:
    (tmp_path / "p.goal").write_text(text)
    with RunWriter(tmp_path / "run", "trace") as writer:
        return import_trace([tmp_path / "p.goal"], "goal", writer)


def test_a_goal_schedule_is_a_run_that_can_be_shown_and_exported_as_itself(tmp_path: Path) -> None:
    text = "num_ranks 2\nrank 0 {\ncalc 5\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"
    done = imported(tmp_path, text)
    assert done.exit_code == 0 and done.result["goal"] == {
        "calc": 1, "send": 1, "recv": 1, "bytes": 8, "calculated_seconds": 5e-9}  # fmt: skip
    assert show_trace(str(done.path))[0]["kind"] == "goal"
    export_trace(str(done.path), "goal", tmp_path / "again.goal")
    assert (tmp_path / "again.goal").read_text() == text
    with pytest.raises(UsageError, match="no times"):
        export_trace(str(done.path), "perfetto", tmp_path / "p.json")


def test_a_file_that_is_not_there_or_wrong(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is no operation of GOAL"):
        imported(tmp_path, "num_ranks 1\nrank 0 {\nnonsense\n}\n")
    with RunWriter(tmp_path / "other", "trace") as writer, pytest.raises(UsageError, match="is not there"):
        import_trace([tmp_path / "none"], "goal", writer)
    assert trace_files.GOAL == "goal"


def test_a_pipe_is_no_file_of_a_trace_and_nobody_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    os.mkfifo(tmp_path / "traces" / "0.goal")
    for given in (tmp_path / "traces", tmp_path / "traces" / "0.goal"):
        with RunWriter(tmp_path / given.name, "trace") as writer, pytest.raises(UsageError, match="is no file"):
            import_trace([given], "goal", writer)
