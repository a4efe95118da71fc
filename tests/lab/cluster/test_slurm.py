"""wulf beside a real Slurm: munged, slurmctld, one slurmd a node; jobs that are preempted, cancelled, out of time."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import host_state, left_of, needs, skip_or_fail, slurm_of, traces
from tests.process.native.mpi_session import each_mpi
from tests.processes import wait_until
from wulf import lab as labs
from wulf.core.errors import LabError
from wulf.lab import state
from wulf.store.run import Run, read_run

pytestmark = pytest.mark.lab
WULF = [sys.executable, "-m", "wulf.cli.main"]
PING = ["net", "pingpong", "n1", "n2", "--launcher", "slurm", "--seconds", "0.05"]
LONG = ["net", "pingpong", "n1", "n2", "--launcher", "slurm", "--seconds", "4", "--width", "0.01%"]
"""24 replicates: longer than any of these jobs lasts."""
PATIENCE_S = 90.0


@pytest.fixture(scope="module")
def slurm(netns: None) -> Iterator[labs.Lab]:
    with slurm_of(3) as made:
        yield made


def inside(lab: labs.Lab, *words: str) -> list[str]:
    """A command on the lab's first node, which has Slurm's commands as any login node."""
    return [*WULF, "lab", "exec", "--name", lab.name, "n1", "--", *words]


def on(lab: labs.Lab, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        inside(lab, *words), capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, check=False
    )


def jobs(lab: labs.Lab) -> list[str]:
    return on(lab, "squeue", "--noheader", "--format=%i %T %P").stdout.splitlines()


def at_rest(lab: labs.Lab) -> bool:
    """No job, no step, no probe; every node idle again."""
    ours = [text for text in traces(lab.name) if "wulf-net" in text or "srun" in text or "salloc" in text]
    return not jobs(lab) and not ours and set((lab.slurm or {}).values()) == {"idle"}


def replicates(out: Path) -> int:
    path = out / "replicates.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def ended(out: Path, word: str) -> Callable[[], bool]:
    return lambda: (out / "run.json").exists() and json.loads((out / "run.json").read_text())["state"] == word


def blocks_once(run: Run) -> bool:
    measured = [(r["cell"], r["block"]) for r in run.replicates]
    return len(measured) == len(set(measured))


def test_up_status_and_the_scheduler_s_own_commands(slurm: labs.Lab) -> None:
    assert slurm.slurm == {"n1": "idle", "n2": "idle", "n3": "idle"}
    assert on(slurm, "sinfo", "--noheader", "--format=%P %l").stdout.split("\n")[:2] == ["main* infinite", "short 5:00"]
    assert sorted(on(slurm, "srun", "-N", "3", "hostname").stdout.split()) == ["n1", "n2", "n3"]
    shown = subprocess.run([*WULF, "lab", "status", "--name", slurm.name], capture_output=True, text=True, check=True)
    assert "Slurm: n[1-3] idle" in shown.stdout
    assert "srun -N 3 hostname" in shown.stdout


def test_outside_a_job_wulf_asks_for_one_and_gives_it_back(slurm: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = on(slurm, *WULF, "net", "pairs", "--launcher", "slurm", "--nodes", "n[2-3]", "--quick", "--out", str(out))
    assert done.returncode in (0, 1), done.stderr
    assert "has n2,n3" in done.stderr
    assert {node for record in read_run(out).records for node in record.nodes} == {"n2", "n3"}
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S), jobs(slurm)


@pytest.mark.full
def test_within_a_job_its_nodes_are_measured(slurm: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = [*WULF, "net", "pairs", "--launcher", "slurm", "--quick", "--out", str(out)]
    done = on(slurm, "salloc", "--nodelist=n1,n3", "--nodes=2", *words)
    assert done.returncode in (0, 1), done.stderr
    assert read_run(out).meta["nodes"] == ["n1", "n3"]
    other = on(slurm, "salloc", "--nodelist=n1", *words[:-1], str(tmp_path / "other"), "--nodes", "n[1-2]")
    assert other.returncode == 2
    assert "has n1, but not n2" in other.stderr


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes", "n[8-9]"], "Invalid node name"),
        (["--nodes", "n1", "--slurm-option", "partition=none"], "invalid partition"),
        (["--nodes", "n1", "--slurm-option", "nodelist=n2"], "wulf decides"),
        ([], "give --nodes"),
    ],
)
def test_what_slurm_refuses_is_told(slurm: labs.Lab, words: list[str], said: str, tmp_path: Path) -> None:
    for more in ([], ["--sbatch"]):
        done = on(slurm, *WULF, "survey", "--launcher", "slurm", "--out", str(tmp_path / "run"), *words, *more)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr + done.stdout.replace("\n", " ")
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.full
def test_an_interrupt_in_the_queue_withdraws_the_request(slurm: labs.Lab, tmp_path: Path) -> None:
    with subprocess.Popen(
        inside(slurm, "srun", "-N3", "--exclusive", "sleep", "60"), stderr=subprocess.DEVNULL
    ) as busy:
        assert wait_until(lambda: any("RUNNING" in job for job in jobs(slurm)), PATIENCE_S)
        said = tmp_path / "said"
        script = f'echo $$ > {tmp_path}/pid; exec "$@" 2>{said}'
        with subprocess.Popen(inside(slurm, "sh", "-c", script, "sh", *WULF, *PING)) as waiting:
            assert wait_until(lambda: said.exists() and "its nodes are busy" in said.read_text(), PATIENCE_S)
            assert len(jobs(slurm)) == 2
            on(slurm, "kill", "-INT", (tmp_path / "pid").read_text().strip())
            assert waiting.wait(PATIENCE_S) == 130, said.read_text()
        assert len(jobs(slurm)) == 1
        on(slurm, "scancel", "--user=root")
        busy.wait(PATIENCE_S)
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S)


def test_kill_9_ends_the_job(slurm: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    script = f'"$@" & wulf=$!; while [ ! -s {out}/replicates.jsonl ]; do sleep .1; done; kill -9 $wulf'
    with subprocess.Popen(inside(slurm, "sh", "-c", script, "sh", *WULF, *LONG, "--out", str(out))):
        assert wait_until(lambda: replicates(out) > 0, PATIENCE_S)
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S), jobs(slurm)
    assert replicates(out) > 0


@pytest.mark.full
def test_a_cancelled_job_leaves_nothing_and_its_run_says_why(slurm: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with subprocess.Popen(inside(slurm, *WULF, *LONG, "--out", str(out)), stderr=subprocess.DEVNULL) as process:
        assert wait_until(lambda: replicates(out) > 0, PATIENCE_S)
        on(slurm, "scancel", "--user=root")
        assert process.wait(PATIENCE_S) == 3
    assert any("was cancelled" in (record.reason or "") for record in read_run(out).records)
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S)


@pytest.mark.full
def test_a_submitted_job_that_is_preempted_goes_on_by_itself(slurm: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["survey", "--launcher", "slurm", "--nodes", "n[1-2]", "--quick", "--sbatch", "--out", str(out)]
    done = on(slurm, *WULF, *words, "--slurm-option", "partition=short")
    assert done.returncode == 0, done.stderr
    assert f"its run: {out}" in done.stdout
    assert wait_until(lambda: replicates(out) > 5, PATIENCE_S), (out / "job.log").read_text()
    first = jobs(slurm)[0].split()[0]
    assert on(slurm, "srun", "--partition=main", "-N3", "--exclusive", "true").returncode == 0
    assert wait_until(ended(out, "interrupted"), PATIENCE_S), (out / "run.json").read_text() + (
        out / "job.log"
    ).read_text()
    before = replicates(out)
    assert "PREEMPTION" in (out / "job.log").read_text()
    on(slurm, "scontrol", "update", f"JobId={first}", "StartTime=now")  # or else it rests for two minutes
    assert wait_until(ended(out, "complete"), PATIENCE_S), (out / "job.log").read_text()
    run = read_run(out)
    assert len(run.meta["resumed"]) == 1
    assert len(run.replicates) > before
    assert blocks_once(run)
    assert all(record.value is not None for record in run.records if record.metric in ("rtt", "throughput"))
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S)
    again = on(slurm, *WULF, "resume", str(out))
    assert (again.returncode in (0, 1), "is complete" in again.stdout) == (True, True)


@pytest.mark.full
def test_a_job_without_time_left_keeps_what_it_has_and_is_gone_on_with(slurm: labs.Lab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    limited = ["--slurm-option", "time=1", "--slurm-option", "signal=B:TERM@10"]
    assert on(slurm, *WULF, *LONG, "--sbatch", "--out", str(out), *limited).returncode == 0
    assert wait_until(ended(out, "interrupted"), 150), (out / "job.log").read_text()
    before = replicates(out)
    assert before >= 1
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S)
    assert on(slurm, "sbatch", str(out / "job.sh")).returncode == 0
    assert wait_until(lambda: replicates(out) > before, PATIENCE_S), (out / "job.log").read_text()
    on(slurm, "scancel", "--user=root", "--batch", "--signal=TERM")
    assert wait_until(ended(out, "interrupted"), PATIENCE_S)
    run = read_run(out)
    assert blocks_once(run)
    assert [r["block"] for r in run.replicates] == list(range(len(run.replicates)))
    on(slurm, "scancel", "--user=root")
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S)


@pytest.mark.full
def test_a_node_that_loses_power_is_down_for_slurm_and_nothing_is_left_after_down(netns: None, lab_name: str) -> None:
    before, groups = host_state(), sorted(Path("/sys/fs/cgroup").glob("**/*slurm*"))
    try:
        lab = labs.up(2, name=lab_name, with_slurm=True)
    except LabError as error:
        skip_or_fail(str(error))
    lab.kill_node("n1")
    assert set(lab.slurm or {}) == {"n1", "n2"}, "another node is asked"
    assert (lab.slurm or {})["n2"] == "idle"
    daemons = [text for text in traces(lab_name) if "slurm" in text or "munged" in text]
    assert len(daemons) >= 3
    assert lab.down() is None
    assert left_of(lab_name) == []
    assert [pid for pid, _ in processes("munged", "slurmctld", "slurmd", "slurmstepd") if in_lab(pid, lab_name)] == []
    assert host_state() == before
    assert sorted(Path("/sys/fs/cgroup").glob("**/*slurm*")) == groups


def test_killing_the_lab_s_first_process_is_the_end_of_its_slurm(netns: None, lab_name: str) -> None:
    try:
        lab = labs.up(1, name=lab_name, with_slurm=True)
    except LabError as error:
        skip_or_fail(str(error))
    daemons = {pid for pid, _ in processes("munged", "slurmctld", "slurmd") if in_lab(pid, lab_name)}
    assert len(daemons) >= 3
    state.kill(lab._data["init"])
    assert wait_until(lambda: not any(Path("/proc", str(pid)).exists() for pid in daemons), PATIENCE_S)


def processes(*names: str) -> list[tuple[int, str]]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue
        if name in names:
            found.append((int(entry.name), name))
    return found


def in_lab(pid: int, name: str) -> bool:
    """Whether a process sees the directory of this lab's Slurm."""
    try:
        return f"/{name}/slurm " in Path("/proc", str(pid), "mountinfo").read_text()
    except OSError:
        return False


