"""Slurm jobs: the one that we are in, options for one to ask for, and the script of one to submit. No process here.

Sources: salloc(1), sbatch(1), srun(1): the options, and the variables that a job finds in its environment.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wulf.cluster.inventory import expand
from wulf.core.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9-]*")

OURS = ("nodelist", "nodes", "ntasks", "output", "error", "open-mode", "wrap", "array", "parsable", "no-shell", "chdir")
"""Options of Slurm's that wulf decides itself."""

SIGNAL = "B:TERM@60"
"""A minute before a submitted job's end, wulf is told, so that it writes down what it has measured."""


@dataclass(frozen=True)
class SlurmJob:
    """A job: its number, and the names of its nodes."""

    id: str
    nodes: tuple[str, ...]

    def part(self, wanted: str | None) -> SlurmJob:
        """The job with only some of its nodes: a node set, or a number of them; None: all.

        Raises
        ------
        UsageError
            It doesn't have them.
        """
        if wanted is None:
            return self
        if wanted.isdecimal():
            lacking = ["more"] if int(wanted) > len(self.nodes) else []
            names = self.nodes[: int(wanted)]
        else:
            names = tuple(expand(wanted))
            lacking = [name for name in names if name not in self.nodes]
        if lacking:
            has = ",".join(self.nodes)
            raise UsageError(f"job {self.id} has {has}, but not {', '.join(lacking)}", "ask for nodes of the job")
        return SlurmJob(self.id, names)


def current_job(environ: Mapping[str, str] | None = None) -> SlurmJob | None:
    """The job that this process runs in, None outside of one."""
    variables = os.environ if environ is None else environ
    number, nodes = variables.get("SLURM_JOB_ID"), variables.get("SLURM_JOB_NODELIST")
    return SlurmJob(number, tuple(expand(nodes))) if number and nodes else None


def parse_options(given: Iterable[str]) -> dict[str, str]:
    """`partition=short`, `exclusive`: long options of salloc and sbatch, without their dashes, to their values.

    Raises
    ------
    UsageError
        One is no option, or one that wulf decides itself.
    """
    options = {}
    for text in given:
        name, _, value = text.removeprefix("--").partition("=")
        check_option(name)
        options[name] = value
    return options


def check_option(name: str) -> None:
    """UsageError unless it may be handed to Slurm."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no option of Slurm's", "write --slurm-option partition=short")
    if name in OURS:
        raise UsageError(f"wulf decides Slurm's --{name} itself", "leave it out; --nodes names the nodes")


def resources(nodes: str, options: Mapping[str, str]) -> list[str]:
    """Options of salloc or sbatch for these nodes: "n[1-4]", or "3" for any three.

    The job is alone there. `exclusive=no` among the options shares the nodes: what else runs there is then measured
    along.
    """
    if nodes.isdecimal():
        words = [f"--nodes={nodes}"]
    else:
        words = [f"--nodes={len(expand(nodes))}", f"--nodelist={','.join(expand(nodes))}"]
    chosen = {"exclusive": "", "job-name": "wulf", **options}
    if chosen["exclusive"] == "no":
        del chosen["exclusive"]
    return words + [f"--{name}={value}" if value else f"--{name}" for name, value in chosen.items()]


def batch_script(
    words: Sequence[str], run: Path, argv: Sequence[str], resume: Sequence[str], tasks: int = 0,
    *, program: Sequence[str] = (),
) -> str:  # fmt: skip
    """What --sbatch submits: measure, or go on with what an earlier turn of the job has left.

    Parameters
    ----------
    words
        Options of sbatch's (`resources`).
    run
        Directory of the run; absolute, on a file system that the job's first node has too.
    argv, resume
        The command that measures, and the one that goes on; the run's directory is appended to both.
    tasks
        So many times, as an array, one after the other: each has a run of its own, below `run`, named by its number.
    program
        What stands behind all of `argv`: `--`, a program of the user's, and its words.
    """
    own = [f"--output={run / ('job-%a.log' if tasks else 'job.log')}", "--open-mode=append", "--requeue"]
    own += [f"--array=1-{tasks}%1"] if tasks else []
    if not any(word.startswith("--signal") for word in words):
        own.append(f"--signal={SIGNAL}")
    lines = ["#!/bin/sh", *(f"#SBATCH {shlex.quote(word)}" for word in (*own, *words))]
    return "\n".join([
        *lines,
        "# Made by wulf. After preemption the job goes on where it stopped; so does this script, submitted again.",
        f"run={shlex.quote(str(run))}" + ("/$SLURM_ARRAY_TASK_ID" if tasks else ""),
        'if [ -e "$run/run.json" ]; then',
        f'    exec {shlex.join(resume)} "$run"',
        "fi",
        f'exec {shlex.join(argv)} "$run" {shlex.join(program)}'.rstrip(),
        "",
    ])  # fmt: skip


_PENDING = re.compile(r"salloc: (?:Pending job allocation|job) (\d+)")
_REASONS = {
    "Resources": "its nodes are busy",
    "Priority": "others are before it",
    "ReqNodeNotAvail": "a node that it asks for is down or reserved",
    "PartitionTimeLimit": "it asks for more time than the partition gives",
    "PartitionNodeLimit": "it asks for more nodes than the partition gives",
    "None": "it has only just come",
}


def pending_job(line: str) -> str | None:
    """The number of the job that a line of salloc's speaks of."""
    match = _PENDING.search(line)
    return match[1] if match else None


_GRANTED = re.compile(r"^job (\d+) has \S")


def granted_words(job: SlurmJob) -> str:
    """What is said once a job has begun."""
    return f"job {job.id} has {','.join(job.nodes)}"


def granted_job(line: str) -> str | None:
    """The number of the job that a line says has begun."""
    match = _GRANTED.search(line)
    return match[1] if match else None


def waiting_words(job: str, reason: str) -> str:
    """Why a job waits, from squeue's word for it."""
    key = reason.partition(",")[0]
    return f"job {job} waits in the queue: {_REASONS.get(key, 'Slurm says')} ({reason})"
