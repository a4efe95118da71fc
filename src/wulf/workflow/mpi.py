"""MPI's probes: ranks launched beside the nodes' own sessions, and cells that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import World, WorldSpec, open_world
from wulf.cluster.session import RequestError, SessionLost
from wulf.core.errors import NodeError, UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.measure.mpi import EACH, SHARED, mpi_probe, subject_of, work_seconds
from wulf.measure.plan import MPI, Cell
from wulf.measure.probes import Pattern, Probe
from wulf.measure.watcher import UNWATCHED, Watcher
from wulf.store.run import RunWriter
from wulf.workflow.connect import Connected
from wulf.workflow.measuring import RANKS, Effort, Outcome, measure, write_html

LANE = "mpi"
"""All ranks are one program: what they measure is never measured at the same time."""

BIND_TIMEOUT = 30.0

BARRIER = "barrier"

CROWDED = (
    "There are more ranks than CPUs: they can't begin at an agreed time, so that a barrier let them go "
    "(start=barrier); the time is from the first rank's start to the last one's end."
)

HUNG_SECONDS, HUNG_SECONDS_A_RANK = 30.0, 0.2
"""Clocks are synchronised and memory is touched before a replicate; with more ranks than CPUs that takes its time."""

END_SECONDS = 60.0
"""To find out which ranks don't run, and to end them."""

MOST_PLACES = 8
"""Nodes whose ranks a sentence names one by one."""


@dataclass(frozen=True)
class Launch:
    """How ranks are started, and how often.

    Attributes
    ----------
    spec
        Ranks, MPI, launcher.
    each
        Anew for every replicate, rather than once: the interval then holds what changes from launch to launch.
    """

    spec: WorldSpec = field(default_factory=WorldSpec)
    each: bool = False

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


class _Session:
    """The ranks' session as the runner sees it.

    Launched anew before a replicate where each has a launch of its own. Ranks that don't answer never will: one is
    stopped, or waits for a message that was lost. They are ended, and the error says which ones did not run.
    """

    def __init__(self, world: World, *, each: bool) -> None:
        self._world, self._each = world, each
        self._fresh, self._failed = True, False
        self._thread = ThreadPoolExecutor(1, "wulf-mpi")
        self.launches = 1

    @property
    def alive(self) -> bool:
        """Where each replicate is launched anew, one that died costs no other."""
        return not self._failed if self._each else self._world.session.alive

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask rank 0; the future fails with a NodeError, also where the launch does."""
        if op != "run":
            return self._world.session.call(op, **fields)
        return self._thread.submit(self._run, fields["probe"], fields["params"])

    def close(self) -> None:
        """Nothing is asked any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, probe: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self._each:
            self._renew()
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
        if not self._fresh:
            self._failed = True
            self._world.relaunch()
            self._failed = False
            self.launches += 1
        self._fresh = False


def hung_after(ranks: int) -> float:
    """Seconds beyond the measuring time after which so many ranks count as hung."""
    return HUNG_SECONDS + HUNG_SECONDS_A_RANK * ranks


