"""Which interfaces count, on machines of all kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wulf.agent.interfaces import interfaces
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown


def machine(root: Path, *nics: str, kernel: dict[str, int] | None = None) -> Machine:
    """A machine with the given interfaces, each 'name operstate mark mark...'; marks are entries in its folder."""
    indices = {"lo": 1}
    for index, words in enumerate(("lo unknown", *nics), 1):
        name, state, *marks = words.split()
        folder = root / "sys/class/net" / name
        folder.mkdir(parents=True)
        (folder / "ifindex").write_text(str(index))
        (folder / "operstate").write_text(state)
        for mark in marks:
            (folder / mark).mkdir()
        indices[name] = index
    (root / "answers.json").write_text(json.dumps({"interfaces": indices if kernel is None else kernel}))
    return Machine(str(root))


@pytest.mark.parametrize(
    ("nics", "expected"),
    [
        (["eth0 up device"], ["eth0"]),
        (["eth0 up device", "eth1 down device"], ["eth0", "eth1"]),
        (["eth0 up device", "docker0 up bridge lower_veth1", "veth1 up master"], ["eth0"]),
        (["eth0 up device", "ifb0 down", "dummy0 unknown", "tun0 unknown"], ["eth0"]),
        (["eth0 up device master", "br0 up bridge lower_eth0 lower_veth1", "veth1 up master"], ["br0", "eth0"]),
        (["eth0 up device", "bond0 up lower_eth0", "bond0.7 up lower_bond0"], ["bond0", "bond0.7", "eth0"]),
        (["eth0 up"], ["eth0"]),  # a container, or a node of the lab: its one veth
        (["eth0 up", "ifb0 down", "docker0 up bridge", "veth1 up master"], ["eth0"]),
        ([], []),
    ],
)
def test_interfaces_that_carry_the_nodes_traffic(nics: list[str], expected: list[str], tmp_path: Path) -> None:
    assert interfaces(machine(tmp_path, *nics)) == expected


@pytest.mark.parametrize("ours", [{"lo": 1, "eth0": 7}, {"lo": 1}, {"lo": 1, "eth9": 2}])
def test_sysfs_of_another_network_namespace_is_noticed(ours: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(Unknown, match="another network namespace"):
        interfaces(machine(tmp_path, "eth0 up device", kernel=ours))


def test_the_file_of_the_bonding_driver_is_no_interface(tmp_path: Path) -> None:
    node = machine(tmp_path, "eth0 up device")
    (tmp_path / "sys/class/net/bonding_masters").write_text("")
    assert interfaces(node) == ["eth0"]
