"""A lab's Slurm: munged and slurmctld in the controller's place, one slurmd a node; all children of the lab.

Everything of it lies in the lab's directory, under slurm/, which the whole lab sees as /etc/slurm. Nothing ends it but
the end of the lab, with which every process of it ends.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wulf.core.errors import LabError

from . import tools
from .inside.init import SLURM
from .login import Node
from .state import INSIDE, alive

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
CONTROLLER = "controller"
FOLDERS = ("munge", "state", "spool", "log")
IDLE = "idle"

READY_DEADLINE_S, READY_DEADLINE_PER_NODE_S = 45.0, 1.0
SHORT_MINUTES = 5
KILL_WAIT_S = 10
"""From SIGTERM to SIGKILL when a job is preempted, is cancelled, or has no time left; Slurm's own default is 30 s."""

_INSTALL = (
    "Install it, and leave its services off: `apt install slurm-wlm munge && systemctl disable --now munge slurmctld "
    "slurmd` (Debian, Ubuntu); or leave --slurm out."
)


def check() -> None:
    """LabError with what is missing for a lab with Slurm: root, its programs, the directory of its configuration."""
    if os.geteuid() != 0:
        raise LabError(
            "a lab with Slurm needs root: slurmd starts jobs as the users who submitted them, and a user namespace has "
            "only one user",
            "Run it as root, or leave --slurm out.",
        )
    absent = [name for name in PROGRAMS if tools.find(name) is None]
    if absent:
        raise LabError(f"a lab with Slurm needs {', '.join(absent)}, not installed here", _INSTALL)
    if not Path(SLURM).is_dir():
        raise LabError(
            f"a lab with Slurm needs the directory {SLURM}, where it shows its own configuration; there is none",
            f"Make it, empty: `mkdir {SLURM}`; nothing is written into it.",
        )


def _path(program: str) -> Path:
    path = tools.find(program)
    if path is None:
        raise LabError(f"a lab with Slurm needs {program}, not installed here", _INSTALL)
    return path


def configuration(nodes: Sequence[tuple[str, str]], controller: str, cpus: int) -> str:
    """slurm.conf(5) for nodes, given as name and address, of one machine with so many CPUs.

    No control groups: proctrack/linuxproc finds a job's processes by parentage, so that the host's hierarchies stay
    as they are. The partition `short` yields to `main`: its jobs are requeued.
    """
    names = ",".join(name for name, _ in nodes)
    lines = [
        "ClusterName=lab",
        f"SlurmctldHost={CONTROLLER}({controller})",
        "SlurmUser=root",
        "SlurmdUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={SLURM}/munge/socket",
        f"StateSaveLocation={SLURM}/state",
        f"SlurmdSpoolDir={SLURM}/spool/%n",
        f"SlurmctldPidFile={SLURM}/state/slurmctld.pid",
        f"SlurmdPidFile={SLURM}/state/slurmd-%n.pid",
        f"SlurmctldLogFile={SLURM}/log/slurmctld.log",
        f"SlurmdLogFile={SLURM}/log/slurmd-%n.log",
        "TmpFS=/dev/shm",  # a node's own, unlike /tmp: PMIx keeps files of every node there
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "MpiDefault=none",
        "ReturnToService=2",
        f"KillWait={KILL_WAIT_S}",
        "SlurmdTimeout=30",
        "SchedulerParameters=sched_interval=5,bf_interval=5",
        "PreemptType=preempt/partition_prio",
        "PreemptMode=REQUEUE",
        *(f"NodeName={name} NodeAddr={address} CPUs={cpus} State=UNKNOWN" for name, address in nodes),
        f"PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF",
        f"PartitionName=short Nodes={names} MaxTime={SHORT_MINUTES} PriorityTier=1 PreemptMode=REQUEUE",
    ]
    return "\n".join(lines) + "\n"


CGROUP_CONF = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"
"""cgroup.conf(5): named, so that slurmd doesn't look which of them this host has; none is used."""