RANK = 'echo "rank $SLURM_PROCID on $(hostname) $WHO in $PWD"'
SRUN = ["--launcher", "slurm", "--starter", "srun", "--runs", "1"]


def app(lab: labs.Lab, out: Path, *words: str, within: Sequence[str] = ()) -> dict[str, Any]:
    """`wulf app` with ranks that srun starts: its only record."""
    done = on(lab, *within, *WULF, "app", *words[:1], *SRUN, "--out", str(out), "--json", *words[1:])
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stderr
    return next(line for line in lines if line.get("probe") == "app")


@pytest.mark.full
@each_mpi
def test_an_application_is_started_by_srun_in_a_job_of_its_own(slurm: labs.Lab, tmp_path: Path, kind: str) -> None:
    words = ["--nodes", "n[2-3]", "--ranks", "2", "--mpi", kind, "--env", "WHO=me", "--check", "rank 1 on n3 me"]
    found = app(slurm, tmp_path / "run", "run", *words, "--", "sh", "-c", RANK)
    assert found["value"] is not None, found["reason"]
    assert (found["subject"], found["params"]["ranks"]) == ("n[2-3]", 2)
    assert set(found["counters"]) == {"n2", "n3"}
    (text,) = [path.read_text() for path in (tmp_path / "run/outputs").iterdir()]
    (folder,) = {line.split(" in ")[1] for line in text.splitlines() if line.startswith("rank")}
    assert on(slurm, "srun", "--nodelist=n3", "-N1", "test", "-e", folder).returncode != 0
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S), jobs(slurm)


