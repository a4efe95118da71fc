"""PCI Express settings, from configuration spaces made for the test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wulf.agent.machine import Machine
from wulf.agent.settings.pci import mechanism as pci
from wulf.agent.unknown import Unknown

READ, PAYLOAD = {"field": "max_read_request"}, {"field": "max_payload"}


def space(*capabilities: tuple[int, int, int], size: int = 256, has: bool = True) -> bytes:
    """Configuration space with (offset, capability, device control) in a chain."""
    made = bytearray(size)
    made[0x06] = 0x10 * has
    link = 0x34
    for at, identifier, control in capabilities:
        made[link] = at
        made[at] = identifier
        made[at + 8 : at + 10] = control.to_bytes(2, "little")
        link = at + 1
    return bytes(made)


def with_link(capabilities: int, status: int) -> bytes:
    made = bytearray(space((0x40, 0x10, 0)))
    made[0x4C:0x4E], made[0x52:0x54] = (number.to_bytes(2, "little") for number in (capabilities, status))
    return bytes(made)


def node(root: Path, config: bytes) -> Machine:
    device = root / "sys/class/net/eth0/device"
    device.mkdir(parents=True)
    (device / "config").write_bytes(config)
    (device.parent / "ifindex").write_text("2")
    (root / "answers.json").write_text(json.dumps({"interfaces": {"eth0": 2}}))
    return Machine(str(root))


@pytest.mark.parametrize(
    ("control", "read", "payload"), [(0x2810, 512, 128), (0x5020, 4096, 256), (0x0000, 128, 128), (0x283F, 512, 256)]
)
def test_sizes_of_requests_and_payloads(control: int, read: int, payload: int, tmp_path: Path) -> None:
    machine = node(tmp_path, space((0x40, 0x01, 0xFFFF), (0xE0, 0x10, control)))
    assert pci.places(machine, READ) == ["eth0"]
    assert (pci.read(machine, READ, "eth0"), pci.read(machine, PAYLOAD, "eth0")) == (read, payload)


def test_a_link_and_what_the_card_could(tmp_path: Path) -> None:
    machine = node(tmp_path, with_link(capabilities=0xF104, status=0x1083))
    fields = ("link_speed", "link_width", "link_speed_max", "link_width_max")
    assert [pci.read(machine, {"field": field}, "eth0") for field in fields] == [8e9, 8, 16e9, 16]


def test_a_card_without_a_link_of_its_own_has_no_width(tmp_path: Path) -> None:
    machine = node(tmp_path, with_link(0, 0))
    for field in ("link_speed", "link_width"):
        with pytest.raises(Unknown, match=f"reports no {field}"):
            pci.read(machine, {"field": field}, "eth0")


@pytest.mark.parametrize(
    ("config", "said", "absent"),
    [
        (space((0x40, 0x01, 0)), "no PCI Express capability", True),
        (space((0x40, 0x10, 0), has=False), "no PCI Express capability", True),
        (space((0x40, 0x01, 0), (0x40, 0x01, 0))[:0x41] + b"\x40" + bytes(190), "no PCI Express capability", True),
        (space()[:64], "no permission to read", False),
        (space((0xFC, 0x10, 0x2810), size=262)[:256], "no PCI Express capability", True),
    ],
)
def test_a_space_without_the_capability_ends_the_search(config: bytes, said: str, absent: bool, tmp_path: Path) -> None:
    with pytest.raises(Unknown, match=said) as caught:
        pci.read(node(tmp_path, config), READ, "eth0")
    assert caught.value.absent is absent


def test_a_virtual_interface_is_no_pci_device(tmp_path: Path) -> None:
    machine = node(tmp_path, space())
    (tmp_path / "sys/class/net/eth0/device/config").unlink()
    with pytest.raises(Unknown, match="no interface is a PCI device"):
        pci.places(machine, READ)
