"""Errors that the hardware has put right, or not, since the last boot: what may tell of a part before it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.cpulist import CPU, present
from wulf.agent.fact import Topic
from wulf.agent.hardware.pcie import DEVICES
from wulf.agent.interfaces import NET, interfaces
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wulf.agent.machine import Machine

topic = Topic("errors")

_EDAC = "sys/devices/system/edac/mc"


# Counts of one node say nothing of another's: none of these is uniform.


def _of_memory(machine: Machine, name: str) -> int:
    if not machine.exists(_EDAC):
        raise Unknown(f"no /{_EDAC}: memory without ECC, or no EDAC driver for its controller", absent=True)
    return _sum(machine, [f"{_EDAC}/{one}/{name}" for one in machine.names(_EDAC) if one.startswith("mc")])


@topic.fact("memory_corrected", "Memory errors that ECC corrected (EDAC)", unit="1", uniform=False)
def memory_corrected(machine: Machine) -> int:
    return _of_memory(machine, "ce_count")


@topic.fact("memory_uncorrected", "Memory errors that ECC could not correct (EDAC)", unit="1", uniform=False)
def memory_uncorrected(machine: Machine) -> int:
    return _of_memory(machine, "ue_count")


def _of_pcie(machine: Machine, *names: str) -> int:
    """The totals of all devices, each the last row of a file of `NAME COUNT` (Linux 4.19)."""
    devices = machine.names(DEVICES) if machine.exists(DEVICES) else []
    paths = [f"{DEVICES}/{one}/{name}" for one in devices for name in names]
    known = [path for path in paths if machine.exists(path)]
    if not known:
        raise Unknown("no PCI Express device here reports errors (AER)", absent=True)
    return sum(int(machine.text(path).split()[-1]) for path in known)


@topic.fact("pcie_corrected", "PCI Express errors that were corrected, of all devices (AER)", unit="1", uniform=False)
def pcie_corrected(machine: Machine) -> int:
    return _of_pcie(machine, "aer_dev_correctable")


@topic.fact("pcie_uncorrected", "PCI Express errors that were not, fatal or not (AER)", unit="1", uniform=False)
def pcie_uncorrected(machine: Machine) -> int:
    return _of_pcie(machine, "aer_dev_nonfatal", "aer_dev_fatal")


@topic.fact("cpu_throttled", "Times that processors slowed down because they were hot", unit="1", uniform=False)
def cpu_throttled(machine: Machine) -> int:
    # Each CPU of a package shows the package's count: the largest of them is the node's hottest package.
    paths = (f"{CPU}/cpu{cpu}/thermal_throttle/package_throttle_count" for cpu in present(machine))
    counts = [machine.integer(path) for path in paths if machine.exists(path)]
    if not counts:
        raise Unknown("this kernel or processor counts no thermal throttling", absent=True)
    return max(counts)


def _of_interfaces(machine: Machine, name: str) -> int:
    real = [one for one in interfaces(machine) if machine.exists(f"{NET}/{one}/device")]
    if not real:
        raise Unknown("no interface here has a device behind it", absent=True)
    return _sum(machine, [f"{NET}/{one}/{name}" for one in real])


@topic.fact("network_crc", "Frames that reached an interface damaged (rx_crc_errors)", unit="1", uniform=False)
def network_crc(machine: Machine) -> int:
    return _of_interfaces(machine, "statistics/rx_crc_errors")


@topic.fact("network_carrier", "Times that an interface lost its link (carrier_down_count)", unit="1", uniform=False)
def network_carrier(machine: Machine) -> int:
    return _of_interfaces(machine, "carrier_down_count")


def _sum(machine: Machine, paths: Iterable[str]) -> int:
    return sum(machine.integer(path) for path in paths)
