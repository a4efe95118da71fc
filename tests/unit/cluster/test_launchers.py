"""How launchers are found, and how opening goes about many nodes."""

from concurrent.futures import Future
from pathlib import Path
from threading import Barrier, Event, Lock, Semaphore

import pytest

from wulf.cluster import launcher as launching
from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory
from wulf.cluster.launcher import WINDOW, Launcher, Turn, Waits, ended
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
    """Counts how many nodes are being opened at once; n1 never comes, and the others wait for the end of its time."""

    now = most = 0
    lock, over, full = Lock(), Event(), Barrier(WINDOW)

    def connect(self, node, program, turn):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            if int(node.name[1:]) <= WINDOW:
                self.full.wait(60)
            if node.name == "n1":
                turn.wait(Future(), self.over.set)
            assert self.over.wait(60)
            return super().connect(node, program, turn)
        finally:
            with self.lock:
                self.now -= 1


def test_a_limited_number_of_nodes_is_opened_at_once_and_each_has_its_own_time():
    """Most begin when the first one's time is over; who has greeted is there, however late it is looked at."""
    inventory = Inventory.from_nodeset(f"n[1-{3 * WINDOW}]", launcher="null")
    with SlowLauncher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, NET, timeout=0.05)
    assert launcher.most == WINDOW
    assert list(opened.failed) == ["n1"]
    assert opened.failed["n1"].what == "n1: wulf-net did not start within 0.05 s"
    assert len(opened.sessions) == 3 * WINDOW - 1


def test_an_interrupt_ends_what_is_being_opened_and_begins_no_more(monkeypatch):
    """Ctrl-C reaches who waits for the outcomes. No node ever greets, and there are more than are opened at once."""
    started, killed, waiting = [], [], Semaphore(0)

    class Silent(NullLauncher):
        def connect(self, node, program, turn):
            greeting = Future()
            started.append(node.name)
            waiting.release()
            turn.wait(greeting, lambda: (killed.append(node.name), greeting.cancel()))

    def interrupted(_):
        for _ in range(WINDOW):
            assert waiting.acquire(timeout=60)
        raise KeyboardInterrupt

    monkeypatch.setattr(launching, "as_completed", interrupted)
    inventory = Inventory.from_nodeset(f"n[1-{2 * WINDOW}]", launcher="null")
    with Silent(inventory) as launcher, pytest.raises(KeyboardInterrupt):
        launcher.open(inventory.nodes, NET, timeout=600)
    assert len(started) == WINDOW
    assert set(killed) == set(started)


def test_a_program_that_ends_after_it_was_given_up_disturbs_nobody():
    heard, killed = [], []

    class Endless:
        def start(self, listener):
            heard.append(listener)

        def kill(self):
            killed.append(self)

    with pytest.raises(TimeoutError):
        ended(Endless(), Turn(0.0, Waits()))
    assert len(killed) == 1
    heard[0].on_close(Exit(status=1))


def test_a_fault_of_a_launcher_itself_is_not_taken_for_a_nodes():
    class Broken(NullLauncher):
        def connect(self, node, program, turn):
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
