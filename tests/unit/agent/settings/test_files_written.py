"""Mechanisms whose files belong to the whole host, written in a tree of files that stands for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wulf.agent import settings
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

FILES = {
    "sys/class/net/lo/ifindex": "1",
    "sys/class/net/eth0/ifindex": "2",
    "sys/class/net/eth0/address": "52:54:00:00:00:01",
    "sys/class/net/eth0/device/irq": "11",
    "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "powersave",
    "sys/devices/system/cpu/cpu10/cpufreq/scaling_governor": "powersave",
    "sys/devices/system/cpu/cpu2/cpuidle/state0/disable": "0",
    "sys/devices/system/cpu/cpu2/cpuidle/state1/disable": "0",
    "sys/devices/system/cpu/cpu10/cpuidle/state1/disable": "0",
    "sys/devices/system/cpu/cpufreq/boost": "1",
    "sys/module/nvme/parameters/poll_queues": "0",
    "proc/irq/11/smp_affinity_list": "0-3",
    "proc/interrupts": (
        " CPU0 CPU1\n 11: 5 6 IO-APIC 11-fasteoi eth0\n 12: 5 6 IO-APIC 12-edge i8042\nNMI: 0 0 Non-maskable\n"
    ),
}
STATE = {"path": "sys/devices/system/cpu/{cpu}/cpuidle/{state}/disable", "kind": "bool"}
GOVERNOR = {"path": "/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for path, contents in FILES.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(contents + "\n")
    (tmp_path / "answers.json").write_text(json.dumps({"interfaces": {"lo": 1, "eth0": 2}}))
    return Machine(str(tmp_path))


def places(machine: Machine, mechanism: str, target: dict[str, Any]) -> list[str]:
    return settings.mechanisms()[mechanism].places(machine, target)


def test_places_are_named_and_in_the_order_of_their_numbers(machine: Machine) -> None:
    assert places(machine, "sysfs", GOVERNOR) == ["cpu2", "cpu10"]
    assert places(machine, "sysfs", STATE) == ["state0 of cpu2", "state1 of cpu2", "state1 of cpu10"]
    assert places(machine, "sysfs", {"path": "sys/devices/system/cpu/cpufreq/boost"}) == [""]
    assert places(machine, "irq", {}) == ["eth0 of eth0"]


@pytest.mark.parametrize(
    ("mechanism", "target", "place", "value", "path", "text"),
    [
        (
            "sysfs",
            GOVERNOR,
            "cpu10",
            "performance",
            "sys/devices/system/cpu/cpu10/cpufreq/scaling_governor",
            "performance",
        ),
        ("sysfs", STATE, "state1 of cpu2", True, "sys/devices/system/cpu/cpu2/cpuidle/state1/disable", "1"),
        ("module", {"module": "nvme", "option": "poll_queues"}, "", 4, "sys/module/nvme/parameters/poll_queues", "4"),
        ("irq", {}, "eth0 of eth0", "1,2,3", "proc/irq/11/smp_affinity_list", "1-3"),
    ],
)
def test_what_is_written_where(
    mechanism: str, target: dict[str, Any], place: str, value: Any, path: str, text: str, machine: Machine
) -> None:
    one = settings.mechanisms()[mechanism]
    before = one.read(machine, target, place)
    one.write(machine, target, place, value)
    assert Path(machine.root, path).read_text() == text
    one.write(machine, target, place, before)
    assert one.read(machine, target, place) == before
    others = {name: contents for name, contents in FILES.items() if name != path}
    assert all(Path(machine.root, name).read_text() == contents + "\n" for name, contents in others.items())


def test_a_written_value_is_read_anew(machine: Machine) -> None:
    """What was shared by readings before a write is not what is read after it."""
    count = iter(range(9))
    assert [machine.once("key", lambda _: next(count)) for _ in range(2)] == [0, 0]
    machine.put("sys/devices/system/cpu/cpufreq/boost", "0")
    assert machine.once("key", lambda _: next(count)) == 1
    with pytest.raises(Unknown, match="no /sys/nowhere"):
        machine.put("sys/nowhere", "1")


def test_an_option_that_can_not_be_changed_says_what_to_do(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: str, content: str) -> None:
        raise Unknown(f"no permission to write '{content}' to /{path}")

    monkeypatch.setattr(machine, "put", read_only)
    with pytest.raises(Unknown, match=r"'options nvme poll_queues=4' in /etc/modprobe.d"):
        settings.mechanisms()["module"].write(machine, {"module": "nvme", "option": "poll_queues"}, "", 4)


def test_an_interrupt_whose_cpus_the_kernel_manages(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, content: str) -> None:
        raise Unknown(f"/{path} refused '{content}': Input/output error")

    monkeypatch.setattr(machine, "put", refuse)
    with pytest.raises(Unknown, match="kernel spreads the interrupts"):
        settings.mechanisms()["irq"].write(machine, {}, "eth0 of eth0", "1")


def test_a_file_that_says_unknown_has_no_value(machine: Machine) -> None:
    Path(machine.root, "sys/class/net/eth0/device/current_link_speed").write_text("Unknown\n")
    target = {"path": "sys/class/net/{nic}/device/current_link_speed"}
    with pytest.raises(Unknown, match="does not know"):
        settings.mechanisms()["sysfs"].read(machine, target, "eth0")


def test_tmpfiles_write_at_boot(machine: Machine) -> None:
    folder = Path(machine.root, "etc/tmpfiles.d")
    folder.mkdir(parents=True)
    (folder / "a.conf").write_text(
        "# w /sys/x\nw! /sys/devices/system/cpu/*/cpufreq/scaling_governor - - - - performance\n"
    )
    assert settings.mechanisms()["sysfs"].startup(machine, GOVERNOR, "cpu2") == "performance"
