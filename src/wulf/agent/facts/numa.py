"""Memory nodes: what is near to which CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.facts.cpu import sockets
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("numa")

_FOLDER = "sys/devices/system/node"


@shared
def _nodes(machine: Machine) -> list[str]:
    if not machine.exists(_FOLDER):
        raise Unknown(f"no /{_FOLDER}: a kernel without NUMA", absent=True)
    numbers = [name[4:] for name in machine.names(_FOLDER) if name[:4] == "node" and name[4:].isdigit()]
    return sorted(numbers, key=int)


@topic.fact("nodes", "Memory nodes", unit="1")
def nodes(machine: Machine) -> int:
    return len(_nodes(machine))


@topic.fact("nodes_per_socket", "Memory nodes with CPUs, a socket: AMD's NPS, Intel's sub-NUMA clusters", unit="1")
def nodes_per_socket(machine: Machine) -> int:
    own = [node for node in _nodes(machine) if cpus(machine, node) != "none"]
    packages = int(sockets(machine))
    if len(own) % packages:
        raise Unknown(f"{len(own)} memory nodes with CPUs on {packages} sockets")
    return len(own) // packages


@topic.each("*.cpus", _nodes, "CPUs of a memory node; 'none' for one without")
def cpus(machine: Machine, node: str) -> str:
    path = f"{_FOLDER}/node{node}/cpulist"
    try:
        return machine.text(path)
    except Unknown:
        if machine.exists(path):
            return "none"  # memory without CPUs: CXL, HBM
        raise


@topic.each(
    "*.distances",
    _nodes,
    "Relative distances to the memory nodes in order, as the firmware's SLIT has them; 10 is local",
)
def distances(machine: Machine, node: str) -> str:
    return machine.text(f"{_FOLDER}/node{node}/distance")


# Not uniform: the kernel's reservations differ by some pages between equal machines.
@topic.each("*.memory", _nodes, "Memory of a memory node that the kernel may use", unit="B", uniform=False)
def memory(machine: Machine, node: str) -> int:
    for line in machine.text(f"{_FOLDER}/node{node}/meminfo").splitlines():
        words = line.split()  # 'Node 0 MemTotal:  65537 kB'
        if words[2:3] == ["MemTotal:"]:
            return int(words[3]) * 1024
    raise Unknown(f"/{_FOLDER}/node{node}/meminfo has no MemTotal")
