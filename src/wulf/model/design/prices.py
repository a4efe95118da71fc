"""What a cluster of so many nodes costs: what grows with every node, and what comes in steps.

All functions take numbers of nodes as arrays and give arrays of that shape. Prices are in one currency, in whatever;
energy in joules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.model.cost import YEAR
from wulf.stats.samples import Floats

MOST_LEVELS = 8
"""Of switches: with 4 ports each these connect 512 nodes, with 8 ports 131,072."""


@dataclass(frozen=True)
class Node:
    """A node that could be bought.

    Attributes
    ----------
    watts
        While it computes; None where nobody said.
    workers
        Of the program on each.
    """

    name: str
    price: float
    watts: float | None = None
    workers: int = 1


@dataclass(frozen=True)
class Switch:
    """A switch with so many ports."""

    ports: int
    price: float
    watts: float = 0.0


@dataclass(frozen=True)
class Fabric:
    """A network: what a port costs (adapter and cable) and draws, and the switches that there are for it."""

    name: str
    port: float = 0.0
    watts: float = 0.0
    switches: tuple[Switch, ...] = ()

    def switching(self, nodes: Floats) -> tuple[Floats, Floats]:
        """Price and watts of the switches: of one kind throughout, the cheapest for that many nodes.

        Infinite where no number of levels connects them; nothing for a single node, or without switches. Of the shape
        of `nodes`.
        """
        if not self.switches:
            return np.zeros_like(nodes), np.zeros_like(nodes)
        counts = [switches_for(nodes, one.ports) for one in self.switches]
        prices = np.array([_of_each(count, one.price) for count, one in zip(counts, self.switches, strict=True)])
        cheapest = prices.argmin(axis=0)
        watts = np.array([_of_each(count, one.watts) for count, one in zip(counts, self.switches, strict=True)])
        return prices.min(axis=0), np.take_along_axis(watts, cheapest[None], axis=0)[0]


def _of_each(counts: Floats, amount: float) -> Floats:
    """So much for each; what can't be had stays infinite where it is free, too."""
    return np.where(np.isfinite(counts), np.where(np.isfinite(counts), counts, 0.0) * amount, np.inf)


def switches_for(nodes: Floats, ports: int) -> Floats:
    """How many switches with so many ports connect the nodes at full bisection, as a folded Clos network.

    One serves as many nodes as it has ports. With L levels each but the topmost has half its ports down and half up:
    2·(ports/2)^L nodes at most, ⌈nodes/(ports/2)⌉ switches on each lower level and ⌈nodes/ports⌉ on top (Leiserson,
    Fat-trees, IEEE Transactions on Computers 34, 1985; Al-Fares et al., SIGCOMM 2008). Infinite where `MOST_LEVELS`
    are too few; none for a single node. Of the shape of `nodes`.
    """
    half = ports // 2
    found = np.full(nodes.shape, np.inf)
    for levels in range(MOST_LEVELS, 0, -1):
        most = ports if levels == 1 else 2.0 * half**levels
        own = (levels - 1) * np.ceil(nodes / half) + np.ceil(nodes / ports)
        found = np.where(nodes <= most, own, found)
    return np.where(nodes <= 1, 0.0, found)


@dataclass(frozen=True)
class CostStep:
    """What is bought for every so many nodes begun, or watts (a rack, a circuit, cooling); without either once."""

    name: str
    price: float
    nodes: int | None = None
    watts: float | None = None

    def count(self, nodes: Floats, watts: Floats) -> Floats:
        """How many of it, of the shape of `nodes`."""
        if self.watts is not None:
            return np.ceil(watts / self.watts)
        return np.ceil(nodes / self.nodes) if self.nodes is not None else np.ones_like(nodes)


@dataclass(frozen=True)
class Build:
    """Who builds it, and what that costs: once, for each node, and as a share of the hardware's price.

    Own labour has hours, a turn-key system a surcharge.
    """

    name: str
    price: float = 0.0
    node: float = 0.0
    share: float = 0.0

    def of(self, nodes: Floats, hardware: Floats) -> Floats:
        """What it costs, of the shape of `nodes`."""
        return self.price + self.node * nodes + self.share * hardware


@dataclass(frozen=True)
class Running:
    """What the years cost.

    Attributes
    ----------
    use
        Share of the years in which it computes.
    joule
        Price of one.
    cooling
        Watts drawn in all for each that the machine draws.
    yearly, node
        What else a year costs (a part of an administrator, a room), and what for each node.
    """

    years: float
    use: float = 1.0
    joule: float = 0.0
    cooling: float = 1.0
    yearly: float = 0.0
    node: float = 0.0

    def of(self, nodes: Floats, watts: Floats) -> Floats:
        """Of all years together, of the shape of `nodes`."""
        energy = watts * self.cooling * self.use * YEAR * self.joule
        return self.years * (energy + self.yearly + self.node * nodes)


@dataclass(frozen=True)
class Site:
    """What all designs have in common: steps, who could build it, and what running costs (None: nobody said)."""

    steps: tuple[CostStep, ...] = ()
    builds: tuple[Build, ...] = ()
    running: Running | None = None


@dataclass(frozen=True)
class DesignBill:
    """What a pair of node and network costs; all arrays of the shape of the numbers of nodes.

    Attributes
    ----------
    parts
        What is bought → price: nodes, ports, switches, each step.
    builds
        Who builds it → what that costs besides; the cheapest one counts.
    running
        Of all years; zero where nobody said.
    watts
        The whole machine's; of nodes whose watts are not known only what else there is.
    """

    parts: Mapping[str, Floats]
    builds: Mapping[str, Floats]
    running: Floats
    watts: Floats

    @property
    def hardware(self) -> Floats:
        """All that is bought, without building it; of the shape of the parts."""
        return _sum(list(self.parts.values()))

    @property
    def building(self) -> Floats:
        """By whoever is cheapest, nothing where nobody is paid; of the shape of the parts."""
        return np.min(list(self.builds.values()), axis=0) if self.builds else np.zeros_like(self.watts)

    @property
    def price(self) -> Floats:
        """To have it stand there, of the shape of the parts."""
        return self.hardware + self.building

    @property
    def owned(self) -> Floats:
        """With its years, of the shape of the parts."""
        return self.price + self.running


def _sum(parts: Sequence[Floats]) -> Floats:
    return np.asarray(np.sum(parts, axis=0), dtype=float)


NODES, PORTS, SWITCHES = "nodes", "ports", "switches"


def bill_of(node: Node, fabric: Fabric, site: Site, nodes: Floats) -> DesignBill:
    """What so many nodes cost with that network; shape (counts,). A single node has no network."""
    linked = np.where(nodes > 1, nodes, 0.0)
    switches, switch_watts = fabric.switching(nodes)
    watts = nodes * (node.watts or 0.0) + linked * fabric.watts + np.where(np.isfinite(switches), switch_watts, 0.0)
    parts = {NODES: nodes * node.price, PORTS: linked * fabric.port, SWITCHES: switches}
    parts |= {one.name: one.count(nodes, watts) * one.price for one in site.steps}
    hardware = _sum(list(parts.values()))
    builds = {one.name: one.of(nodes, hardware) for one in site.builds}
    running = np.zeros_like(nodes) if site.running is None else site.running.of(nodes, watts)
    return DesignBill(parts, builds, running, watts)
