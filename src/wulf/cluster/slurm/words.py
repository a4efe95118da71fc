"""srun's messages in plain words with what to do next."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Sequence

from wulf.cluster.channel import Exit
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain, last_words
from wulf.cluster.ssh.words import explain_script

SRUN_FAILED = 1
"""srun's own exit status for an error of its own; otherwise it hands on its task's (srun(1), RETURN VALUE)."""

_BY_SIGNAL = 128
"""What srun adds to the number of the signal that ended its task."""

Words = tuple[str, str]
"""What happened, and what to do next. {job} is the job's id."""

# What Slurm does to a job, by the state that it then is in.
_ENDS: dict[str, Words] = {
    "PREEMPTED": (
        "job {job} was preempted: another one needed its nodes",
        "what was measured is kept: `wulf resume RUN` goes on; a job submitted with --sbatch does so by itself",
    ),
    "TIMEOUT": (
        "job {job} has used up its time",
        "what was measured is kept: `wulf resume RUN` goes on; ask for more with --slurm-option time=…",
    ),
    "NODE_FAIL": ("job {job} lost the node: it failed", "look there: sinfo -R"),
    "CANCELLED": ("job {job} was cancelled", ""),
    "COMPLETING": ("Slurm is ending job {job}", "why: scontrol show job {job}"),
}

# Pattern in srun's messages, and what it means. The first match counts.
_WORDS: tuple[tuple[str, Words], ...] = (
    (r"DUE TO PREEMPTION", _ENDS["PREEMPTED"]),
    (r"DUE TO TIME LIMIT", _ENDS["TIMEOUT"]),
    (r"DUE TO NODE FAILURE|Node failure", _ENDS["NODE_FAIL"]),
    (
        r"(?:JOB|STEP) .*CANCELLED|Force Terminated JobId|allocation has been revoked",
        _ENDS["CANCELLED"],
    ),
    (
        r"Requested node configuration is not available|Requested nodes? (?:are|is) busy|Invalid node name|"
        r"specified node list|not (?:a )?part of (?:the|this) job",
        ("it is not one of the nodes of job {job}", "`squeue --job {job}` shows which it has"),
    ),
    (r"Invalid job id|Job/step already completing|Expired", ("job {job} is over", "start another")),
    (
        r"Communication connection failure|Unable to contact|Connection refused|Socket timed out",
        ("Slurm can't reach it", "is its slurmd up? sinfo -R"),
    ),
    (
        r"Unable to resolve|Zero Bytes were transmitted|Munge|credential",
        (
            "Slurm's authentication failed between here and there",
            "do clocks and munge keys agree? munge -n | ssh NODE unmunge",
        ),
    ),
)

_ABORTED = re.compile(r"Job step aborted")
"""All that srun says of a step that was ended for its job's sake, where the node's own line with the cause comes too
late."""

_ENDING = "COMPLETING"
_ENDING_S = 5.0
"""How long a job may take to end before it is told as ending: some 30 ms where its processes heed SIGTERM."""


_ended: dict[str, str] = {}
"""How jobs have ended: Slurm is asked once, however many sessions end with a job."""


def state_of(job: str) -> str | None:
    """Ask Slurm in which state a job is.

    Returns the state, COMPLETING where its processes still end after _ENDING_S; None where Slurm does not say.
    """
    if job in _ended:
        return _ended[job]
    deadline = time.monotonic() + _ENDING_S
    state = _state_now(job)
    while state == _ENDING and time.monotonic() < deadline:
        time.sleep(0.1)
        state = _state_now(job)
    if state in _ENDS:
        _ended[job] = state
    return state


def _state_now(job: str) -> str | None:
    command = ["squeue", "--noheader", f"--jobs={job}", "--states=all", "--format=%T"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_ENDING_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    return words[0] if words else None


def explain_srun(job: str, program: Program, state: Callable[[str], str | None] = state_of) -> Explain:
    """The explanation for a program that srun started as a step of a job. `state` tells what has become of a job."""

    def explain(end: Exit, stderr: Sequence[str], greeted: bool) -> tuple[str, str]:
        text = "\n".join(stderr)
        found = next((words for pattern, words in _WORDS if re.search(pattern, text)), None)
        if found is None and _ABORTED.search(text):
            found = _ENDS.get(state(job) or "")
        if found is not None:
            what, next_step = found
            return what.format(job=job), next_step.format(job=job)
        if end.signal is not None:
            return f"the srun process on this machine was {end}", ""
        if end.status is not None and end.status > _BY_SIGNAL:
            ended = Exit(signal=end.status - _BY_SIGNAL)
            return f"{program.name} was {ended} on the node{last_words(stderr)}", "look there: dmesg"
        if end.status == SRUN_FAILED and not greeted:
            return f"srun failed{last_words(stderr)}", f"try: srun --jobid={job} --overlap hostname"
        return explain_script(end, program, stderr)

    return explain
