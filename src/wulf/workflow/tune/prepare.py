"""A campaign before it begins: what was asked for, what the nodes have, and the plan that follows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal

from wulf.agent.settings import mechanisms
from wulf.cluster.inventory import Inventory
from wulf.core.errors import NodeError
from wulf.tune.campaign.arms import DesignName
from wulf.tune.campaign.deciding import CampaignMetric
from wulf.tune.campaign.plan import (
    CONFIRM_SECONDS,
    Campaign,
    Planned,
    blocks_wanted,
    check_design,
    fresh_visits,
    journalled,
    lease_of,
    planned_settings,
    risks,
    seconds_of,
    stages_of,
)
from wulf.tune.campaign.selecting import Criteria, Places, relevant, select
from wulf.tune.catalogue import catalogue
from wulf.tune.setting import Aim, Setting, Value
from wulf.tune.values import Catalogue, parse_settings, request_of, with_networks
from wulf.workflow.engine.connect import Connected
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.tune.measures import NET, REPLICATES, neighbours, net_seconds
from wulf.workflow.tune.nodes import Nodes

ADDRESSES_SECONDS = 30.0

MPI_SECONDS = 2.0 * REPLICATES
"""One measurement: every replicate is a launch."""

APP_SECONDS = 60.0
"""What a program is taken to last, for the estimate, where nobody says."""


@dataclass(frozen=True)
class CampaignRequest:
    """What the user asked for.

    Attributes
    ----------
    settings
        As --settings has them, or by name; None: all that are recommended for the aim.
    confirm
        Seconds that a node waits until a change is confirmed, before it takes it back.
    command, figure, higher, unit
        Of an application: what is run, where its output names a figure, whether more is better, and in what unit.
    size
        Bytes of a message; None: one for a round trip, the probe's own for a stream.
    """

    aim: Aim
    settings: str | Mapping[str, tuple[Value, ...]] | None = None
    measure: Literal["net", "mpi", "app"] = "net"
    command: tuple[str, ...] = ()
    figure: str | None = None
    higher: bool = False
    unit: str = "s"
    timeout: float = 3600.0
    size: int | None = None
    design: DesignName = "auto"
    blocks: int | None = None
    quick: bool = False
    keep: bool = True
    confirm: float = CONFIRM_SECONDS
    seed: int = 0
    delta: float = 0.01
    launch: Launch = field(default_factory=Launch)


@dataclass
class Prepared:
    """A campaign before it begins: nothing was changed yet.

    Attributes
    ----------
    dump
        All readable settings of all nodes.
    readings
        Those that a change would touch.
    """

    campaign: Campaign
    catalogue: Catalogue
    dump: dict[str, dict[str, Any]]
    readings: Mapping[str, Mapping[str, Places]]
    kernels: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    @property
    def planned(self) -> list[Planned]:
        """What each setting is now, and what is tried."""
        return planned_settings(self.campaign, self.catalogue, self.readings)


def plan_object(prepared: Prepared) -> dict[str, Any]:
    """The plan as JSON holds it."""
    campaign, known = prepared.campaign, prepared.catalogue
    stages, planned = stages_of(campaign, known), prepared.planned
    main = stages[-1]
    return {
        "aim": str(campaign.aim), "nodes": list(campaign.nodes), "canary": campaign.canary,
        "measured": campaign.measured, "design": str(main.kind), "blocks": campaign.blocks, "seed": campaign.seed,
        "arms": sum(len(stage.arms) for stage in stages), "keep": campaign.keep,
        "visits": sum(len(stage.steps) for stage in stages) + fresh_visits(campaign),
        "seconds": seconds_of(campaign, stages),
        "order": [main.arms[step.arm].name for step in main.steps if step.block == 0],
        "settings": [asdict(one) for one in planned],
        "omitted": [asdict(one) for one in campaign.selection.omitted],
        "risks": risks(campaign, known), "journalled": journalled(planned),
        "notes": [*campaign.selection.notes, *prepared.notes],
    }  # fmt: skip


def prepare(inventory: Inventory, request: CampaignRequest, connected: Connected, nodes: Nodes) -> Prepared:
    """Read the nodes, and decide what the campaign is.

    Raises
    ------
    UsageError
        Nothing can be changed, or the design can't be measured.
    """
    mine = own_addresses(nodes, connected.addresses)
    known = with_networks(catalogue(), networks_of(mine.values()))
    dump = read_all(nodes, known)
    kernels = tuple(sorted({str(_fact(connected, node, "kernel.release")) for node in nodes.names} - {"None"}))
    wanted = request.settings
    named = parse_settings(wanted, known) if isinstance(wanted, str) else wanted
    criteria = Criteria(request.aim, named, shares_a_machine(inventory, connected), kernels)
    readings = relevant(dump, known, {node: str(one["interface"]) for node, one in mine.items()})
    selection = select(known, criteria, readings)
    campaign = Campaign(
        request.aim, nodes.names, selection, metric_of(request), *_measured_words(request, connected),
        blocks=1, seed=request.seed, design=request.design, keep=request.keep, delta=request.delta,
        confirm=request.confirm, lease=lease_of(request.confirm),
    )  # fmt: skip
    check_design(campaign)
    blocks = blocks_wanted(request.blocks, selection, campaign.alpha, quick=request.quick)
    return Prepared(replace(campaign, blocks=blocks), known, dump, readings, kernels, list(connected.notes))


def metric_of(request: CampaignRequest) -> CampaignMetric:
    """What the campaign judges by."""
    if request.measure == "app":
        name = "seconds" if request.figure is None else "figure"
        return CampaignMetric(name, request.unit, not request.higher)
    return CampaignMetric("rtt", "s") if request.measure == "mpi" else NET[request.aim].metric


def _measured_words(request: CampaignRequest, connected: Connected) -> tuple[str, float]:
    """What is measured in words, and about how long it takes once."""
    if request.measure == "app":
        return f"`{' '.join(request.command)}`", APP_SECONDS
    size = f" of {request.size} B" if request.size else ""
    if request.measure == "mpi":
        return f"MPI ping-pong{size}, launched anew each time", MPI_SECONDS
    what, pairs = NET[request.aim], neighbours(list(connected.sessions))
    told = ", ".join(f"{a} – {b}" for a, b in pairs[:4]) + (" …" if len(pairs) > 4 else "")
    return f"TCP {what.pattern}{size}, {what.metric.name}, between {told}", net_seconds(what, len(pairs))


def read_all(nodes: Nodes, known: Catalogue) -> dict[str, dict[str, Any]]:
    """Every setting that an agent can read and write, on every node; counters and the like change by themselves."""
    ways = mechanisms()
    return nodes.read([request_of(setting) for setting in known.values() if _writable(setting, ways)])


def _writable(setting: Setting, ways: Container[str]) -> bool:
    return setting.mechanism in ways and setting.access != "report"


def own_addresses(nodes: Nodes, known: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Node → its address on the measured network, with interface and prefix; a node that does not say is left out."""
    found: dict[str, dict[str, Any]] = {}
    for node, future in nodes.call("addresses").items():
        with suppress(NodeError, FutureTimeout):
            listed = future.result(timeout=ADDRESSES_SECONDS)["addresses"]
            found |= dict.fromkeys([node], next((one for one in listed if one["address"] == known.get(node)), {}))
    return {node: one for node, one in found.items() if one}


def networks_of(addresses: Iterable[Mapping[str, Any]]) -> list[str]:
    """The networks that these addresses lie in, as CIDR."""
    found = {str(ip_network(f"{one['address']}/{one['prefix']}", strict=False)) for one in addresses}
    return sorted(found)


def shares_a_machine(inventory: Inventory, connected: Connected) -> bool:
    """Whether nodes share a machine, so that what is the machine's is not theirs to change."""
    hosts = list(connected.hosts.values())
    here = Path("/proc/sys/kernel/random/boot_id")
    own = here.read_text().strip() if here.exists() else ""
    return len(set(hosts)) < len(hosts) or (inventory.lab is not None and own in hosts)


def _fact(connected: Connected, node: str, name: str) -> Any:
    return connected.fingerprint.get(node, {}).get(name, {}).get("value")
