"""Which rank died, or does not run, and on which node: from the launchers' own words and the nodes' process tables."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RankPlace:
    """A rank and its process.

    Parameters
    ----------
    node
        Name in the inventory.
    host
        What its machine calls itself.
    """

    rank: int
    node: str
    host: str
    pid: int

    def __str__(self) -> str:
        return f"rank {self.rank} on {self.node}"


# mpirun of Open MPI 4 and prterun of 5; what follows is one sentence over several lines
_BY_SIGNAL = re.compile(r"process rank (\d+) with PID \d+ on node (\S+) exited on signal (\d+)")
_BY_STATUS = re.compile(r"Process name: \[\S*?,(\d+)\] Exit code: +(\d+)")
_HYDRA = re.compile(r"PID (\d+) RUNNING AT (\S+) .*?EXIT CODE: (\d+)")
_SRUN = re.compile(r"srun: error: (\S+): tasks? (\d+)\S*: (Killed|Exited with exit code \d+|[^\n:]+)")
_LOST = (
    re.compile(r"lost communication with a remote daemon\..*?Remote daemon: \S+ on node (\S+)"),
    re.compile(r"lost connection to (?:the )?(?:remote )?(?:daemon|proxy) on (?:node |host )?(\S+?)[.,]?(?: |$)"),
)

# what Open MPI says of an MPI_Init that fails, before its launcher's words of how the ranks ended
_INIT = re.compile(r"MPI_INIT failed .*?developer\): (\S.*?) --> Returned \"([^\"]+)\"")

_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
_CRASH_NOTE = " (its launcher names one rank alone: this one may have crashed because another one died first)"
"""MPICH 5 over UCX: a rank whose partner is killed may run into a segmentation fault, and be noticed first."""

STATES = {
    "T": "is stopped (SIGSTOP, or a terminal's Ctrl-Z)",
    "t": "is stopped by a debugger",
    "D": "waits in the kernel for a device",
    "Z": "is dead, and its parent has not noticed",
}
"""A process's state letter, proc(5) → what that means for a rank. A rank in another state runs or sleeps."""


def cause_of_death(stderr: Sequence[str], ranks: Sequence[RankPlace]) -> str | None:
    """Which rank ended the launch, as the launcher tells it; None where it does not say."""
    text = " ".join(" ".join(stderr).replace("|", " ").replace("=", " ").split())
    if match := _BY_SIGNAL.search(text):
        return f"{_rank(int(match[1]), match[2], ranks)} was killed by {_signal(int(match[3]))}"
    if match := _HYDRA.search(text):
        return _hydra(int(match[1]), match[2], int(match[3]), ranks)
    if said := _by_status(text, ranks):
        return said
    if match := _SRUN.search(text):
        ended = "was killed" if match[3] == "Killed" else match[3].strip().lower()
        return f"{_rank(int(match[2]), match[1], ranks)} {ended}"
    for pattern in _LOST:
        if match := pattern.search(text):
            return f"the connection to {match[1]} was lost: that node, or its network, is down"
    return None


def _by_status(text: str, ranks: Sequence[RankPlace]) -> str:
    """Empty where nothing is said of a status, nor of an MPI_Init that failed, which tells more."""
    failed = f"MPI_Init failed: {init[1]}: {init[2]}" if (init := _INIT.search(text)) else ""
    if match := _BY_STATUS.search(text):
        return f"{_rank(int(match[1]), '', ranks)} ended with status {match[2]}{f' ({failed})' if failed else ''}"
    return failed


def _hydra(pid: int, host: str, status: int, ranks: Sequence[RankPlace]) -> str:
    """Hydra names the process and not the rank; its "exit code" is a wait status, or a shell's."""
    who = next((str(place) for place in ranks if place.pid == pid and place.host == host), f"process {pid} on {host}")
    number = status - 128 if status > 128 else status
    ended = f"was killed by {_signal(number)}" if 0 < number < 32 else f"ended with status {status}"
    return f"{who} {ended}{_CRASH_NOTE if number in _CRASHES else ''}"


def _rank(rank: int, host: str, ranks: Sequence[RankPlace]) -> str:
    known = next((place for place in ranks if place.rank == rank), None)
    return str(known) if known else f"rank {rank} on {host}" if host else f"rank {rank}"


def _signal(number: int) -> str:
    names = {each.value: each.name for each in signal.Signals}
    return names.get(number, f"signal {number}")


def not_running(ranks: Sequence[RankPlace], states: Mapping[str, Mapping[str, str | None] | str]) -> list[str]:
    """The ranks that do not run, each as a clause: "rank 1 on n2 is stopped (…)".

    Parameters
    ----------
    states
        Node → process id as text → its state letter, None where it is gone; or why the node could not be asked.
    """
    found = []
    for place in ranks:
        known = states.get(place.node, "it was not asked")
        if isinstance(known, str):
            found.append(f"{place} can't be asked about: {known}")
        elif (state := known.get(str(place.pid))) is None:
            found.append(f"{place} is gone (process {place.pid})")
        elif state in STATES:
            found.append(f"{place} {STATES[state]} (process {place.pid})")
    return found
