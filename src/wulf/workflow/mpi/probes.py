"""MPI's probes: ranks launched beside the nodes' own sessions, and cells that all of them share."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from wulf.cluster.access import Access
from wulf.cluster.mpi import World, open_world
from wulf.cluster.mpi.world import START_TIMEOUT
from wulf.core.errors import UsageError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Param, Record
from wulf.measure.engine.ends import ProbeSession
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import MPI, Pattern, Probe
from wulf.measure.mpi.farm import NETWORK
from wulf.measure.mpi.probes import SHARED, mpi_probe, subject_of, work_seconds
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Beside, Conditions, Judgement, Study
from wulf.workflow.mpi.launching import Launch, LaunchSession, NetworkSession, hung_after, launch_finding

LANE = "mpi"
"""All ranks are one program: what they measure is never measured at the same time."""

RANKS = "ranks on one machine share its CPUs"

BARRIER = "barrier"

CROWDED = (
    "There are more ranks than CPUs: they can't begin at an agreed time, so that a barrier let them go "
    "(start=barrier); the time is from the first rank's start to the last one's end."
)

END_SECONDS = 60.0
"""To find out which ranks don't run, and to end them."""


class Ranks:
    """The ranks of one run: a study attaches them once the nodes have answered.

    Parameters
    ----------
    say
        Told what happens, for the progress line.
    """

    def __init__(self, launch: Launch, say: Callable[[str], None] = lambda _: None) -> None:
        self._launch, self._say = launch, say
        self._connected: Connected | None = None
        self._session: LaunchSession | None = None
        self.beside = Beside()
        self.places: tuple[str, ...] = ()
        self.about: dict[str, Param] = {}
        self.version = ""
        self.kind = ""
        self.notes: dict[str, None] = {}

    @contextmanager
    def __call__(self, connected: Connected, access: Access) -> Iterator[None]:
        """Ranks on the nodes that answered, for the length of the block; none where no node did."""
        if not connected.sessions:
            yield
            return
        with open_world(access.pick(connected.sessions), self._launch.spec, self._say) as world:
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
        self.beside.notes += world.notes

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
        assert self._session is not None  # noqa: S101 - only within the block
        pattern = probe.pattern(name)
        checked = self._startable(pattern, probe.check(name, "", params))
        try:
            subject = subject_of(pattern, checked, self.places)
        except IndexError as error:
            raise UsageError(f"{name}: {error}", "name more nodes, or give --per-node or --ranks") from error
        self.beside.sessions.setdefault(MPI, {})[subject] = self._session
        self.beside.lanes[subject] = LANE
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


class NetworkRanks(Ranks):
    """The ranks of several launches, each over one of the nodes' networks, that share cells and blocks.

    Those that are not asked are asleep. Which are meant stands in a cell's parameters, under `network`.
    """

    def __init__(self, launch: Launch, networks: Sequence[str], say: Callable[[str], None] = lambda _: None) -> None:
        launch = replace(launch, spec=replace(launch.spec, tcp=True))
        super().__init__(launch, say)
        self._each = {network: Ranks(launch, say) for network in networks}
        self._shared: dict[str, ProbeSession] = {}

    @contextmanager
    def __call__(self, connected: Connected, access: Access) -> Iterator[None]:
        """As `Ranks`, over each network."""
        with ExitStack() as stack:
            for network, ranks in self._each.items():
                stack.enter_context(ranks(connected, access.on(network)))
            first = next(iter(self._each.values()))
            self.places, self.notes = first.places, first.notes
            self.beside.notes += first.beside.notes
            yield

    def cell(
        self, number: int, probe: Probe, name: str, params: Mapping[str, Param], phase: str = "single", *,
        within: bool = False,
    ) -> Cell:  # fmt: skip
        """As of `Ranks`, with `network` among the parameters."""
        own = {key: value for key, value in params.items() if key != NETWORK}
        network = str(params[NETWORK])
        ranks = self._each[network]
        cell = ranks.cell(number, probe, name, own, phase, within=within)
        self._shared[network] = ranks.beside.sessions[MPI][cell.subject]
        self.beside.sessions.setdefault(MPI, {})[cell.subject] = NetworkSession(self._shared)
        self.beside.lanes[cell.subject] = LANE
        return replace(cell, params={**cell.params, NETWORK: network})

    def findings(self) -> list[Finding]:
        """Those of the first network: the others' ranks stand likewise."""
        return next(iter(self._each.values())).findings()


class RanksStudy(Study):
    """Cells that all ranks share.

    Parameters
    ----------
    needs
        The probe that needs the most ranks.
    ranks
        Those of a kind of their own; None: as `launch` says.

    Raises
    ------
    UsageError
        There would be too few ranks for the probe: before any node is touched.
    """

    how = RANKS

    def __init__(self, given: Conditions, launch: Launch, needs: str, ranks: Ranks | None = None) -> None:
        super().__init__(given)
        self.needs = mpi_probe().pattern(needs)
        launch.check(self.needs, len(given.inventory.nodes))
        self.ranks = ranks or Ranks(launch, given.watch.say)
        self.beside = self.ranks.beside

    def attach(self, connected: Connected, access: Access) -> AbstractContextManager[None]:
        """The ranks."""
        return self.ranks(connected, access)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """What the ranks measure, where there are enough of them."""
        return self.shared(mpi_probe()) if self.ranks.enough(self.needs) else ()

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What follows, and where the ranks ran."""
        more, findings = self.conclude(records)
        return more, [*findings, *self.ranks.findings()]

    @abstractmethod
    def shared(self, probe: Probe) -> Sequence[Cell]:
        """The cells, once the ranks are there."""

    def conclude(self, records: Sequence[Record]) -> Judgement:
        """As `judge`, but for the launch."""
        return [], []


class RanksProbe(RanksStudy):
    """One probe of wulf-mpi with parameters that were checked; several times within each launch of its own."""

    def __init__(self, given: Conditions, launch: Launch, name: str, params: Mapping[str, Param]) -> None:
        super().__init__(given, launch.alone, name)
        self._params = params

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """The one cell."""
        return [self.ranks.cell(0, probe, self.needs.name, self._params)]