@pytest.mark.full
@needs(shutil.which("hpcc"), "hpcc")
def test_hpl_is_started_by_srun_over_the_nodes_of_the_job_that_wulf_is_in(slurm: labs.Lab, tmp_path: Path) -> None:
    job = ["salloc", "--nodelist=n1,n3", "--nodes=2"]
    found = app(slurm, tmp_path / "run", "hpl", "--per-node", "1", "--n", "300", "--nb", "64", within=job)
    assert found["value"] is not None, found["reason"]
    assert (found["subject"], found["params"]["p"], found["params"]["q"]) == ("n[1,3]", 1, 2)
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S), jobs(slurm)


@pytest.mark.full
def test_ranks_of_srun_that_hang_are_ended_on_all_nodes(slurm: labs.Lab, tmp_path: Path) -> None:
    mark = f"6{secrets.randbelow(10**6):06d}"
    words = ["--nodes", "n[1-2]", "--ranks", "2", "--timeout", "6", "--", "sleep", mark]
    found = app(slurm, tmp_path / "run", "run", *words)
    assert found["value"] is None
    assert "did not end in time" in found["reason"]
    assert not any(mark in text for text in traces(slurm.name))
    assert wait_until(lambda: at_rest(slurm), PATIENCE_S), jobs(slurm)
