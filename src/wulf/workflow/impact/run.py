"""`wulf impact`: what a change of settings, links or network is worth to an application; then all is undone."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from wulf import lab as labs
from wulf.apps.driver import Job
from wulf.apps.ran import WALL, Ran
from wulf.cluster.access import Access, access_to
from wulf.cluster.addresses import data_addresses
from wulf.cluster.applications import Applications, Executable, common_program, open_applications
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import Installed
from wulf.cluster.mpi.spec import layout
from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK, UsageError, WulfError
from wulf.core.pattern import Pattern
from wulf.lab import Lab
from wulf.measure.engine.ends import Servers
from wulf.measure.engine.plan import Plan
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.mpi.probes import folded
from wulf.model.impact import AFTER, BEFORE, VOID, FigureRow, Quantity, figures_of, impact_of
from wulf.report.impact.outcome import OUTCOME
from wulf.store.run import RunWriter
from wulf.tune.campaign.plan import CONFIRM_SECONDS, DELTA
from wulf.tune.setting import Aim
from wulf.workflow.app.run import AppRequest, run_once
from wulf.workflow.engine.connect import Connected, connect
from wulf.workflow.engine.done import Done
from wulf.workflow.impact.arms import BLOCKS, LinkArms, NetworkArms, SettingsArms, stage_of
from wulf.workflow.impact.measure import ArmsYardstick, ImpactMeasure, Yardstick, figure_of
from wulf.workflow.impact.profile import Profiled, Run, Take, open_profiler
from wulf.workflow.impact.result import figures_object, impact_object
from wulf.workflow.tune.campaign import CampaignState
from wulf.workflow.tune.measures import NET, REPLICATES, NetMeasure
from wulf.workflow.tune.nodes import Nodes
from wulf.workflow.tune.prepare import CampaignRequest, Prepared, prepare, read_all
from wulf.workflow.tune.result import differences
from wulf.workflow.tune.run import check_own_network, opened

RTT, STREAM = Quantity("ping-pong, TCP round trip", "s"), Quantity("stream, TCP", "B/s", lower_is_better=False)
NETWORK = {RTT: NET[Aim.LATENCY], STREAM: NET[Aim.THROUGHPUT]}
"""The network's own figures, measured in every visit."""

Yardsticks = Mapping[Quantity, Yardstick]
Links = tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(frozen=True)
class ImpactRequest:
    """What the user asked for.

    Attributes
    ----------
    application, unit, higher
        What is run, and its figure's unit and better direction where it has one of its own.
    settings
        As --settings has them, one value each; None: something else is changed.
    links
        Of a lab, before and after; None: something else is changed.
    networks
        That the nodes have, as CIDR, before and after; None: something else is changed.
    answer
        A pattern for what of the output must be the same in both arms.
    profile
        Whether a run of each arm is profiled.
    domain
        Of the application; None where nobody has said it.
    """

    application: AppRequest
    settings: str | None = None
    links: Links | None = None
    networks: tuple[str, str] | None = None
    aim: Aim = Aim.LATENCY
    unit: str = "s"
    higher: bool = False
    answer: Pattern | None = None
    profile: bool = True
    blocks: int = BLOCKS
    delta: float = DELTA
    seed: int = 0
    domain: str | None = None


@dataclass(frozen=True)
class Ready:
    """An application that can be run: the callable, and what is known of it.

    Attributes
    ----------
    ranks
        How many; None where a command starts them by itself, or has none.
    """

    run: Run
    command: str
    program: str | None
    mpi: Installed | None
    ranks: int | None
    subject: str
    notes: tuple[str, ...] = ()


Joined = Callable[[Ready, Yardsticks], tuple[Ready, Yardsticks]]


@dataclass
class _Stand:
    """Where an impact is measured, for the length of a campaign."""

    measure: ImpactMeasure
    ready: Ready
    about: dict[str, Any] = field(default_factory=dict)


