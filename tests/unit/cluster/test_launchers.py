"""How launchers are found, and how opening goes about many nodes."""

import asyncio
from pathlib import Path

import pytest

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory
from wulf.cluster.launcher import WINDOW, Launcher, _Collector
from wulf.cluster.launchers import launcher_names, make_launcher
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.launchers.ssh import SshLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.core.errors import NodeError, UsageError

NET = Program("wulf-net", Path("simulated"), "")


def test_a_launcher_is_a_module_of_its_name():
    assert launcher_names() == ("lab", "local", "null", "slurm", "ssh")
    for name in launcher_names():
        assert isinstance(make_launcher(Inventory.from_nodeset("n1", launcher=name, job="7")), Launcher)


def test_an_unknown_launcher():
    with pytest.raises(UsageError, match="'shh' is no launcher") as caught:
        make_launcher(Inventory.from_nodeset("n1", launcher="shh"))
    assert caught.value.next_step == "did you mean ssh?"


def test_a_thousand_nodes():
    inventory = Inventory.from_nodeset("n[1-1000]", launcher="null")
    cluster = SimulatedCluster(inventory.names, unreachable={"n500": "it is out for repair"})
    with NullLauncher(inventory, cluster) as launcher:
        opened = launcher.open(inventory.nodes, NET)
        assert len(opened.sessions) == 999
        assert str(opened.failed["n500"]).startswith("n500: it is out for repair")
        sessions = opened.sessions.values()
        assert all(session.alive for session in sessions)
    assert not any(session.alive for session in sessions)


class SlowLauncher(NullLauncher):
    """Counts how many nodes are being opened at once; each takes a second by the loop's clock, and n1 never comes."""

    now = most = 0
    clock: float | None = None

    async def connect(self, node, program):
        loop = asyncio.get_running_loop()
        if self.clock is None:
            self.clock = loop.time()
            loop.time = lambda: self.clock
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0)
            if node.name == "n1":
                await asyncio.Event().wait()
            self.clock += 1
            return await super().connect(node, program)
        finally:
            self.now -= 1


def test_a_limited_number_of_nodes_is_opened_at_once_and_each_has_its_own_time():
    """All together take longer than the time that each has; nobody's hangs on how busy this machine is."""
    inventory = Inventory.from_nodeset(f"n[1-{3 * WINDOW}]", launcher="null")
    with SlowLauncher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, NET, timeout=1.5 * WINDOW)
    assert launcher.most == WINDOW
    assert list(opened.failed) == ["n1"]
    assert opened.failed["n1"].what == f"n1: wulf-net did not start within {1.5 * WINDOW:g} s"
    assert len(opened.sessions) == 3 * WINDOW - 1


def test_a_fault_of_a_launcher_itself_is_not_taken_for_a_nodes():
    class Broken(NullLauncher):
        async def connect(self, node, program):
            raise RuntimeError("a bug")

    inventory = Inventory.from_nodeset("n[1-2]", launcher="null")
    with Broken(inventory) as launcher, pytest.raises(RuntimeError, match="a bug"):
        launcher.open(inventory.nodes, NET)


def test_the_local_launcher_wants_a_program_for_this_machine():
    inventory = Inventory.from_nodeset("n1", launcher="local")
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, Program("wulf-net", Path("/x"), "", arch="pdp11"))
    assert isinstance(opened.failed["n1"], NodeError)
    assert "pdp11" in opened.failed["n1"].what


def test_a_machine_without_ssh(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    inventory = Inventory.from_nodeset("n1")
    with SshLauncher(inventory) as launcher, pytest.raises(UsageError, match="this machine has no ssh"):
        launcher.open(inventory.nodes, NET)


def test_ssh_asks_nobody_and_weakens_nothing():
    argv = SshLauncher(Inventory.from_nodeset("n1", ssh_config=Path("/lab/ssh_config")))._ssh
    assert argv[:3] == ("ssh", "-F", "/lab/ssh_config")
    assert argv[-1] == "--"
    assert "-oBatchMode=yes" in argv
    assert not any("HostKey" in word or "KnownHosts" in word or "Identity" in word for word in argv)
    assert "-F" not in SshLauncher(Inventory.from_nodeset("n1"))._ssh


def test_a_program_that_ends_after_its_run_was_given_up_disturbs_nobody() -> None:
    async def begin() -> _Collector:
        return _Collector()

    collector = asyncio.run(begin())  # its loop is closed now
    collector.on_close(Exit(status=1))
    assert collector.end == Exit(status=1)
