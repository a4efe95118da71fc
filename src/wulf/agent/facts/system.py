"""The system around the kernel: distribution, C library, hardware and firmware as DMI names them.

Serial numbers and UUIDs are not read: they identify a machine and say nothing of its speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("system")

_DMI = (
    ("vendor", "sys_vendor", "Maker of the machine, as DMI has it"),
    ("product", "product_name", "Product name of the machine, as DMI has it"),
    ("board", "board_name", "Main board, as DMI has it"),
    ("board_vendor", "board_vendor", "Maker of the main board, as DMI has it"),
    ("bios_vendor", "bios_vendor", "Maker of the BIOS or UEFI"),
    ("bios_version", "bios_version", "Version of the BIOS or UEFI"),
    ("bios_date", "bios_date", "Date of the BIOS or UEFI"),
    ("bios_release", "bios_release", "Release of the BIOS or UEFI: two numbers, where its maker counts so"),
    ("bmc_release", "ec_firmware_release", "Release of the embedded controller's firmware, which rules fans and power"),
)


def _add_dmi(name: str, file: str, help: str) -> None:
    @topic.fact(name, help)
    def read(machine: Machine) -> str:
        return machine.text(f"sys/class/dmi/id/{file}")


for _name, _file, _help in _DMI:
    _add_dmi(_name, _file, _help)


@topic.fact("os", "Name and version of the distribution")
def distribution(machine: Machine) -> str:
    for path in ("etc/os-release", "usr/lib/os-release"):  # os-release(5)
        if machine.exists(path):
            for line in machine.text(path).splitlines():
                key, _, value = line.partition("=")
                if key == "PRETTY_NAME":
                    return value.strip().strip("\"'")
    raise Unknown("no /etc/os-release that names the distribution", absent=True)


@topic.fact("libc", "C library and its version")
def libc(machine: Machine) -> str:
    return str(machine.ask("libc"))


@topic.fact("python", "Python that runs the agent", uniform=False)
def python(machine: Machine) -> str:
    return str(machine.ask("python"))
