"""What bounds a program on the node: control groups, CPU sets, resource limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("limits")

_CGROUP = "sys/fs/cgroup"
NO_LIMIT = "max"
"""How the kernel writes that a control group has no limit."""


@topic.fact("cgroup_version", "Version of the control groups: 2, or 1 (also mixed)", unit="1")
def cgroup_version(machine: Machine) -> int:
    if machine.exists(f"{_CGROUP}/cgroup.controllers"):
        return 2
    if not machine.names(_CGROUP):
        raise Unknown(f"no control groups are mounted on /{_CGROUP}", absent=True)
    return 1


def _groups(machine: Machine, controller: str) -> list[str]:
    """Folders of the agent's control group and of all above it: the tightest of them counts."""
    first = cgroup_version(machine) == 1
    for line in machine.text("proc/self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)  # '4:cpu,cpuacct:/user.slice', in version 2 '0::/user.slice'
        if (controller in controllers.split(",")) if first else number == "0":
            top = f"{_CGROUP}/{controller}" if first else _CGROUP
            parts = [part for part in path.split("/") if part not in ("", "..")]
            return ["/".join((top, *parts[:depth])) for depth in range(len(parts) + 1)]
    raise Unknown(f"/proc/self/cgroup names no group for {controller}", absent=True)


def _limits(machine: Machine, controller: str, file: str) -> list[tuple[str, str]]:
    """Of every group that limits: its folder and what `file` holds. The root group has no such file."""
    groups = [group for group in _groups(machine, controller) if machine.exists(f"{group}/{file}")]
    return [(group, machine.text(f"{group}/{file}")) for group in groups]


@topic.fact("cpu_quota", "CPUs' worth of time that the control groups allow; 'max' where they set no limit")
def cpu_quota(machine: Machine) -> float | str:
    if cgroup_version(machine) == 2:
        pairs = [tuple(limit.split()) for _, limit in _limits(machine, "cpu", "cpu.max")]
    else:
        quotas = _limits(machine, "cpu", "cpu.cfs_quota_us")
        pairs = [(quota, machine.text(f"{group}/cpu.cfs_period_us")) for group, quota in quotas]
    return min((int(quota) / int(period) for quota, period in pairs if quota not in (NO_LIMIT, "-1")), default=NO_LIMIT)


@topic.fact("memory", "Bytes that the control groups allow; 'max' where they set no limit")
def memory(machine: Machine) -> int | str:
    file = "memory.max" if cgroup_version(machine) == 2 else "memory.limit_in_bytes"
    bounds = [int(limit) for _, limit in _limits(machine, "memory", file) if limit != NO_LIMIT]
    # Version 1 has no word for it but LONG_MAX rounded down to a page.
    return min((bound for bound in bounds if bound < 1 << 62), default=NO_LIMIT)


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


@topic.fact("open_files", "Files that a program may hold open; 'unlimited' where there is no limit")
def open_files(machine: Machine) -> int | str:
    limit: int | str = machine.ask("limit", "nofile")
    return limit