def prepare(state: Path, nodes: Sequence[Node], controller: str) -> None:
    """Write all that the daemons need, before the lab's first process starts: it shows the directory to the nodes."""
    directory = state / "slurm"
    for folder in (directory, *(directory / name for name in FOLDERS), *(directory / "spool" / n.name for n in nodes)):
        folder.mkdir(mode=0o755)
    key = directory / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    text = configuration([(node.name, node.address) for node in nodes], controller, len(os.sched_getaffinity(0)))
    (directory / "slurm.conf").write_text(text)
    (directory / "cgroup.conf").write_text(CGROUP_CONF)


def start(state: Path, data: Mapping[str, Any], origin: str, *, clock: Callable[[], float] = time.monotonic) -> None:
    """Start the daemons in the lab that `data` (lab.json) describes; every node is idle when this returns.

    Parameters
    ----------
    origin
        The controller's address, for munge's credentials.

    Raises
    ------
    LabError
        They don't get there in time: with what their logs said last.
    """
    munge = f"{SLURM}/munge"
    _daemon(
        state, data["init"], "munged", ("--foreground", "--force", f"--socket={munge}/socket",
        f"--key-file={munge}/key", f"--origin={origin}", f"--pid-file={munge}/pid", f"--seed-file={munge}/seed",
        f"--log-file={SLURM}/log/munged.log"), host=CONTROLLER,
    )  # fmt: skip
    deadline = clock() + READY_DEADLINE_S + READY_DEADLINE_PER_NODE_S * len(data["nodes"])
    _await((state / "slurm" / "munge" / "socket").exists, state, deadline, clock)
    _daemon(state, data["init"], "slurmctld", ("-D",), host=CONTROLLER)
    for node in data["nodes"]:
        _daemon(state, node["process"], "slurmd", ("-D", "-N", node["name"]), log=f"slurmd-{node['name']}")
    _await(lambda: all(word == IDLE for word in states(data).values()), state, deadline, clock)


def _daemon(
    state: Path, parent: Mapping[str, Any], program: str, words: Sequence[str], *, host: str = "-", log: str = ""
) -> None:
    """Start one as a child of the first process `parent`."""
    output = state / "slurm" / "log" / f"{log or program}.out"
    argv = [sys.executable, "-I", "-S", INSIDE, "daemon", parent["pid"], parent["start"], output, host]
    argv += [_path(program), *words]
    started = subprocess.run(
        [str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False
    )
    if started.returncode != 0:
        raise LabError(f"{program} can't start in the lab: {started.stderr.strip()}")


def _await(
    ready: Callable[[], bool],
    state: Path,
    deadline: float,
    clock: Callable[[], float],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    while not ready():
        if clock() > deadline:
            why = f"the lab's Slurm is not ready in time: {last_words(state)}"
            raise LabError(why, "This machine may be overloaded.")
        pause(0.1)


def last_words(state: Path, lines: int = 2) -> str:
    """The ends of its logs, for a message."""
    found = []
    for log in sorted((state / "slurm" / "log").glob("*")):
        said = log.read_text(errors="replace").split("\n")[:-1]
        errors = [line for line in said if "error" in line or "fatal" in line or "can't" in line] or said
        found += [f"{log.stem}: {line}" for line in errors[-lines:]]
    return " / ".join(found) or "its daemons left no log"


def states(data: Mapping[str, Any]) -> dict[str, str]:
    """Node → its state in `sinfo`'s words ("idle", "allocated", "down*"); "unknown" where slurmctld doesn't answer."""
    unknown = {node["name"]: "unknown" for node in data["nodes"]}
    head = next((node for node in data["nodes"] if alive(node["process"])), None)
    if head is None:
        return unknown
    argv = [sys.executable, "-I", "-S", INSIDE, "enter", head["process"]["pid"], head["process"]["start"]]
    argv += [_path("sinfo"), "--noheader", "--Node", "--format=%N %T"]
    try:
        asked = subprocess.run(
            [str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/",
            timeout=15, check=False, env={"PATH": os.environ.get("PATH", os.defpath)},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return unknown
    return unknown | dict(line.split() for line in asked.stdout.splitlines())
