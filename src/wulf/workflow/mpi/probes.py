"""MPI's probes: ranks launched beside the nodes' own sessions, and cells that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import World, open_world
from wulf.cluster.mpi.world import START_TIMEOUT
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import MPI, Pattern, Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.mpi.probes import SHARED, mpi_probe, subject_of, work_seconds
from wulf.store.run import RunWriter
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.measuring import RANKS, Effort, Outcome, measure, write_html
from wulf.workflow.mpi.launching import Launch, LaunchSession, hung_after, launch_finding

LANE = "mpi"
"""All ranks are one program: what they measure is never measured at the same time."""

BARRIER = "barrier"

CROWDED = (
    "There are more ranks than CPUs: they can't begin at an agreed time, so that a barrier let them go "
    "(start=barrier); the time is from the first rank's start to the last one's end."
)

END_SECONDS = 60.0
"""To find out which ranks don't run, and to end them."""


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
        self._session: LaunchSession | None = None
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
        self._connected, self._session = connected, LaunchSession(world, self._launch)
        self.places = tuple(world.places)
        self.version, self.kind = world.installed.title, world.installed.kind
        self.about = {
            "mpi": world.installed.name, "ranks": len(self.places), "per_node": self._launch.spec.per_node,
            "launch": self._launch.how,
        }  # fmt: skip
        if self._launch.runs > 1:
            self.about["runs"] = self._launch.runs
        if self._launch.spec.starter != "mpirun":
            self.about["starter"] = self._launch.spec.starter
        connected.notes += world.notes

    def cell(
        self, number: int, probe: Probe, name: str, params: Mapping[str, Param], phase: str = "single", *,
        within: bool = False,
    ) -> Cell:  # fmt: skip
        """A cell that the ranks measure; it never runs at the same time as another of theirs.

        Parameters
        ----------
        within
            All its replicates are to be of the launch that there is, as its records then say.

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
        ranks = len(self.places)
        longer = self._launch.runs * work_seconds(name, checked, ranks) + hung_after(ranks) + END_SECONDS
        if self._launch.how != SHARED:
            spent = sum(float(checked.get(which) or 0.0) for which in ("seconds", "warmup_seconds"))
            longer += START_TIMEOUT + (self._launch.runs - 1) * spent
        about = {**self.about, "ranks": wanted or self.about["ranks"]}
        if within:
            self._session.keep(name, checked)
            about["launch"] = SHARED
        return Cell(
            number, subject, subject, "", name, checked, pattern.metrics, phase, program=MPI, about=about,
            patience=longer,
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
        self._session.bind(cpus)

    def enough(self, pattern: Pattern) -> bool:
        """Whether, after nodes failed, there are still as many ranks as the probe needs."""
        return bool(self.places) and len(self.places) >= pattern.least_ranks

    def findings(self) -> list[Finding]:
        """Which MPI ran on which nodes, and what the replicates have in common; nothing where none was launched."""
        if self._session is None:
            return []
        notes = [Finding(kind="note", severity=Severity.INFO, subject="", text=text) for text in self.notes]
        return [launch_finding(self.version, self.places, self._session.launches, how=self._launch.how), *notes]


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
    """Measure one probe of wulf-mpi with parameters that were checked; several times within each launch of its own."""

    def make(ranks: Ranks, probe: Probe) -> Sequence[Cell]:
        return [ranks.cell(0, probe, name, params)]

    needs = mpi_probe().pattern(name)
    return campaign(inventory, launch.alone, effort, writer, seed, make=make, needs=needs, watch=watch)
