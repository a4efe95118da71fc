"""Jobs that share a network: what a program takes alone, and while others run beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wulf.core.errors import UsageError
from wulf.model.foresight.prediction import Beside, ReplayProgram, Traced
from wulf.model.network.figures import host_numbers
from wulf.workflow.foresight.engine import TIMED
from wulf.workflow.foresight.replaying import Replay
from wulf.workflow.foresight.traced import read_traced


def jobs_of(
    traced: Traced, others: Sequence[Path], load: Callable[[Path], ReplayProgram]
) -> list[tuple[Traced, ReplayProgram]]:
    """The other jobs, loaded.

    Raises
    ------
    UsageError
        Ranks of a job have no known hosts, and others share theirs: who shares an adapter is not known.
    """
    found = []
    for path in others:
        other = read_traced(path)
        if not other.hosts and traced.hosts and len(set(traced.hosts)) < len(traced.hosts):
            raise UsageError(f"{path}: it is not known which ranks share a host", "trace it again, by `wulf trace`")
        found.append((other, load(path)))
    return found


def beside(
    replay: Replay,
    program: tuple[Traced, ReplayProgram],
    others: Sequence[tuple[Traced, ReplayProgram]],
    networks: Sequence[Mapping[str, Any]],
) -> list[Beside]:
    """Each job's run time alone and beside the others, on each network. All begin at one time, on hosts of their own.

    Parameters
    ----------
    networks
        As the replay takes them, with a topology; their hosts are set here.
    """
    jobs = [program, *others]
    together = replay.join([loaded for _, loaded in jobs])
    everyone = [(number, host) for number, (traced, loaded) in enumerate(jobs) for host in _hosts(traced, loaded)]
    numbers = _numbered(everyone)
    found = []
    for network in networks:
        alone, all_ends = [], replay.ends(together, {**network, "hosts": numbers}, TIMED)
        ends, first = [], 0
        for _, loaded in jobs:
            own = numbers[first : first + loaded.ranks]
            alone.append(max(replay.ends(loaded.number, {**network, "hosts": own}, TIMED)))
            ends.append(max(all_ends[first : first + loaded.ranks]))
            first += loaded.ranks
        found.append(Beside(str(network["name"]), tuple(traced.command or traced.path for traced, _ in jobs),
                            tuple(alone), tuple(ends)))  # fmt: skip
    return found


def _hosts(traced: Traced, program: ReplayProgram) -> Sequence[str]:
    return traced.hosts if len(traced.hosts) == program.ranks else [str(rank) for rank in range(program.ranks)]


def _numbered(hosts: Sequence[tuple[int, str]]) -> list[int]:
    """A number for each job's each host."""
    found = host_numbers([f"{job} {host}" for job, host in hosts])
    return found if isinstance(found, list) else [rank // found for rank in range(len(hosts))]
