"""`wulf tune`: which settings make these nodes faster, tried one by one and together, and undone again."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from wulf.cluster.access import Access, access_to
from wulf.cluster.inventory import Inventory
from wulf.cluster.programs import agent_program
from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK, UsageError, WulfError
from wulf.measure.engine.ends import Servers
from wulf.measure.engine.plan import Plan
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.measure.mpi.probes import EACH, mpi_probe
from wulf.report.tune.outcome import OUTCOME
from wulf.store.run import RunWriter
from wulf.tune.campaign.plan import lease_of
from wulf.tune.kept import FILE as KEPT_FILE
from wulf.tune.kept import KeptSettings
from wulf.workflow.engine.connect import Connected, connect
from wulf.workflow.engine.done import Done
from wulf.workflow.mpi.probes import Ranks
from wulf.workflow.tune.campaign import CampaignState, Conductor
from wulf.workflow.tune.measures import NET, REPLICATES, AppMeasure, MpiMeasure, NetMeasure, NetReach
from wulf.workflow.tune.nodes import Nodes
from wulf.workflow.tune.prepare import CampaignRequest, Prepared, metric_of, prepare, read_all
from wulf.workflow.tune.result import differences, result_object


def plan_only(inventory: Inventory, request: CampaignRequest, *, watch: Watcher = UNWATCHED) -> Prepared:
    """The dry run: reads the nodes, changes nothing."""
    with access_to(inventory) as access, opened(access, "plan", watch, request.confirm) as (connected, nodes):
        return prepare(inventory, request, connected, nodes)


def tune(inventory: Inventory, request: CampaignRequest, writer: RunWriter, *, watch: Watcher = UNWATCHED) -> Done:
    """The campaign; the run's folder holds what was found and what was kept, however it ends."""
    check_own_network(inventory)
    servers: Servers = {}
    with (
        access_to(inventory) as access,
        opened(access, writer.id, watch, request.confirm, servers) as (connected, nodes),
        ExitStack() as attached,
    ):
        writer.write_json("fingerprint.json", connected.fingerprint)
        prepared = prepare(inventory, request, connected, nodes)
        writer.write_json("settings-before.json", _sorted(prepared.dump))
        measure = attached.enter_context(_measure(access, request, connected, writer, servers))
        connected.settled()
        watch.say("trying every change on one node first")
        conductor = Conductor(
            prepared.campaign, prepared.catalogue, nodes, measure, prepared.readings,
            kernels=prepared.kernels, watch=watch,
        )  # fmt: skip
        told = conductor.run()
        told.notes[:0] = [*prepared.campaign.selection.notes, *prepared.notes]
        plan = Plan(tuple(measure.cells), request.seed, 1.0, looks=(REPLICATES,))
        writer.write_json("plan.json", plan.to_json())
        return _finished(writer, prepared, told, nodes)


def check_own_network(inventory: Inventory) -> None:
    """Raises UsageError for nodes that are names alone: a change would be this machine's."""
    if inventory.lab is not None and inventory.ssh_config is None:
        raise UsageError(
            "the nodes of this lab have no namespaces: a change would be this machine's", "use a lab of namespaces"
        )


def _finished(writer: RunWriter, prepared: Prepared, told: CampaignState, nodes: Nodes) -> Done:
    """Dump the settings again, compare, and write what was found."""
    result = result_object(writer.id, prepared.campaign, prepared.catalogue, told)
    result["dumps"] = _compared(writer, prepared, told, nodes)
    code = exit_code_of(told, result["dumps"])
    writer.write_json("campaign.json", result | {"exit_code": code})
    kept = KeptSettings.model_validate({"campaign": writer.id, "kept": result["kept"]})
    writer.write_json(KEPT_FILE, kept.model_dump(mode="json"))
    writer.write_findings([])
    writer.finish(told.state, exit_code=code, headline=OUTCOME.view(result).headline)
    OUTCOME.write(result, writer.path / "report.html")
    return Done(result | {"exit_code": code}, writer.path, code)


def _compared(writer: RunWriter, prepared: Prepared, told: CampaignState, nodes: Nodes) -> dict[str, Any]:
    """Whether all settings are as they were, but for those kept; of nodes that still answer."""
    try:
        after = read_all(nodes, prepared.catalogue)
    except WulfError as error:
        return {"same": None, "reason": str(error), "differ": []}
    writer.write_json("settings-after.json", _sorted(after))
    differ = differences(prepared.dump, after, told.kept)
    return {"same": not differ, "reason": "", "differ": differ}


def exit_code_of(told: CampaignState, dumps: Mapping[str, Any]) -> int:
    """0 well; 1 settings are not as they were, and nobody kept them; 3 a node was lost; 130 interrupted."""
    if told.state == "interrupted":
        return INTERRUPTED
    if told.state == "failed" or any(one.outcome == "unknown" for one in told.leftovers):
        return INCOMPLETE
    return FOUND if told.leftovers or not dumps["same"] else OK


@contextmanager
def opened(
    access: Access, campaign: str, watch: Watcher, confirm: float, servers: Servers | None = None
) -> Iterator[tuple[Connected, Nodes]]:
    """The probes, and the agents' sessions, on all nodes.

    Raises
    ------
    NodeError
        One of them does not answer: a campaign needs all its nodes.
    """
    with connect(access, watch.say) as connected:
        for error in connected.failed.values():
            raise error
        program, inventory = replace(agent_program(), root=True), access.inventory
        nodes = Nodes(
            inventory.names, lambda names: access.launcher.open(inventory.pick(names), program), campaign, _who(),
            reach=NetReach(connected, {} if servers is None else servers),
            confirm=confirm, lease=lease_of(confirm),
        )  # fmt: skip
        nodes.open()
        try:
            yield connected, nodes
        finally:
            nodes.close()


@contextmanager
def _measure(
    access: Access, request: CampaignRequest, connected: Connected, writer: RunWriter, servers: Servers
) -> Iterator[Any]:
    """What measures a configuration, for the length of the block."""
    if request.measure == "app":
        yield AppMeasure(request.command, metric_of(request), writer, figure=request.figure, timeout=request.timeout)
    elif request.measure == "mpi":
        ranks = Ranks(replace(request.launch, how=EACH))
        with ranks(connected, access):
            yield MpiMeasure(ranks, mpi_probe(), connected, writer, request.size)
    else:
        yield NetMeasure(connected, writer, NET[request.aim], request.size, servers)


def _who() -> str:
    return f"{getpass.getuser()}@{socket.gethostname()}"


def _sorted(dump: Mapping[str, Any]) -> dict[str, Any]:
    """Keys in order, so that equal settings make equal files."""
    return {key: _sorted(value) if isinstance(value, Mapping) else value for key, value in sorted(dump.items())}
