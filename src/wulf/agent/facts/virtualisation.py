"""Whether the node is a guest or a container, and whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.cpulist import cpuinfo
from wulf.agent.fact import Topic
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("virtualisation")

# Makers and products that DMI names in guests only (systemd-detect-virt(1) lists the same hypervisors).
_GUEST_DMI = {
    "QEMU": "kvm",
    "KVM": "kvm",
    "OpenStack": "kvm",
    "Amazon EC2": "amazon",
    "Google Compute Engine": "google",
    "VMware": "vmware",
    "VirtualBox": "virtualbox",
    "Virtual Machine": "microsoft",
    "Xen": "xen",
    "BHYVE": "bhyve",
    "Parallels": "parallels",
    "Firecracker": "firecracker",
}

_CONTAINER_FILES = (("run/.containerenv", "podman"), (".dockerenv", "docker"), (".singularity.d", "apptainer"))


@topic.fact("guest", "Whether the node runs under a hypervisor")
def guest(machine: Machine) -> bool:
    if machine.exists("sys/hypervisor/type") or machine.exists("proc/device-tree/hypervisor"):
        return True
    first = cpuinfo(machine)[0]
    if "flags" in first:  # x86: the hypervisor says so in CPUID; a real machine never sets the flag
        return "hypervisor" in first["flags"].split()
    return _by_dmi(machine) is not None


@topic.fact("hypervisor", "Which hypervisor, as far as DMI or Xen name it; null on a real machine")
def hypervisor(machine: Machine) -> str:
    if machine.exists("sys/hypervisor/type"):
        return machine.text("sys/hypervisor/type")
    if not guest(machine):
        raise Unknown("not a guest", absent=True)
    name = _by_dmi(machine)
    if name is None:
        raise Unknown("the hypervisor does not give its name in DMI")
    return name


def _by_dmi(machine: Machine) -> str | None:
    """The hypervisor that DMI tells of, None for a real machine's names; Unknown without DMI."""
    product = machine.text("sys/class/dmi/id/product_name")
    if product.endswith(".metal"):  # Amazon's real machines have its name as their maker's, like its guests
        return None
    texts = f"{machine.text('sys/class/dmi/id/sys_vendor')} {product}"
    return next((name for mark, name in _GUEST_DMI.items() if mark in texts), None)


@topic.fact("container", "Which container engine the node runs in; 'none' where there is no sign of one")
def container(machine: Machine) -> str:
    if machine.exists("run/systemd/container"):
        return machine.text("run/systemd/container")
    for path, engine in _CONTAINER_FILES:
        if machine.exists(path):
            return engine
    control = machine.text("proc/1/cgroup")
    for mark, engine in (("docker", "docker"), ("kubepods", "kubernetes"), ("/lxc", "lxc"), ("libpod", "podman")):
        if mark in control:
            return engine
    return "none"


@topic.fact("wsl", "Whether the node is Windows' Subsystem for Linux")
def wsl(machine: Machine) -> bool:
    return "microsoft" in machine.text("proc/sys/kernel/osrelease").lower()
