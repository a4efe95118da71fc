"""What bounds a program on the node: control groups, CPU sets, resource limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("limits")

_CGROUP = "sys/fs/cgroup"
NO_LIMIT = "max"
"""How the kernel writes that a control group has no limit."""


@topic.fact("cgroup_version", "Version of the control groups: 2, or 1 (also mixed)", unit="1")
def cgroup_version(machine: Machine) -> int:
    if not machine.exists(_CGROUP):
        raise Unknown(f"no /{_CGROUP}", absent=True)
    return 2 if machine.exists(f"{_CGROUP}/cgroup.controllers") else 1


@shared
def _groups(machine: Machine) -> list[str]:
    """Folders of the agent's control group (version 2) and of all above it: the tightest of them counts."""
    if cgroup_version(machine) != 2:
        raise Unknown("control groups of version 1, whose limits are not read")
    for line in machine.text("proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        if number == "0":
            parts = [part for part in rest.partition(":")[2].split("/") if part not in ("", "..")]
            return ["/".join((_CGROUP, *parts[:depth])) for depth in range(len(parts) + 1)]
    raise Unknown("/proc/self/cgroup names no group of version 2")


def _values(machine: Machine, file: str) -> list[str]:
    """Contents of `file` in every group that has it; the root group has no limits."""
    paths = [f"{group}/{file}" for group in _groups(machine)]
    return [machine.text(path) for path in paths if machine.exists(path)]


@topic.fact("cpu_quota", "CPUs' worth of time that the control groups allow; 'max' where they set no limit")
def cpu_quota(machine: Machine) -> float | str:
    quotas = [value.split() for value in _values(machine, "cpu.max")]
    bounds = [int(quota) / int(period) for quota, period in quotas if quota != NO_LIMIT]
    return min(bounds, default=NO_LIMIT)


@topic.fact("memory", "Bytes that the control groups allow; 'max' where they set no limit")
def memory(machine: Machine) -> int | str:
    bounds = [int(value) for value in _values(machine, "memory.max") if value != NO_LIMIT]
    return min(bounds, default=NO_LIMIT)


@topic.fact("cpus", "CPUs that the agent may run on (cpusets and affinity)")
def cpus(machine: Machine) -> str:
    return machine.table("proc/self/status")["Cpus_allowed_list"]


@topic.fact("memory_nodes", "Memory nodes that the agent may take memory from (cpusets)")
def memory_nodes(machine: Machine) -> str:
    return machine.table("proc/self/status")["Mems_allowed_list"]


@topic.fact("locked_memory", "Bytes that a program may lock, which RDMA needs; 'unlimited' where there is no limit")
def locked_memory(machine: Machine) -> int | str:
    limit: int | str = machine.ask("limit", "memlock")
    return limit


@topic.fact("open_files", "Files that a program may hold open", unit="1")
def open_files(machine: Machine) -> int | str:
    limit: int | str = machine.ask("limit", "nofile")
    return limit