def impact(inventory: Inventory, request: ImpactRequest, writer: RunWriter, *, watch: Watcher = UNWATCHED) -> Done:
    """Measure before and after in interleaved blocks; the run's folder holds all, however it ends.

    Raises
    ------
    UsageError
        Nothing is to be changed, or what is can't be changed here.
    """
    changes = {_with_settings: request.settings, _with_links: request.links, _with_networks: request.networks}
    wanted = [carried for carried, change in changes.items() if change is not None]
    if len(wanted) != 1:
        raise UsageError("one change is measured", "give --settings NAME=VALUE,…, --links A B or --networks A B")
    (carried,) = wanted
    told, stand, more = carried(inventory, request, writer, watch)
    found = impact_of(stand.measure.visits, stand.measure.quantities, blocks=request.blocks, delta=request.delta)
    result = {
        "run": writer.id, "nodes": list(inventory.names), "application": stand.ready.command, "domain": request.domain,
        "ranks": stand.ready.ranks, "mpi": stand.ready.mpi.title if stand.ready.mpi else None,
        "blocks": request.blocks, "seed": request.seed, "delta": request.delta, **stand.about, **more,
        **impact_object(found, told, stand.measure.profiles),
        **figures_object(_figures(request, stand.measure), request.application.titles, found.claim == VOID),
    }  # fmt: skip
    result["notes"] = [*stand.ready.notes, *told.notes, *stand.measure.notes]
    code = exit_code_of(told, result)
    plan = Plan(tuple(stand.measure.cells), request.seed, 1.0, looks=(REPLICATES,))
    writer.write_json("plan.json", plan.to_json())
    writer.write_json("impact.json", result | {"exit_code": code})
    writer.write_findings([])
    writer.finish(told.state, exit_code=code, headline=OUTCOME.view(result).headline)
    OUTCOME.write(result, writer.path / "report.html")
    return Done(result | {"exit_code": code}, writer.path, code)


def _figures(request: ImpactRequest, measure: ImpactMeasure) -> tuple[FigureRow, ...]:
    """The application's own figures, where it has several; differences are claimed of those that its driver names."""
    leading = request.application.leading or [one.name for one in measure.figures if one.name != WALL]
    return figures_of(measure.visits, measure.figures, leading, blocks=request.blocks, delta=request.delta)


def exit_code_of(told: CampaignState, result: Mapping[str, Any]) -> int:
    """0 measured and undone; 1 void, or not all as before; 3 a node was lost, or no run ended well; 130 interrupted."""
    if told.state == "interrupted":
        return INTERRUPTED
    if told.state == "failed" or any(one.outcome == "unknown" for one in told.leftovers):
        return INCOMPLETE
    undone = not told.leftovers and result.get("same", True) is not False
    wrong = any("wrong" in some for some in result["failed"].values())
    if undone and not wrong and not any(result["rows"][0]["n"].values()):
        return INCOMPLETE
    return OK if undone and result["claim"] != "void" else FOUND


# Settings, by the campaign's machinery: canary, change protocol, everything taken back.


def _with_settings(
    inventory: Inventory, request: ImpactRequest, writer: RunWriter, watch: Watcher
) -> tuple[CampaignState, _Stand, dict[str, Any]]:
    check_own_network(inventory)
    servers: Servers = {}
    with (
        access_to(inventory) as access,
        opened(access, writer.id, watch, CONFIRM_SECONDS, servers) as (connected, nodes),
    ):
        prepared = prepare(inventory, _as_tuned(request), connected, nodes)
        campaign = replace(prepared.campaign, blocks=request.blocks, keep=False)
        _check_levels(prepared)
        stage_of({}, request.blocks, request.seed)
        with _standing(access, request, connected, writer, servers, watch=watch) as stand:
            watch.say("trying the change on one node first")
            conductor = SettingsArms(
                campaign, prepared.catalogue, nodes, stand.measure, prepared.readings,
                kernels=prepared.kernels, watch=watch,
            )  # fmt: skip
            told = conductor.run()
        after = _read_again(nodes, prepared, told)
        differ = differences(prepared.dump, after, []) if after is not None else []
    told.notes[:0] = [*campaign.selection.notes, *prepared.notes]
    changes = [{"name": one.name, "before": [v for v, _ in one.now], "after": list(one.to)} for one in prepared.planned]
    omitted = [{"name": one.name, "reason": one.reason} for one in campaign.selection.omitted]
    return told, stand, {
        "kind": "settings", "changes": changes, "omitted": omitted, "same": None if after is None else not differ,
        "differ": differ,
    }  # fmt: skip


