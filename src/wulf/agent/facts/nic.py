"""Network interfaces: driver and link, from sysfs; offloads, coalescing, rings, channels and qdisc, over netlink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.fact import Topic
from wulf.agent.hardware import pcie
from wulf.agent.interfaces import NET, interfaces, own_sysfs
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.agent.machine import Machine

topic = Topic("nic")


def _file(machine: Machine, nic: str, file: str) -> str:
    own_sysfs(machine)
    return f"{NET}/{nic}/{file}"


def _version(machine: Machine, nic: str, of: str) -> str:
    """What the driver says of itself or of the firmware."""
    version = machine.ask("drvinfo", nic)[of]
    if version in ("", "N/A"):
        raise Unknown(f"the driver reports no {of}", absent=True)
    return str(version)


@topic.fact("interfaces", "Interfaces that carry the node's traffic: not lo, nor bridges and links of containers")
def listed(machine: Machine) -> str:
    return " ".join(interfaces(machine)) or "none"


@topic.each("*.driver", interfaces, "Driver, as the driver names itself")
def driver(machine: Machine, nic: str) -> str:
    return str(machine.ask("drvinfo", nic)["driver"])


@topic.each("*.driver_version", interfaces, "Version of the driver; one that comes with the kernel has the kernel's")
def driver_version(machine: Machine, nic: str) -> str:
    return _version(machine, nic, "version")


@topic.each("*.driver_in_tree", interfaces, "Whether the driver is the kernel's own (/sys/module/*/taint has no O)")
def driver_in_tree(machine: Machine, nic: str) -> bool:
    _need_device(machine, nic)
    bound = _file(machine, nic, "device/driver")
    if not machine.exists(bound):
        raise Unknown(f"/{bound} is not there: no driver is bound to the device")
    if not machine.exists(f"{bound}/module"):
        return True  # built into the kernel
    taint = f"sys/module/{machine.link(f'{bound}/module')}/taint"
    if not machine.exists(taint):
        raise Unknown(f"/{taint} is not there")
    try:
        return "O" not in machine.text(taint)  # Documentation/admin-guide/tainted-kernels.rst
    except Unknown as unknown:
        if unknown.absent:  # an empty file: the module taints nothing
            return True
        raise


@topic.each("*.firmware", interfaces, "Version of the firmware, as the driver reports it")
def firmware(machine: Machine, nic: str) -> str:
    return _version(machine, nic, "firmware")


@topic.each("*.bus", interfaces, "Bus that the interface's device sits on: pci, virtio, usb, ...")
def bus(machine: Machine, nic: str) -> str:
    _need_device(machine, nic)
    return machine.link(_file(machine, nic, "device/subsystem"))


@topic.each("*.device_id", interfaces, "Vendor and device number of the interface's device on its bus")
def device_id(machine: Machine, nic: str) -> str:
    _need_device(machine, nic)
    return ":".join(machine.text(_file(machine, nic, f"device/{part}")) for part in ("vendor", "device"))


@topic.each("*.numa_node", interfaces, "Memory node that the interface's device is near to", unit="1")
def numa_node(machine: Machine, nic: str) -> int:
    _need_device(machine, nic)
    node = machine.integer(_file(machine, nic, "device/numa_node"))
    if node < 0:
        raise Unknown("the firmware does not say which memory node the device is near to", absent=True)
    return node


def _need_device(machine: Machine, nic: str) -> None:
    if not machine.exists(_file(machine, nic, "device")):
        raise Unknown("a virtual interface: no device stands behind it", absent=True)


def _add_pcie(name: str, read_link: Callable[[Machine, str, str], float], which: str, unit: str, help: str) -> None:
    @topic.each(f"*.{name}", interfaces, help, unit)
    def read(machine: Machine, nic: str) -> float:
        _need_device(machine, nic)
        return read_link(machine, _file(machine, nic, "device"), which)


for _name, _read, _which, _unit, _help in pcie.FACTS:
    _add_pcie(_name, _read, _which, _unit, f"{_help}, of the interface's card")


@topic.each("*.speed", interfaces, "Speed of the link", unit="B/s")
def speed(machine: Machine, nic: str) -> int:
    megabits = machine.integer(_file(machine, nic, "speed"))  # EINVAL while the link is down
    if megabits <= 0:
        raise Unknown("the driver does not know the link's speed", absent=True)  # it writes -1
    return megabits * 1_000_000 // 8


@topic.each("*.duplex", interfaces, "Whether both ends may send at once: full or half")
def duplex(machine: Machine, nic: str) -> str:
    mode = machine.text(_file(machine, nic, "duplex"))
    if mode == "unknown":
        raise Unknown("the driver does not know the link's duplex mode", absent=True)
    return mode


@topic.each("*.mtu", interfaces, "Largest packet that the interface sends", unit="B")
def mtu(machine: Machine, nic: str) -> int:
    return machine.integer(_file(machine, nic, "mtu"))


# The address itself is not read into a fact: it identifies a machine for good, reports are passed on, and it says
# nothing of speed. That it was made by software tells a virtual interface from a card.
@topic.each("*.mac_local", interfaces, "Whether the MAC address was made by software (locally administered)")
def mac_local(machine: Machine, nic: str) -> bool:
    first = machine.text(_file(machine, nic, "address")).split(":")[0]
    return bool(int(first, 16) & 0x02)


@topic.each("*.operstate", interfaces, "State of the link (RFC 2863): up, down, unknown, ...")
def operstate(machine: Machine, nic: str) -> str:
    return machine.text(_file(machine, nic, "operstate"))


@topic.each("*.carrier_changes", interfaces, "How often the link came and went since the boot", unit="1", uniform=False)
def carrier_changes(machine: Machine, nic: str) -> int:
    return machine.integer(_file(machine, nic, "carrier_changes"))


@topic.each("*.tx_queue_length", interfaces, "Packets that the qdisc may hold (txqueuelen)", unit="1")
def tx_queue_length(machine: Machine, nic: str) -> int:
    return machine.integer(_file(machine, nic, "tx_queue_len"))


@topic.each("*.rx_queues", interfaces, "Receive queues", unit="1")
def rx_queues(machine: Machine, nic: str) -> int:
    return len(_queues(machine, nic, "rx-"))


@topic.each("*.tx_queues", interfaces, "Send queues", unit="1")
def tx_queues(machine: Machine, nic: str) -> int:
    return len(_queues(machine, nic, "tx-"))


def _queues(machine: Machine, nic: str, kind: str) -> list[str]:
    return [name for name in machine.names(_file(machine, nic, "queues")) if name.startswith(kind)]


@topic.each("*.rps_queues", interfaces, "Receive queues whose packets are spread over CPUs in software (RPS)", unit="1")
def rps_queues(machine: Machine, nic: str) -> int:
    masks = [machine.text(_file(machine, nic, f"queues/{queue}/rps_cpus")) for queue in _queues(machine, nic, "rx-")]
    return sum(any(digit not in "0," for digit in mask) for mask in masks)


@topic.each("*.napi_threaded", interfaces, "Whether packets are polled in kernel threads, not in softirq")
def napi_threaded(machine: Machine, nic: str) -> bool:
    return machine.integer(_file(machine, nic, "threaded")) != 0


@topic.each("*.napi_defer_hard_irqs", interfaces, "Empty polls before interrupts are enabled again", unit="1")
def napi_defer_hard_irqs(machine: Machine, nic: str) -> int:
    return machine.integer(_file(machine, nic, "napi_defer_hard_irqs"))


@topic.each("*.gro_flush_timeout", interfaces, "Longest time that GRO holds packets between polls", unit="s")
def gro_flush_timeout(machine: Machine, nic: str) -> float:
    return machine.integer(_file(machine, nic, "gro_flush_timeout")) / 1e9


@topic.each("*.qdisc", interfaces, "Root queueing discipline; below mq also those of the queues: 'mq fq_codel'")
def qdisc(machine: Machine, nic: str) -> str:
    return str(machine.ask("qdisc", nic))


# The kernel answers all of a subject at once, and each fact takes its own: `ask` remembers.
def _setting(machine: Machine, subject: str, nic: str, name: str) -> Any:
    settings = machine.ask("ethtool", subject, nic)
    if name not in settings:
        raise Unknown(f"the driver does not report '{name}' among its {subject} settings", absent=True)
    return settings[name]


# Our word, the kernel's name of the feature (net/ethtool/common.c, netdev_features_strings), what it is.
_OFFLOADS = (
    ("gro", "rx-gro", "Generic receive offload: received segments are joined before the stack sees them"),
    ("gro_hardware", "rx-gro-hw", "Generic receive offload by the card"),
    ("lro", "rx-lro", "Large receive offload by the card"),
    ("gso", "tx-generic-segmentation", "Generic segmentation offload: large packets are cut just before the driver"),
    ("tso", "tx-tcp-segmentation", "TCP segmentation offload: the card cuts large packets"),
    ("uso", "tx-udp-segmentation", "UDP segmentation offload"),
    ("scatter_gather", "tx-scatter-gather", "Packets sent from scattered memory"),
    ("rx_checksum", "rx-checksum", "Checksums verified by the card"),
    ("tx_checksum", "tx-checksum-ip-generic", "Checksums of any protocol made by the card"),
    ("tx_checksum_ipv4", "tx-checksum-ipv4", "Checksums over IPv4 made by the card"),
    ("rx_hash", "rx-hashing", "Hash of the flow from the card, which RPS can use"),
    ("ntuple", "rx-ntuple-filter", "Flow steering by filters in the card"),
)


def _add_offload(name: str, feature: str, help: str) -> None:
    @topic.each(f"*.offload.{name}", interfaces, f"{help} ({feature})")
    def read(machine: Machine, nic: str) -> bool:
        return bool(_setting(machine, "features", nic, feature))


for _name, _feature, _help in _OFFLOADS:
    _add_offload(_name, _feature, _help)


# Our word, the kernel's attribute, unit, what it is (Documentation/networking/ethtool-netlink.rst).
_COALESCING: tuple[tuple[str, str, str, str], ...] = (
    ("rx_delay", "rx_usecs", "s", "Time that an interrupt waits for more received packets (rx-usecs)"),
    ("tx_delay", "tx_usecs", "s", "Time that an interrupt waits for more sent packets (tx-usecs)"),
    ("rx_frames", "rx_frames", "1", "Received packets that an interrupt waits for (rx-frames)"),
    ("tx_frames", "tx_frames", "1", "Sent packets that an interrupt waits for (tx-frames)"),
)


def _add_coalescing(name: str, attribute: str, unit: str, help: str) -> None:
    @topic.each(f"*.coalescing.{name}", interfaces, help, unit)
    def read(machine: Machine, nic: str) -> float:
        number = int(_setting(machine, "coalesce", nic, attribute))
        return number / 1e6 if unit == "s" else number


for _name, _attribute, _unit, _help in _COALESCING:
    _add_coalescing(_name, _attribute, _unit, _help)


def _add_switch(subject: str, name: str, asked: str, attribute: str, help: str) -> None:
    @topic.each(f"*.{subject}.{name}", interfaces, help)
    def read(machine: Machine, nic: str) -> bool:
        return bool(_setting(machine, asked, nic, attribute))


def _add_number(subject: str, name: str, attribute: str, help: str) -> None:
    @topic.each(f"*.{subject}.{name}", interfaces, help, "1")
    def read(machine: Machine, nic: str) -> int:
        return int(_setting(machine, subject, nic, attribute))


for _way in ("rx", "tx"):
    _add_switch("coalescing", f"adaptive_{_way}", "coalesce", f"adaptive_{_way}", f"Whether {_way} coalescing adapts")
for _way in ("rx", "tx"):
    _add_number("rings", _way, _way, f"Descriptors in a {_way} ring")
    _add_number("rings", f"{_way}_max", f"{_way}_max", f"Most descriptors that a {_way} ring may have")
for _kind in ("rx", "tx", "combined"):
    _add_number("channels", _kind, _kind, f"Channels (queue and interrupt) for {_kind}")
    _add_number("channels", f"{_kind}_max", f"{_kind}_max", f"Most channels for {_kind} that the driver allows")
for _way in ("rx", "tx"):
    _add_switch("pause", _way, "pause", _way, f"Flow control by pause frames, {_way}")
_add_switch("pause", "autonegotiation", "pause", "autoneg", "Whether flow control is negotiated with the switch")
