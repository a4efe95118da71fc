"""Links of PCI Express: their own, none, and one that is another function's."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.agent.hardware import pcie
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

WORDS = {
    "max_link_width": "8",
    "current_link_width": "4",
    "max_link_speed": "16 GT/s",
    "current_link_speed": "8.0 GT/s PCIe",
}


def device(root: Path, **files: str) -> Machine:
    for name, text in (WORDS | files).items():
        path = root / "card" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
    return Machine(str(root))


def test_both_spellings_of_a_speed(tmp_path: Path) -> None:
    machine = device(tmp_path)
    assert [read(machine, "card", which) for _, read, which, _, _ in pcie.FACTS] == [4, 8, 8e9, 16e9]


@pytest.mark.parametrize(
    ("files", "read", "said"),
    [
        ({"current_link_width": "0"}, pcie.width, "width"),
        ({"current_link_width": "255"}, pcie.width, "width"),
        ({"current_link_speed": "Unknown"}, pcie.speed, "'Unknown'"),
        ({"physfn": ""}, pcie.width, "virtual function"),
    ],
)
def test_a_device_without_a_link_has_no_such_thing(
    files: dict[str, str], read: object, said: str, tmp_path: Path
) -> None:
    with pytest.raises(Unknown, match=said) as caught:
        read(device(tmp_path, **files), "card", pcie.CURRENT)  # type: ignore[operator]
    assert caught.value.absent


def test_an_older_bus_has_none(tmp_path: Path) -> None:
    with pytest.raises(Unknown, match="no PCI Express link"):
        pcie.width(Machine(str(tmp_path)), "card", pcie.MOST)