def _read_again(nodes: Nodes, prepared: Prepared, told: CampaignState) -> dict[str, dict[str, Any]] | None:
    """All settings after everything was taken back; None where a node does not answer any more, which is said."""
    try:
        return read_all(nodes, prepared.catalogue)
    except WulfError as error:
        told.notes.append(f"Whether all settings are as before is not known: {error.what}")
        return None


def _as_tuned(request: ImpactRequest) -> CampaignRequest:
    """The request as a campaign's preparation takes it."""
    return CampaignRequest(
        request.aim, request.settings, measure="app", command=(request.application.name,), seed=request.seed,
        delta=request.delta, keep=False,
    )  # fmt: skip


def _check_levels(prepared: Prepared) -> None:
    many = [factor.name for factor in prepared.campaign.selection.factors if len(factor.levels) > 1]
    if many:
        raise UsageError(
            f"{', '.join(many)} would have several values after the change",
            "name one value each: --settings nic.mtu=9000; `wulf tune` finds the best of several",
        )


# Links of a lab.


def _with_links(
    inventory: Inventory, request: ImpactRequest, writer: RunWriter, watch: Watcher
) -> tuple[CampaignState, _Stand, dict[str, Any]]:
    assert request.links is not None  # noqa: S101 - the caller has looked
    running = _lab_of(inventory)
    stage = stage_of({}, request.blocks, request.seed)
    arms = LinkArms(running, inventory.names, request.links, stage, watch=watch)
    try:
        arms.switch(BEFORE)  # an emulated link's devices are made now, before there are connections over them
        with access_to(inventory) as access, connect(access, watch.say) as connected:
            for error in connected.failed.values():
                raise error
            with _standing(access, request, connected, writer, {}, watch=watch) as stand:
                told = arms.run(stand.measure)
    finally:
        arms.restore()
    shown = [", ".join(f"{name} {value}" for name, value in one.items()) for one in request.links]
    return told, stand, {"kind": "links", "changes": [{"name": "links", "before": [shown[0]], "after": [shown[1]]}]}


def _lab_of(inventory: Inventory) -> Lab:
    found = labs.find(inventory.lab) if inventory.lab is not None else None
    if found is None:
        raise UsageError("only a lab's links can be changed by --links", "use --lab, or --settings on real nodes")
    return found


# Networks of the nodes.


def _with_networks(
    inventory: Inventory, request: ImpactRequest, writer: RunWriter, watch: Watcher
) -> tuple[CampaignState, _Stand, dict[str, Any]]:
    assert request.networks is not None  # noqa: S101 - the caller has looked
    before, after = request.networks
    arms = NetworkArms((before, after), stage_of({}, request.blocks, request.seed), watch=watch)
    application = replace(request.application, spec=replace(request.application.spec, tcp=True))
    request = replace(request, application=application)
    with access_to(inventory) as access, connect(access, watch.say) as connected, ExitStack() as stack:
        for error in connected.failed.values():
            raise error
        accesses = {arm: access.on(network) for arm, network in arms.networks.items()}
        agents = stack.enter_context(access.every_agent())
        there = {
            arm: replace(connected, addresses=data_addresses(own.inventory, agents)) for arm, own in accesses.items()
        }

        def with_other(ready: Ready, sticks: Yardsticks) -> tuple[Ready, Yardsticks]:
            """What is measured over the first network joined with the same over the second."""
            if ready.mpi is None:
                raise UsageError(
                    "a command that runs once on the first node chooses its network by itself",
                    "have wulf start its ranks: --ranks, --per-node or --mpi",
                )
            apps = stack.enter_context(open_applications(accesses[AFTER], application.spec, watch.say))
            runs = {BEFORE: ready.run, AFTER: ready_of(apps, application).run}
            others = _yardsticks(there[AFTER], writer, {})
            joined = {one: ArmsYardstick({BEFORE: stick, AFTER: others[one]}) for one, stick in sticks.items()}

            def run(environment: Mapping[str, str]) -> Ran:
                return runs[arms.arm](environment)

            return replace(ready, run=run), joined

        with _standing(accesses[BEFORE], request, there[BEFORE], writer, {}, watch=watch, joined=with_other) as stand:
            told = arms.run(stand.measure)
    changes = [{"name": "network", "before": [before], "after": [after]}]
    return told, stand, {"kind": "networks", "changes": changes}


