"""Slurm's words: jobs, options, scripts, and what srun says when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wording import Wording, lacking
from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.launchers.slurm import SlurmLauncher
from wulf.cluster.programs import Program
from wulf.cluster.slurm import jobs as slurm
from wulf.cluster.slurm import words as slurm_words
from wulf.cluster.slurm.words import explain_srun
from wulf.core.errors import UsageError

PROGRAM = Program("wulf-net", Path("/x/x86_64/wulf-net"), "0" * 64, "x86_64")


@pytest.mark.parametrize(
    ("nodelist", "nodes"),
    [
        ("n1", ("n1",)),
        ("n[1-3]", ("n1", "n2", "n3")),
        ("n[1,3-4],login", ("login", "n1", "n3", "n4")),
        ("node[009-011]", ("node009", "node010", "node011")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
    ],
)
def test_the_job_that_we_are_in(nodelist: str, nodes: tuple[str, ...]) -> None:
    job = slurm.current_job({"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": nodelist})
    assert job is not None
    assert (job.id, sorted(job.nodes)) == ("7", sorted(nodes))


@pytest.mark.parametrize("environ", [{}, {"SLURM_JOB_ID": "7"}, {"SLURM_JOB_NODELIST": "n1"}])
def test_no_job(environ: dict[str, str]) -> None:
    assert slurm.current_job(environ) is None


def test_part_of_a_job() -> None:
    job = slurm.SlurmJob("7", ("n1", "n2", "n3"))
    assert job.part(None) == job
    assert job.part("2").nodes == ("n1", "n2")
    assert job.part("n[2-3]").nodes == ("n2", "n3")
    with pytest.raises(UsageError, match="job 7 has n1,n2,n3, but not n9"):
        job.part("n[3,9]")
    with pytest.raises(UsageError, match="but not more"):
        job.part("4")


def test_options() -> None:
    given = ["partition=short", "--account=a=b", "exclusive"]
    assert slurm.parse_options(given) == {"partition": "short", "account": "a=b", "exclusive": ""}


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("nodelist=n1", "decides"),
        ("--output=x", "decides"),
        ("-p", "no option"),
        ("", "no option"),
        ("a b", "no option"),
    ],
)
def test_options_that_are_refused(option: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        slurm.parse_options([option])


@pytest.mark.parametrize(
    ("nodes", "options", "words"),
    [
        ("n[1-2]", {}, ["--nodes=2", "--nodelist=n1,n2", "--exclusive", "--job-name=wulf"]),
        ("3", {"time": "10"}, ["--nodes=3", "--exclusive", "--job-name=wulf", "--time=10"]),
        ("n1", {"exclusive": "no"}, ["--nodes=1", "--nodelist=n1", "--job-name=wulf"]),
        ("n1", {"job-name": "x"}, ["--nodes=1", "--nodelist=n1", "--exclusive", "--job-name=x"]),
    ],
)
def test_what_a_job_asks_for(nodes: str, options: dict[str, str], words: list[str]) -> None:
    assert slurm.resources(nodes, options) == words


def script(run: str = "/shared/run", *words: str) -> str:
    return slurm.batch_script(words, Path(run), ["wulf", "survey", "--nodes", "n[1-3]", "--out"], ["wulf", "resume"])


def test_the_script_of_a_job() -> None:
    assert script("/shared/run", "--nodes=3", "--partition=short") == (
        "#!/bin/sh\n"
        "#SBATCH --output=/shared/run/job.log\n"
        "#SBATCH --open-mode=append\n"
        "#SBATCH --requeue\n"
        "#SBATCH --signal=B:TERM@60\n"
        "#SBATCH --nodes=3\n"
        "#SBATCH --partition=short\n"
        "# Made by wulf. After preemption the job goes on where it stopped; so does this script, submitted again.\n"
        "run=/shared/run\n"
        'if [ -e "$run/run.json" ]; then\n'
        '    exec wulf resume "$run"\n'
        "fi\n"
        "exec wulf survey --nodes 'n[1-3]' --out \"$run\"\n"
    )


def test_a_signal_of_the_user_s_own() -> None:
    assert "#SBATCH --signal=B:TERM@20\n" in script("/run", "--signal=B:TERM@20")
    assert slurm.SIGNAL not in script("/run", "--signal=B:TERM@20")


def test_a_program_stands_behind_the_runs_directory(tmp_path: Path) -> None:
    program = ["--", "solve", "in put", "--out", "x"]
    text = slurm.batch_script([], tmp_path, ["wulf", "app", "run", "--out"], ["wulf", "resume"], program=program)
    assert "exec wulf app run --out \"$run\" -- solve 'in put' --out x\n" in text


@pytest.mark.parametrize(
    ("line", "job"),
    [
        ("salloc: Pending job allocation 12", "12"),
        ("salloc: job 12 queued and waiting for resources", "12"),
        ("salloc: error: Job submit/allocate failed: Invalid node name specified", None),
    ],
)
def test_what_salloc_says(line: str, job: str | None) -> None:
    assert slurm.pending_job(line) == job


def test_why_a_job_waits(wording: Wording) -> None:
    busy = slurm.waiting_words("7", "Resources")
    assert lacking(busy, "job 7", "busy (Resources)") == []
    reserved = slurm.waiting_words("7", "ReqNodeNotAvail, UnavailableNodes:n3")
    assert lacking(reserved, "job 7", "down or reserved (ReqNode") == []
    other = slurm.waiting_words("7", "BeginTime")
    assert other.endswith("Slurm says (BeginTime)")
    wording("\n".join((busy, reserved, other)))


KILLED = ["srun: error: n2: task 0: Killed", "srun: Force Terminated StepId=6.0"]


@pytest.mark.parametrize(
    ("end", "stderr", "greeted", "words"),
    [
        pytest.param(Exit(status=137), KILLED, True, ("wulf-net", "SIGKILL on the node"), id="killed"),
        pytest.param(
            Exit(status=0),
            ["slurmstepd-n2: error: *** STEP 7.0 ON n2 CANCELLED AT 2026-11-21T20:12:53 ***"],
            True,
            ("job 7 was cancelled",),
            id="cancelled",
        ),
        pytest.param(
            Exit(status=1),
            ["slurmstepd-n1: error: *** STEP 2.0 ON n1 CANCELLED AT 2026-11-21T19:50:12 DUE TO PREEMPTION ***"],
            True,
            ("job 7 was preempted",),
            id="preempted",
        ),
        pytest.param(
            Exit(status=143),
            ["slurmstepd-n1: error: *** STEP 2.0 ON n1 CANCELLED AT 2026-11-21T19:50:12 DUE TO TIME LIMIT ***"],
            True,
            ("job 7", "used up its time"),
            id="time",
        ),
        pytest.param(
            Exit(status=1),
            ["srun: error: Unable to create step for job 7: Requested node configuration is not available"],
            False,
            ("not one of the nodes of job 7",),
            id="another node",
        ),
        pytest.param(
            Exit(status=1),
            ["srun: error: Task launch for StepId=4.0 failed on node n2: Communication connection failure"],
            False,
            ("Slurm can't reach it",),
            id="no connection",
        ),
        pytest.param(
            Exit(status=1),
            ["srun: error: something new"],
            False,
            ("srun failed", ": srun: error: something new"),
            id="new",
        ),
        pytest.param(Exit(signal=9), [], True, ("srun process on this machine", "SIGKILL"), id="killed here"),
        pytest.param(Exit(status=99), [], False, ("wulf-net needs Python 3.9",), id="no Python"),
    ],
)
def test_what_srun_says(end: Exit, stderr: list[str], greeted: bool, words: tuple[str, ...], wording: Wording) -> None:
    what, next_step = explain_srun("7", PROGRAM)(end, stderr, greeted)
    assert lacking(what, *words) == []
    wording(f"{what}\n{next_step}")


@pytest.mark.parametrize(
    ("state", "what"),
    [
        ("CANCELLED", "job 7 was cancelled"),
        ("PREEMPTED", "job 7 was preempted"),
        ("COMPLETING", "Slurm is ending job 7"),
        ("RUNNING", "wulf-net was killed by SIGTERM on the node"),
        (None, "wulf-net was killed by SIGTERM on the node"),
    ],
)
def test_a_step_whose_node_says_no_cause(state: str | None, what: str) -> None:
    aborted = [
        "srun: Job step aborted: Waiting up to 12 seconds for job step to finish.",
        "srun: error: n1: task 0: Terminated",
    ]
    asked: list[str] = []

    def state_of(job: str) -> str | None:
        asked.append(job)
        return state

    assert explain_srun("7", PROGRAM, state_of)(Exit(status=143), aborted, True)[0].startswith(what)
    assert asked == ["7"]


def test_a_job_that_ends_slowly_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(slurm_words, "_ended", {})
    monkeypatch.setattr(slurm_words, "_state_now", lambda _: "COMPLETING")
    monkeypatch.setattr(slurm_words.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(slurm_words.time, "sleep", lambda _: None)
    assert slurm_words.state_of("7") == "COMPLETING"
    asked = next(clock)
    assert slurm_words.state_of("7") == "COMPLETING"
    assert next(clock) == asked + 1, "many sessions end with one job: the second does not wait again"


def test_a_step_is_told_job_node_and_nothing_secret() -> None:
    launcher = make_launcher(Inventory.from_nodeset("n[1-2]", launcher="slurm", job="7"))
    assert isinstance(launcher, SlurmLauncher)
    argv = list(launcher.remote(launcher.inventory.nodes[1], "exec true"))
    assert argv[:3] == ["srun", "--jobid=7", "--nodelist=n2"]
    assert {"--overlap", "--ntasks=1", "--nodes=1"} <= set(argv)
    assert argv[-3:] == ["sh", "-c", "exec true"]


def test_without_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(UsageError, match="needs a job"):
        make_launcher(Inventory.from_nodeset("n1", launcher="slurm"))


def test_within_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "9")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n1")
    launcher = make_launcher(Inventory.from_nodeset("n1", launcher="slurm"))
    assert isinstance(launcher, SlurmLauncher)
    assert launcher.job == "9"
