"""srun's messages in plain words with what to do next."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wulf.cluster.channel import Exit
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain, last_words
from wulf.cluster.ssh_words import explain_script

SRUN_FAILED = 1
"""srun's own exit status for an error of its own; otherwise it hands on its task's (srun(1), RETURN VALUE)."""

_BY_SIGNAL = 128
"""What srun adds to the number of the signal that ended its task."""

# Pattern in srun's messages; what it means; what to do. The first match counts. {job} is the job's id.
_WORDS: tuple[tuple[str, str, str], ...] = (
    (
        r"DUE TO PREEMPTION",
        "job {job} was preempted: another one needed its nodes",
        "what was measured is kept: `wulf resume RUN` goes on; a job submitted with --sbatch does so by itself",
    ),
    (
        r"DUE TO TIME LIMIT",
        "job {job} has used up its time",
        "what was measured is kept: `wulf resume RUN` goes on; ask for more with --slurm-option time=…",
    ),
    (r"DUE TO NODE FAILURE|Node failure", "job {job} lost the node: it failed", "look there: sinfo -R"),
    (r"(?:JOB|STEP) .*CANCELLED|Force Terminated JobId|allocation has been revoked", "job {job} was cancelled", ""),
    (
        r"Requested node configuration is not available|Requested nodes? (?:are|is) busy|Invalid node name|"
        r"specified node list|not (?:a )?part of (?:the|this) job",
        "it is not one of the nodes of job {job}",
        "`squeue --job {job}` shows which it has",
    ),
    (r"Invalid job id|Job/step already completing|Expired", "job {job} is over", "start another"),
    (
        r"Communication connection failure|Unable to contact|Connection refused|Socket timed out",
        "Slurm can't reach it",
        "is its slurmd up? sinfo -R",
    ),
    (
        r"Unable to resolve|Zero Bytes were transmitted|Munge|credential",
        "Slurm's authentication failed between here and there",
        "do clocks and munge keys agree? munge -n | ssh NODE unmunge",
    ),
)


def explain_srun(job: str, program: Program) -> Explain:
    """The explanation for a program that srun started as a step of a job."""

    def explain(end: Exit, stderr: Sequence[str], greeted: bool) -> tuple[str, str]:
        text = "\n".join(stderr)
        for pattern, what, next_step in _WORDS:
            if re.search(pattern, text):
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