class Ranks:
    """The ranks of one run: `measure` attaches them once the nodes have answered.

    Parameters
    ----------
    inventory
        The nodes that were asked for; ranks run on those that answered.
    say
        Told what happens, for the progress line.
    """

    def __init__(self, inventory: Inventory, launch: Launch, say: Callable[[str], None] = lambda _: None) -> None:
        self._inventory, self._launch, self._say = inventory, launch, say
        self._connected: Connected | None = None
        self._session: _Session | None = None
        self.places: tuple[str, ...] = ()
        self.about: dict[str, Param] = {}
        self.version = ""
        self.kind = ""
        self.notes: dict[str, None] = {}

    @contextmanager
    def __call__(self, connected: Connected) -> Iterator[None]:
        """Ranks on the nodes that answered, for the length of the block; none where no node did."""
        if not connected.sessions:
            yield
            return
        nodes = self._inventory.pick(list(connected.sessions))
        with open_world(replace(self._inventory, nodes=nodes), self._launch.spec, self._say) as world:
            self._enter(connected, world)
            try:
                yield
            finally:
                if self._session is not None:
                    self._session.close()

    def _enter(self, connected: Connected, world: World) -> None:
        self._connected, self._session = connected, _Session(world, each=self._launch.each)
        self.places = tuple(world.places)
        self.version, self.kind = world.installed.title, world.installed.kind
        self.about = {
            "mpi": world.installed.name, "ranks": len(self.places), "per_node": self._launch.spec.per_node,
            "launch": EACH if self._launch.each else SHARED,
        }  # fmt: skip
        if self._launch.spec.starter != "mpirun":
            self.about["starter"] = self._launch.spec.starter
        connected.notes += world.notes

    def cell(self, number: int, probe: Probe, name: str, params: Mapping[str, Param], phase: str = "single") -> Cell:
        """A cell that the ranks measure; it never runs at the same time as another of theirs.

        Raises
        ------
        UsageError
            A parameter is wrong, or names a rank that there is not.
        """
        assert self._connected is not None and self._session is not None  # noqa: S101 - only within the block
        pattern = probe.pattern(name)
        checked = self._startable(pattern, probe.check(name, "", params))
        try:
            subject = subject_of(pattern, checked, self.places)
        except IndexError as error:
            raise UsageError(f"{name}: {error}", "name more nodes, or give --per-node or --ranks") from error
        self._connected.others.setdefault(MPI, {})[subject] = self._session
        self._connected.lanes[subject] = LANE
        wanted = checked.get("ranks")
        about = {**self.about, "ranks": wanted or self.about["ranks"]}
        return Cell(
            number, subject, subject, "", name, checked, pattern.metrics, phase, program=MPI, about=about,
            patience=work_seconds(name, checked, len(self.places)) + hung_after(len(self.places)) + END_SECONDS,
        )  # fmt: skip

    def _startable(self, pattern: Pattern, params: dict[str, Param]) -> dict[str, Param]:
        """Where ranks share CPUs, none begins at a given time: a barrier lets them go, unless another way was asked."""
        start = next((spec for spec in pattern.params if spec.name == "start"), None)
        if start is None or BARRIER not in start.choices or "start" in params or not self._crowded():
            return params
        self.notes[CROWDED] = None
        return {**params, "start": BARRIER}

    def _crowded(self) -> bool:
        """Whether a machine has more ranks than CPUs."""
        assert self._connected is not None  # noqa: S101 - only within the block
        machine = {node: self._connected.hosts.get(node, node) for node in self.places}
        ranks = Counter(machine[node] for node in self.places)
        return any(ranks[machine[node]] > (len(self._connected.cpus(node)) or len(self.places)) for node in machine)

    def bind(self, cpus: Sequence[int]) -> None:
        """Have each rank stay on its CPU, by rank."""
        assert self._session is not None  # noqa: S101 - only within the block
        self._session.call("bind", cpus=list(cpus)).result(timeout=BIND_TIMEOUT)

    def enough(self, pattern: Pattern) -> bool:
        """Whether, after nodes failed, there are still as many ranks as the probe needs."""
        return bool(self.places) and len(self.places) >= pattern.least_ranks

    def findings(self) -> list[Finding]:
        """Which MPI ran on which nodes, and what the replicates have in common; nothing where none was launched."""
        if self._session is None:
            return []
        notes = [Finding(kind="note", severity=Severity.INFO, subject="", text=text) for text in self.notes]
        return [launch_finding(self.version, self.places, self._session.launches, each=self._launch.each), *notes]


def launch_finding(version: str, places: Sequence[str], launches: int, *, each: bool) -> Finding:
    """What was launched, and what that means for the intervals."""
    if each:
        how = f"Every replicate had a launch of its own ({launches}): intervals hold what changes between launches."
    else:
        how = (
            "All replicates ran within one launch: intervals don't hold what changes from launch to launch; "
            "`--launch each` measures that."
        )
    return Finding.model_validate(
        {
            "kind": "launch", "severity": Severity.INFO, "subject": "",
            "text": f"{version}: {len(places)} {'rank' if len(places) == 1 else 'ranks'}, {ranks_text(places)}. {how}",
            "places": list(places), "mpi": version, "each": each,
        }
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


Judge = Callable[[Sequence[Record]], tuple[list[Record], list[Finding]]]


def campaign(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    make: Callable[[Ranks, Probe], Sequence[Cell]],
    needs: Pattern,
    together: bool = False,
    extend: Callable[[Sequence[Record], int], tuple[Cell, ...]] | None = None,
    judge: Judge = lambda _: ([], []),
    watch: Watcher = UNWATCHED,
    ranks: Ranks | None = None,
) -> Outcome:
    """Measure cells that all ranks share; report included.

    Parameters
    ----------
    make
        The cells, once the ranks are there.
    needs
        The probe that needs the most ranks.
    together
        No cell ends before all can, so that they may be compared block by block.
    extend, judge
        As `survey.measure` has them.
    ranks
        Those of a kind of their own; None: as `launch` says.
    """
    launch.check(needs, len(inventory.nodes))
    ranks = ranks or Ranks(inventory, launch, watch.say)

    def cells(_: Connected, __: Probe) -> tuple[Cell, ...]:
        return tuple(make(ranks, mpi_probe())) if ranks.enough(needs) else ()

    def judged(records: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        more, findings = judge(records)
        return more, [*findings, *ranks.findings()]

    outcome = measure(
        inventory, cells, effort, writer, seed,
        together=together, extend=extend, judge=judged, attach=ranks, how=RANKS, watch=watch,
    )  # fmt: skip
    write_html(outcome.run)
    return outcome


def single(
    inventory: Inventory,
    launch: Launch,
    effort: Effort,
    writer: RunWriter,
    seed: int,
    *,
    name: str,
    params: Mapping[str, Param],
    watch: Watcher = UNWATCHED,
) -> Outcome:
    """Measure one probe of wulf-mpi with parameters that were checked."""

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        return [ranks.cell(0, probe, name, params)]

    return campaign(inventory, launch, effort, writer, seed, make=make, needs=mpi_probe().pattern(name), watch=watch)
