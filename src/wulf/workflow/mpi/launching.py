"""How often MPI's ranks are launched, and their session as the runner sees it.

A launch fixes much for its length: which pages hold the buffers, which ports and routes the connections have, where the
ranks run. What differs from launch to launch is in an interval only where launches are what it is taken over (Hunold &
Carpen-Amarie, "Reproducible MPI benchmarking is still not as easy as you think", IEEE TPDS 27(12), 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from wulf.cluster.mpi import World, WorldSpec
from wulf.cluster.session import RequestError, SessionLost
from wulf.core.errors import NodeError, UsageError
from wulf.core.findings import LAUNCH, Finding, Severity
from wulf.measure.engine.collect import add_counters
from wulf.measure.engine.ends import ProbeSession
from wulf.measure.engine.probes import Pattern
from wulf.measure.mpi.farm import NETWORK
from wulf.measure.mpi.probes import BLOCKS, EACH, SHARED, work_seconds

BIND_TIMEOUT = 30.0

HUNG_SECONDS, HUNG_SECONDS_A_RANK = 30.0, 0.2
"""Clocks are synchronised and memory is touched before a replicate; with more ranks than CPUs that takes its time."""

RUNS = 3
"""Of a cell that is alone, within each launch: a launch takes a second, a run a tenth of one. Odd, so that the middle
one is a run."""

MOST_PLACES = 8
"""Nodes whose ranks a sentence names one by one."""


@dataclass(frozen=True)
class Launch:
    """How ranks are started, and how often.

    Attributes
    ----------
    spec
        Ranks, MPI, launcher.
    how
        `SHARED`: once for all replicates. `BLOCKS`: anew for every block, which measures each cell once; `EACH`: anew
        for every replicate. The interval then holds what changes from launch to launch.
    runs
        How often a cell is measured within a launch of its own; its replicate is the middle one. 1 where launches are
        shared.
    """

    spec: WorldSpec = field(default_factory=WorldSpec)
    how: str = SHARED
    runs: int = 1

    @property
    def alone(self) -> Launch:
        """The same for a cell that has its launches for itself: several runs within each."""
        return replace(self, runs=RUNS) if self.how == BLOCKS else self

    def ranks(self, nodes: int) -> int:
        """How many there will be on so many nodes."""
        return self.spec.ranks or self.spec.per_node * nodes

    def check(self, pattern: Pattern, nodes: int) -> None:
        """Refuse, before any node is touched, what needs more ranks.

        Raises
        ------
        UsageError
            Says how many it needs.
        """
        ranks = self.ranks(nodes)
        if ranks < pattern.least_ranks:
            raise UsageError(
                f"{pattern.name} needs {pattern.least_ranks} ranks, and got {ranks}",
                "name more nodes, or give --per-node or --ranks",
            )


@dataclass
class Turns:
    """Says before which replicates ranks have to be started anew; the first find them fresh."""

    how: str
    _served: set[Any] = field(default_factory=set)
    _kept: set[Any] = field(default_factory=set)

    def keep(self, probe: str, params: Mapping[str, Any]) -> None:
        """Have no launch end for this."""
        self._kept.add(_key(probe, params))

    def over(self, probe: str, params: Mapping[str, Any]) -> bool:
        """Whether this replicate needs a launch that has not measured it, or anything, before.

        A block measures every cell once: what is asked again belongs to the next.
        """
        asked = _key(probe, params)
        if asked in self._kept:
            return False
        over = bool(self._served) if self.how == EACH else self.how == BLOCKS and asked in self._served
        if over:
            self._served.clear()
        self._served.add(asked)
        return over


def _key(probe: str, params: Mapping[str, Any]) -> Any:
    return probe, tuple(sorted(params.items()))


def middle(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One answer for several runs within a launch: of each metric the middle run's, counters and seconds of all.

    What they are is the launch's one value (the unit of statistics); each run's own stand in info, under `runs`.
    """
    *_, last = answers
    metrics, single = {}, {}
    for name, final in last["metrics"].items():
        told = [each["metrics"][name] for each in answers if each["metrics"].get(name, {}).get("value") is not None]
        ordered = sorted(told, key=lambda one: one["value"])
        metrics[name] = ordered[(len(ordered) - 1) // 2] if ordered else final
        single[name] = [one["value"] for one in told]
    counters: dict[str, Any] = {}
    for each in answers:
        add_counters(counters, each.get("counters") or {})
    seconds = sum(each.get("seconds") or 0.0 for each in answers)
    info = {**(last.get("info") or {}), "runs": single}
    return {**last, "metrics": metrics, "counters": counters, "seconds": seconds, "info": info}


class LaunchSession:
    """The ranks' session as the runner sees it.

    Launched anew as the launch says. Ranks that don't answer never will: one is stopped, or waits for a message that
    was lost. They are ended, and the error says which ones did not run.
    """

    def __init__(self, world: World, launch: Launch) -> None:
        self._world, self._launch = world, launch
        self._turns, self._failed = Turns(launch.how), False
        self._thread = ThreadPoolExecutor(1, "wulf-mpi")
        self._bound: list[int] | None = None
        self.launches = 1

    @property
    def alive(self) -> bool:
        """Where launches are not shared, one that died costs no other."""
        return self._world.session.alive if self._launch.how == SHARED else not self._failed

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask rank 0; the future fails with a NodeError, also where the launch does."""
        if op != "run":
            return self._world.session.call(op, **fields)
        return self._thread.submit(self._run, fields["probe"], fields["params"])

    def keep(self, probe: str, params: Mapping[str, Any]) -> None:
        """As `Turns.keep`."""
        self._turns.keep(probe, params)

    def bind(self, cpus: Sequence[int]) -> None:
        """Have each rank stay on its CPU, by rank; those of later launches, too."""
        self._bound = list(cpus)
        self._bind()

    def close(self) -> None:
        """Nothing is asked any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _bind(self) -> None:
        if self._bound is not None:
            self._world.session.call("bind", cpus=self._bound).result(timeout=BIND_TIMEOUT)

    def _run(self, probe: str, params: Mapping[str, Any]) -> dict[str, Any]:
        over = self._turns.over(probe, params)
        if over or (self._launch.how != SHARED and not self._world.session.alive):
            self._renew()
        answers = [self._once(probe, params) for _ in range(self._launch.runs)]
        return middle(answers) if len(answers) > 1 else answers[0]

    def _once(self, probe: str, params: Mapping[str, Any]) -> dict[str, Any]:
        spent = sum(float(params.get(name) or 0.0) for name in ("seconds", "warmup_seconds"))
        try:
            ranks = len(self._world.places)
            return self._world.run(probe, params, spent + work_seconds(probe, params, ranks) + hung_after(ranks))
        except (RequestError, SessionLost):
            raise
        except NodeError:
            self._world.close()
            raise

    def _renew(self) -> None:
        self._failed = True
        self._world.relaunch()
        self._bind()
        self._failed = False
        self.launches += 1


class NetworkSession:
    """The sessions of several launches as one: whose a run is stands in its parameters, under `network`.

    Parameters
    ----------
    sessions
        By network; each launch's own program hears nothing of it.
    """

    def __init__(self, sessions: Mapping[str, ProbeSession]) -> None:
        self._sessions = sessions

    @property
    def alive(self) -> bool:
        """While all are: blocks hold every network."""
        return all(session.alive for session in self._sessions.values())

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask the network's; what is no run is asked of one that is gone, where there is one: it says why."""
        if op != "run":
            gone = (session for session in self._sessions.values() if not session.alive)
            return next(gone, next(iter(self._sessions.values()))).call(op, **fields)
        params = dict(fields["params"])
        return self._sessions[params.pop(NETWORK)].call(op, **{**fields, "params": params})


def hung_after(ranks: int) -> float:
    """Seconds beyond the measuring time after which so many ranks count as hung."""
    return HUNG_SECONDS + HUNG_SECONDS_A_RANK * ranks


def launch_finding(version: str, places: Sequence[str], launches: int, *, how: str) -> Finding:
    """What was launched, and what that means for the intervals."""
    if how == SHARED:
        told = (
            "All replicates ran within one launch: intervals are of this launch alone, and don't hold what changes "
            "from launch to launch; `--launch blocks` measures that."
        )
    else:
        what = "replicate" if how == EACH else "block of replicates"
        told = f"Every {what} had a launch of its own ({launches}): intervals hold what changes between launches."
    return Finding(
        kind=LAUNCH, severity=Severity.INFO, subject="",
        text=f"{version}: {len(places)} {'rank' if len(places) == 1 else 'ranks'}, {ranks_text(places)}. {told}",
        about={"places": list(places), "mpi": version, "launch": how, "launches": launches},
    )  # fmt: skip


def ranks_text(places: Sequence[str]) -> str:
    """`0-1 on n1, 2-3 on n2`; of many nodes the first and the last."""
    runs = []
    for node, members in groupby(enumerate(places), key=lambda item: item[1]):
        numbers = [rank for rank, _ in members]
        shown = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
        runs.append(f"{shown} on {node}")
    if len(runs) > MOST_PLACES:
        return f"{', '.join(runs[: MOST_PLACES - 1])} … {runs[-1]}"
    return ", ".join(runs)
