"""Hardware that runs below what it can do: memory under its rating, cards on fewer or slower PCIe lanes; pure.

How nodes differ from each other is for `deviations` to say; this looks at each node by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import fold
from wulf.core.units import show
from wulf.store.run import Facts

TOLERANCE = 0.01
"""Of memory's speed: 2933 and 2934 MT/s are one."""


@dataclass(frozen=True)
class Link:
    """A PCI Express link that could have more lanes, or faster ones.

    Attributes
    ----------
    device
        'nic.eth0', 'pcie.0000:3b:00.0'.
    width, width_max
        Lanes.
    speed, speed_max
        Of a lane [T/s].
    needed
        What the card's own network link carries one way [B/s]; None where it has none, or it is not known.
    """

    device: str
    width: float
    width_max: float
    speed: float
    speed_max: float
    needed: float | None

    @property
    def carries(self) -> float:
        """Bytes a second one way, at most: less what the lanes' code takes (8b/10b up to 5 GT/s, 128b/130b from 8 on).

        PCI Express Base Specification, 4.2; packets' own headers take some 10 % more.
        """
        return self.width * self.speed * (0.8 if self.speed < 8e9 else 128 / 130) / 8


def hardware_findings(fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """One for each part and way in which nodes have it below its best; what does not hold the node back is a note.

    Parameters
    ----------
    fingerprint
        Facts by node and name.
    """
    links: dict[Link, list[str]] = {}
    memory: dict[tuple[float, float], list[str]] = {}
    for node, facts in fingerprint.items():
        for link in _links(facts):
            links.setdefault(link, []).append(node)
        speed, rated = _value(facts, "memory.speed"), _value(facts, "memory.speed_rated")
        if speed is not None and rated is not None and speed < rated * (1 - TOLERANCE):
            memory.setdefault((speed, rated), []).append(node)
    return [
        *(_link_finding(link, nodes) for link, nodes in links.items()),
        *(_memory_finding(speed, rated, nodes) for (speed, rated), nodes in memory.items()),
    ]


def _value(facts: Facts, name: str) -> float | None:
    value = facts.get(name, {}).get("value")
    return float(value) if isinstance(value, int | float) else None


def _links(facts: Facts) -> Iterator[Link]:
    """Those below their best. A graphics card slows its lanes down while it is idle: of such only lanes count."""
    for name in facts:
        topic, _, rest = name.partition(".")
        end = {"nic": ".pcie_width_max", "pcie": ".width_max"}.get(topic, "")
        if not end or not rest.endswith(end):
            continue
        stem = name.removesuffix("width_max")
        device = name.removesuffix(end)
        width, width_max, speed, speed_max = (
            _value(facts, stem + part) for part in ("width", "width_max", "speed", "speed_max")
        )
        if width is None or width_max is None or speed is None or speed_max is None:
            continue
        if width < width_max or (speed < speed_max and topic == "nic"):
            needed = _value(facts, f"{device}.speed") if topic == "nic" else None
            yield Link(device, width, width_max, speed, speed_max, needed)


def _link_finding(link: Link, nodes: list[str]) -> Finding:
    own, best = (_lanes(*pair) for pair in ((link.width, link.speed), (link.width_max, link.speed_max)))
    enough = link.needed is not None and link.carries >= link.needed
    limit = f"carries at most {show(link.carries, 'B/s')} one way"
    if link.needed is not None:
        limit += f", and its network {show(link.needed, 'B/s')}" + (": enough" if enough else "")
    part = "card" if link.device.startswith("nic.") else "device"
    return Finding(
        kind="hardware",
        severity=Severity.INFO if enough else Severity.WARN,
        subject=fold(nodes),
        text=f"{link.device} on {fold(nodes)} has {own} of PCI Express; the {part} can have {best}. The link {limit}.",
        next_step="" if enough else "push the card home, or put it into a slot with as many lanes of that speed "
        "(`lspci -vv`: LnkCap, LnkSta); look in the BIOS for a slot that is split (bifurcation) or slowed down",
        evidence=[
            Evidence(subject=node, metric=f"{link.device} PCIe", value=own, expected=best) for node in nodes
        ],
        expected_of="the device",
    )  # fmt: skip


def _lanes(width: float, speed: float) -> str:
    return f"{width:.0f} lane{'s' * (width != 1)} of {show(speed, 'T/s')}"


def _memory_finding(speed: float, rated: float, nodes: list[str]) -> Finding:
    own, best = show(speed, "T/s", 4), show(rated, "T/s", 4)
    return Finding(
        kind="hardware",
        severity=Severity.INFO,
        subject=fold(nodes),
        text=(
            f"Memory of {fold(nodes)} runs at {own}; its modules are made for {best}. Its throughput is at most "
            f"{speed / rated:.0%} of what the modules could give. The processor, or two modules on a channel, may "
            "allow no more."
        ),
        next_step="look in the BIOS for the memory's speed or profile, in the board's manual for the slots to fill",
        evidence=[Evidence(subject=node, metric="memory.speed", value=own, expected=best) for node in nodes],
        expected_of="the modules",
    )
