"""Networks in a zone of firewalld, as firewall-cmd answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wulf.agent.machine import Machine
from wulf.agent.settings.firewalld import mechanism as firewalld
from wulf.agent.unknown import Unknown


class FirewallCmd:
    """Stands for the kernel: sources of one zone, running and permanent."""

    def __init__(self, running: str, permanent: str = "", status: int = 0) -> None:
        self.running = running.split()
        self.permanent = permanent
        self.status = status

    def ask(self, question: str, program: str, *words: str) -> Any:
        assert (question, program, words[-2:]) == ("output", "firewall-cmd", ("--zone=trusted", "--list-sources"))
        said = self.permanent if "--permanent" in words else " ".join(self.running)
        return {"status": self.status, "out": said + "\n", "err": "FirewallD is not running" * (self.status != 0)}

    def tell(self, request: str, program: str, zone: str, change: str) -> None:
        assert (request, program, zone) == ("program", "firewall-cmd", "--zone=trusted")
        verb, _, network = change.partition("=")
        {"--add-source": self.running.append, "--remove-source": self.running.remove}[verb](network)

    def close(self) -> None:
        """Nothing is held."""


TARGET = {"zone": "trusted", "networks": ["10.1.0.0/16", "10.0.0.0/24"]}


def node(root: Path, kernel: FirewallCmd) -> Machine:
    machine = Machine(str(root))
    machine._kernel = kernel  # type: ignore[assignment]
    return machine


@pytest.mark.parametrize("before", ["", "192.0.2.0/24", "10.0.0.0/24 192.0.2.0/24", "10.0.0.0/24 10.1.0.0/16"])
@pytest.mark.parametrize("wanted", [True, False])
def test_networks_come_and_go_and_others_stay(before: str, wanted: bool, tmp_path: Path) -> None:
    kernel = FirewallCmd(before)
    machine = node(tmp_path, kernel)
    was = firewalld.read(machine, TARGET, "")
    firewalld.write(machine, TARGET, "", wanted)
    machine._cache.clear()
    assert firewalld.read(machine, TARGET, "") is wanted
    firewalld.write(machine, TARGET, "", was)
    assert sorted(kernel.running) == sorted(before.split())


def test_some_of_the_networks_are_named(tmp_path: Path) -> None:
    machine = node(tmp_path, FirewallCmd("10.0.0.0/24 ipset:x", permanent="10.0.0.0/24 10.1.0.0/16"))
    assert firewalld.read(machine, TARGET, "") == "10.0.0.0/24"
    assert firewalld.startup(machine, TARGET, "") is True


def test_without_firewalld_it_is_absent(tmp_path: Path) -> None:
    with pytest.raises(Unknown, match="not running") as caught:
        firewalld.read(node(tmp_path, FirewallCmd("", status=252)), TARGET, "")
    assert caught.value.absent


@pytest.mark.parametrize(("networks", "said"), [([], "no networks are named"), (["::/0"], "every address")])
def test_a_zone_is_given_the_clusters_networks_alone(networks: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(Unknown, match=said):
        firewalld.write(node(tmp_path, FirewallCmd("")), {**TARGET, "networks": networks}, "", True)