# The application, and what is measured beside it.


@contextmanager
def _standing(
    access: Access, request: ImpactRequest, connected: Connected, writer: RunWriter, servers: Servers, *,
    watch: Watcher, joined: Joined = lambda ready, sticks: (ready, sticks),
) -> Iterator[_Stand]:  # fmt: skip
    """The application found, and everything measured, for the length of the block.

    Parameters
    ----------
    joined
        Makes of the application and the yardsticks those that are measured.
    """
    writer.write_json("fingerprint.json", connected.fingerprint)
    wanted = request.application
    with ExitStack() as stack:
        apps = stack.enter_context(open_applications(access, wanted.spec, watch.say))
        for error in apps.failed.values():
            raise error
        watch.say(f"looking for {wanted.name}")
        ready = ready_of(apps, wanted)
        take = stack.enter_context(_profiler(access, apps, ready, request, watch)) if request.profile else None
        connected.settled()
        ready, sticks = joined(ready, _yardsticks(connected, writer, servers))
        yield _Stand(
            ImpactMeasure(
                ready.run, figure_of(wanted.main, request.unit, higher=request.higher), sticks, writer,
                take=take, answer=request.answer, subject=ready.subject, command=ready.command,
            ),
            ready,
        )  # fmt: skip


def _yardsticks(connected: Connected, writer: RunWriter, servers: Servers) -> Yardsticks:
    """The network's own figures; a node alone has none."""
    several = len(connected.sessions) > 1
    measured = {quantity: NetMeasure(connected, writer, what, None, servers) for quantity, what in NETWORK.items()}
    return dict(measured) if several else {}


@contextmanager
def _profiler(
    access: Access, apps: Applications, ready: Ready, request: ImpactRequest, watch: Watcher
) -> Iterator[Take]:
    """What takes profiles; nodes without an MPI can't build it, and run what needs none."""
    try:
        mpi = ready.mpi or apps.mpi_for(None, request.application.spec)
    except UsageError as error:
        why = error.what
        yield lambda _run: Profiled(None, why)
        return
    with open_profiler(access, mpi, ready.program, watch.say) as take:
        yield take


def ready_of(apps: Applications, wanted: AppRequest) -> Ready:
    """Find the application's program and its MPI.

    Raises
    ------
    UsageError
        It is not on the nodes, or not at one place on all of them.
    """
    places = layout(apps.nodes, wanted.spec)
    job = wanted.job("", len(places))
    program = _program(apps, wanted, everywhere=job.mpi)
    if program is not None:
        job = wanted.job(program.path, len(places))
    command = shlex.join(job.command)
    if not job.mpi:
        return Ready(_runner(apps, wanted, job, None), command, None, None, None, apps.nodes[0])
    mpi = apps.mpi_for(program, wanted.spec)
    notes = apps.launch_words(job, wanted.spec, mpi).notes
    subject = folded(list(dict.fromkeys(places)))
    return Ready(_runner(apps, wanted, job, mpi), command, job.command[0], mpi, len(places), subject, tuple(notes))


def _program(apps: Applications, wanted: AppRequest, *, everywhere: bool) -> Executable | None:
    if not wanted.programs:
        return None
    found = apps.find(wanted.programs, list(apps.nodes) if everywhere else [apps.nodes[0]])
    return common_program(found, wanted.programs, wanted.name)


def _runner(apps: Applications, wanted: AppRequest, job: Job, mpi: Installed | None) -> Run:
    """One run, with further variables."""

    def run(environment: Mapping[str, str]) -> Any:
        this = replace(job, environment={**job.environment, **environment})
        return run_once(apps, this, wanted.read, wanted.main, spec=wanted.spec, mpi=mpi)

    return run
